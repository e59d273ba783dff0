"""One comparison of two URLs, while a crawl goes on."""

from __future__ import annotations

from collections import deque
from itertools import count
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field

from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage
from scrapy_urlcanon.crawl.job.job_files import has_begun
from scrapy_urlcanon.crawl.job.journal import FILE
from scrapy_urlcanon.crawl.origins import as_shown
from scrapy_urlcanon.pages.verdict import (
    CHANGED,
    MOST_FETCHES,
    RESTLESS,
    SHARED,
    Comparison,
    Judgement,
    Side,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.merging_entries import MergingEntries
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.pages.common_contents import CommonContents
    from scrapy_urlcanon.pages.noise import Noise
    from scrapy_urlcanon.pages.same_page import PageDigest


_MOST_FETCHES = 8
_KEPT_FAILED = "the kept page failed when it was audited"


class AuditedPair(NamedTuple):
    """What the audit found about one dropped variant."""

    url: str
    """The variant."""
    first: str
    """The URL that stood for its page; for a skipped URL the one its page was found at, if any."""
    entries: tuple[RuleEntry, ...]
    """The entries that merged the two; if it is another page, those that are to blame for that."""
    domain: str
    judgement: Judgement
    page: bytes
    """The fingerprint that both have; for a skipped URL that of the page it was compared with."""

    @property
    def is_same(self) -> bool:
        """Whether both show one page."""
        return self.judgement.verdict is Verdict.SAME

    @property
    def other(self) -> OtherPage | None:
        """The variant as evidence of another page; None for any other verdict."""
        is_other = self.judgement.verdict is Verdict.ANOTHER
        return OtherPage(self.url, self.first, self.judgement.own) if is_other else None

    @property
    def is_skipped(self) -> bool:
        """Whether the variant is skipped, and no rule makes the two one."""
        return any(entry.is_skip for entry in self.entries)


def rounds_of(settings: BaseSettings) -> Iterator[int]:
    """Return numbers for the audits of this run that no earlier run of its job has used.

    They are part of the fingerprints: with a number that was used before, the duplicate filter
    would drop the fetch. In a first run they begin with 0, so that the HTTP cache of another crawl
    answers these fetches.
    """
    directory = settings["JOBDIR"]
    # If the first run was killed early there is a journal, but nothing that Scrapy has stored.
    is_resumed = bool(directory) and (Path(directory, FILE).exists() or has_begun(Path(directory)))
    return count(time_ns() if is_resumed else 0)


@define(eq=False)
class AuditCase:
    """One audit of a dropped variant, from its first fetch to its verdict."""

    drop: Drop
    page: bytes
    merged_by: MergingEntries
    round: int
    """Tells it from all other audits of the crawl."""
    comparison: Comparison | None = None
    """None until it is known what the kept page showed."""
    side: Side = Side.VARIANT
    """Which of the two URLs is being fetched."""
    fetches: int = 0
    is_fetching: bool = False
    """Whether it waits for a response."""
    found: Judgement | None = None
    """The verdict "another page", while it is not known yet which entry is to blame."""
    suspects: deque[RuleEntry] = field(factory=deque)
    """The entries that may be to blame, the one to be tried next first."""
    looks: deque[str] = field(factory=deque)
    """URLs still to be fetched, to find out whether the first suspect is to blame."""
    failures: int = 0
    """How many of these fetches failed; one that showed a third page counts twice."""
    is_doubtful: bool = False
    """Whether there was a suspect about which these fetches could tell nothing."""
    response: Response | None = None
    """What the variant showed when it was fetched first."""
    is_got: bool = False
    """Whether the spider has got it."""
    has_kept: bool = True
    """Whether its callback has got what the kept page shows; if not, only another one has."""
    is_refused: bool = False
    """Whether the server sent something else than the page, or nothing."""
    on_verdict: Callable[[Judgement], None] | None = None
    """Is called with the verdict if the variant was not dropped, and the spider has both pages."""

    @property
    def address(self) -> str:
        """The URL of the variant, without a fragment that makes no other page of it."""
        return as_shown(self.drop.request.url)

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched a second time, and was itself."""
        return self.comparison is not None and self.comparison.has_control

    @property
    def is_exhausted(self) -> bool:
        """Whether it took as many fetches as an audit may take."""
        return self.fetches >= _MOST_FETCHES

    @property
    def url_of_side(self) -> str:
        """The URL that is fetched."""
        return self.drop.first if self.side is Side.KEPT else self.drop.request.url

    @property
    def is_of_files(self) -> bool:
        """Whether one side at least is no text, or more text than is read."""
        return self.comparison is not None and self.comparison.is_of_files

    def compare_with(
        self, reference: PageDigest, noise: Noise, common: CommonContents | None = None
    ) -> Comparison:
        """Compare the variant with what the kept page showed: *reference*."""
        has_both = self.on_verdict is not None
        self.comparison = Comparison(
            reference,
            noise,
            self.drop.first,
            self.drop.request.url,
            page=self.page,
            variant_page=self.drop.fingerprint if has_both else None,
            common=common,
            # One verdict decides where the spider has both pages, so it takes one visit more.
            visits=MOST_FETCHES + has_both,
        )
        return self.comparison

    def may_differ_in_little(self, contents: PageContents) -> bool:
        """Tell whether the variant differs from the kept page in any line, whatever the verdict.

        :param contents: reads the response of the variant.
        """
        if self.drop.is_declared or not (self.response and self.comparison):
            return False
        return contents.read(self.response).digest != self.comparison.reference.digest

    def note_part(self, response: Response) -> None:
        """Note that *response* was cut short, so that it cannot be compared.

        Two pages may be the same up to there, so the spider will get what came of a variant.
        """
        if self.side is Side.VARIANT:
            self.response = self.response or response
        self.is_refused = True

    def failed(self) -> Judgement | Side:
        """Note that a fetch failed; return the verdict, or the side to fetch next."""
        reason = "it failed when it was audited" if self.side is Side.VARIANT else _KEPT_FAILED
        if self.comparison is None:
            return Judgement(Verdict.CANNOT_TELL, reason)
        return self.comparison.failed(self.side, reason)

    def is_undecided(self, judgement: Judgement) -> bool:
        """Tell whether it looked different, and no control could be had that would say why."""
        is_of_kept = self.side is Side.KEPT and judgement.reason in {_KEPT_FAILED, SHARED}
        return is_of_kept or judgement.reason in {CHANGED, RESTLESS}

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Know pages by their new fingerprints, *names*."""
        self.page = names.get(self.page, self.page)
        dropped_for = self.drop.fingerprint
        self.drop = self.drop._replace(fingerprint=names.get(dropped_for, dropped_for))
        if self.comparison:
            self.comparison.rename(names)

    def is_waiting_for(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether the request with this *mark* is the fetch that it waits for."""
        return (mark.get("round"), mark["number"]) == (self.round, self.fetches)
