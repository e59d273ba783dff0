"""Finds out which of several entries is to blame for merging two pages."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from attrs import define

from scrapy_urlcanon.crawl.answers import has_nothing
from scrapy_urlcanon.crawl.own_requests import sent_to
from scrapy_urlcanon.pages.verdict import MOST_FETCHES, Judgement, Side, Verdict

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.case import AuditCase
    from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
    from scrapy_urlcanon.crawl.checks.entries.records import EntryRecords
    from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls


class Blamed(NamedTuple):
    """The final verdict about two pages."""

    judgement: Judgement
    entry: RuleEntry | None
    """The entry to blame, or None if it is not a single one."""


@define(eq=False)
class Blame:
    """Finds the entry without which the two URLs would have been kept apart.

    The suspects are tried one after the other. Both URLs are canonicalized without the suspect, and
    the results are fetched, unless they are the two URLs themselves. If these still show the two
    pages, the other entries are right and the suspect is to blame.
    """

    _canonicalizer: Canonicalizer
    _records: EntryRecords
    _contents: PageContents
    _variants: DroppedVariants
    _held: HeldResponses
    _first_urls: FirstUrls

    def begin(self, case: AuditCase, found: Judgement) -> str | Blamed:
        """Begin to search for the entry to blame, after *case* has *found* another page.

        :return: the result, or the URL to fetch next.
        """
        case.found = found
        domain = case.drop.domain
        records = {entry: self._records.record(entry, domain) for entry in case.merged_by.entries}
        # The most evidence against first, then the least evidence for.
        case.suspects.extend(
            sorted(records, key=lambda e: (-len(records[e].others), records[e].same))
        )
        return self._suspect(case, found)

    def go_on(self, case: AuditCase, found: Judgement, response: Response | None) -> str | Blamed:
        """Take the response to a fetch that tests the first suspect.

        :param response: None if the fetch failed.
        :return: as for :meth:`begin`.
        """
        entry, drop = case.suspects[0], case.drop
        side = None
        if response is not None and not has_nothing(response):
            shown = self._contents.shown(response)
            side = case.comparison and case.comparison.side_of(shown, found)
            if side is None and not self._contents.common.is_of_another(shown.digest, case.page):
                self._hold(case, response)
                # A third page counts twice: unlike after a refusal, another fetch would show it
                # again.
                case.failures += 1
        if side is None:
            case.failures += 1
            if case.failures < 2 * MOST_FETCHES:
                return self._look(case, found)
            # Nothing can be said about this suspect. Another one may be to blame.
            case.suspects.popleft()
            case.failures = 0
            case.is_doubtful = True
            return self._suspect(case, found)
        look = case.looks.popleft()
        is_variant = look == self._canonicalizer.canonicalize_without(drop.request.url, [entry])
        if (side is Side.VARIANT) is is_variant:
            return self._look(case, found)
        self._records.record(entry, drop.domain).add(None)
        case.suspects.popleft()
        return self._suspect(case, found)

    def _suspect(self, case: AuditCase, found: Judgement) -> str | Blamed:
        """Test the first of the remaining suspects."""
        if not case.suspects:
            reason = "another page, and no entry is to blame for it alone"
            if case.is_doubtful:
                reason = "another page, and what tells the entries apart failed"
            return Blamed(found._replace(verdict=Verdict.CANNOT_TELL, reason=reason), None)
        entry, drop = case.suspects[0], case.drop
        without = self._canonicalizer.canonicalize_without
        looks = ((url, without(url, [entry])) for url in (drop.request.url, drop.first))
        case.looks = deque(look for url, look in looks if look != url)
        return self._look(case, found)

    def _look(self, case: AuditCase, found: Judgement) -> str | Blamed:
        if case.looks:
            return case.looks[0]
        entry = case.suspects.popleft()
        self._records.record(entry, case.drop.domain, is_guilty=True)
        return Blamed(found, entry)

    def _hold(self, case: AuditCase, response: Response) -> None:
        """Keep *response*, which may be a third page, in case the spider has to be given it.

        The server may not send it again.
        """
        drop, look = case.drop, case.looks[0]
        self._held.hold(look, response)
        if self._held.get(look):
            self._first_urls.made_up.add(look)
            request = sent_to(drop.request, look)
            self._variants.remember(drop._replace(request=request, is_made_up=True))
