"""Which of several entries is to blame where what they merged is two pages."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.answers import is_error
from scrapy_urlcanon.crawl.own_requests import with_url
from scrapy_urlcanon.pages.verdict import MOST_FETCHES, Judgement, Side, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
    from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
    from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.checks.trial import Trial


class Blame:
    """Finds the entry without which two URLs would have been kept apart.

    An entry is to blame if the two still show two pages with all the others applied: what each URL
    looks like then is fetched, where it is not one of the two.

    :param fetch: fetches a URL for a trial.
    :param conclude: is called with a trial, its verdict, and the entry that is to blame; with None
        where none is alone.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        *,
        sample: AuditSample,
        contents: PageContents,
        variants: DroppedVariants,
        held: HeldResponses,
        fetch: Callable[[Trial, str], None],
        conclude: Callable[[Trial, Judgement, RuleEntry | None], None],
    ) -> None:
        self._canonicalizer = canonicalizer
        self._sample = sample
        self._contents = contents
        self._variants = variants
        self._held = held
        self._fetch = fetch
        self._conclude = conclude

    def begin(self, trial: Trial, found: Judgement) -> None:
        """Look for the entry to blame: *trial* has *found* another page."""
        trial.found = found
        domain = trial.drop.domain
        records = {entry: self._sample.record(entry, domain) for entry in trial.merge.entries}
        # The least proven first.
        trial.suspects.extend(
            sorted(records, key=lambda e: (-len(records[e].others), records[e].same))
        )
        self._suspect(trial, found)

    def go_on(self, trial: Trial, found: Judgement, response: Response | None) -> None:
        """Take over what was fetched to tell the suspected entry from the others.

        :param response: None if it failed.
        """
        entry, drop = trial.suspects[0], trial.drop
        side = None
        if response is not None and not is_error(response):
            shown = self._contents.shown(response)
            side = trial.comparison and trial.comparison.side_of(shown, found)
            if side is None and not self._contents.common.is_elsewhere(shown.digest, trial.page):
                self._hold(trial, response)
                # The next fetch will show it too; only what was refused may come yet.
                trial.failures += 1
        if side is None:
            trial.failures += 1
            if trial.failures < 2 * MOST_FETCHES:
                self._look(trial, found)
                return
            # It is left open whether this one is to blame: another one may be.
            trial.suspects.popleft()
            trial.failures = 0
            trial.is_doubtful = True
            self._suspect(trial, found)
            return
        look = trial.looks.popleft()
        is_variant = look == self._canonicalizer.canonicalize_without(drop.request.url, [entry])
        if (side is Side.VARIANT) is is_variant:
            self._look(trial, found)
            return
        self._sample.record(entry, drop.domain).add(None)
        trial.suspects.popleft()
        self._suspect(trial, found)

    def _suspect(self, trial: Trial, found: Judgement) -> None:
        """Look at the next entry that may be to blame."""
        if not trial.suspects:
            reason = "another page, and no entry is to blame for it alone"
            if trial.is_doubtful:
                reason = "another page, and what tells the entries apart failed"
            self._conclude(trial, found._replace(verdict=Verdict.CANNOT_TELL, reason=reason), None)
            return
        entry, drop = trial.suspects[0], trial.drop
        without = self._canonicalizer.canonicalize_without
        looks = ((url, without(url, [entry])) for url in (drop.request.url, drop.first))
        trial.looks = deque(look for url, look in looks if look != url)
        self._look(trial, found)

    def _look(self, trial: Trial, found: Judgement) -> None:
        if trial.looks:
            self._fetch(trial, trial.looks[0])
        else:
            entry = trial.suspects.popleft()
            self._sample.record(entry, trial.drop.domain, is_guilty=True)
            self._conclude(trial, found, entry)

    def _hold(self, trial: Trial, response: Response) -> None:
        """Keep what may be a third page, which the server may not send again."""
        drop, look = trial.drop, trial.looks[0]
        self._held.hold(look, response)
        if self._held.has(look):
            self._variants.remember(drop._replace(request=with_url(drop.request, look)))
