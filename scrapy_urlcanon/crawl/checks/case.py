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
    """The URL that stood for it; of one that is skipped, that of its page, if known."""
    entries: tuple[RuleEntry, ...]
    """What makes the two one; of another page, what is to blame for that."""
    domain: str
    judgement: Judgement
    page: bytes
    """The fingerprint that both have; of one that is skipped, that of the page."""

    @property
    def is_same(self) -> bool:
        """Whether both show one page."""
        return self.judgement.verdict is Verdict.SAME

    @property
    def other(self) -> OtherPage | None:
        """The other page that the variant shows, if it shows one."""
        is_other = self.judgement.verdict is Verdict.ANOTHER
        return OtherPage(self.url, self.first, self.judgement.own) if is_other else None

    @property
    def is_skipped(self) -> bool:
        """Whether the variant is skipped, and no rule makes the two one."""
        return any(entry.is_skip for entry in self.entries)


def rounds_of(settings: BaseSettings) -> Iterator[int]:
    """Return the numbers of the audits of a run, which no run of its job before had.

    Else the duplicate filter would take what is fetched now for what was fetched then. In a first
    run they begin with 0: a cache knows what another crawl had fetched for its audits.
    """
    directory = settings["JOBDIR"]
    # Of a run that was killed soon Scrapy has stored nothing, and the journal has all of it.
    is_resumed = bool(directory) and (Path(directory, FILE).exists() or has_begun(Path(directory)))
    return count(time_ns() if is_resumed else 0)


@define(eq=False)
class AuditCase:
    """One dropped variant, from when it is fetched to its verdict."""

    drop: Drop
    page: bytes
    merged_by: MergingEntries
    round: int
    """Tells it from all other audits of the crawl."""
    comparison: Comparison | None = None
    """None while the kept page is fetched to have anything to compare with."""
    side: Side = Side.VARIANT
    """What is being fetched."""
    fetches: int = 0
    is_fetching: bool = False
    """Whether it waits for a response."""
    found: Judgement | None = None
    """What it was found to be, where it is not known yet which entry is to blame."""
    suspects: deque[RuleEntry] = field(factory=deque)
    """Those that may be, the next one first."""
    looks: deque[str] = field(factory=deque)
    """URLs that tell the suspected entry from the others, and that are still to be fetched."""
    failures: int = 0
    """How many of these fetches failed; one that showed a third page counts twice."""
    is_doubtful: bool = False
    """Whether an entry may be to blame of which nothing could be told."""
    response: Response | None = None
    """What the variant showed when it was fetched first."""
    is_got: bool = False
    """Whether the spider has got it."""
    has_kept: bool = True
    """Whether its callback has what the kept page shows, and not another one alone."""
    is_refused: bool = False
    """Whether the server sent something else than the page, or nothing."""
    on_verdict: Callable[[Judgement], None] | None = None
    """Is called with the verdict, where the variant was not dropped: the spider has both pages."""

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched a second time, and was itself."""
        return self.comparison is not None and self.comparison.has_control

    @property
    def is_exhausted(self) -> bool:
        """Whether it took so many fetches that one variant is not worth more."""
        return self.fetches >= _MOST_FETCHES

    @property
    def url_of_side(self) -> str:
        """The URL that is fetched."""
        return self.drop.first if self.side is Side.KEPT else self.drop.request.url

    @property
    def is_of_files(self) -> bool:
        """Whether what is compared is no text on one side at least, or too much of it."""
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
            # What is found of two pages that the spider has decides alone.
            visits=MOST_FETCHES + has_both,
        )
        return self.comparison

    def may_differ_in_little(self, contents: PageContents) -> bool:
        """Tell whether a variant that is the same page by a verdict is not so line by line.

        :param contents: reads what it showed.
        """
        if self.drop.is_declared or not (self.response and self.comparison):
            return False
        return contents.read(self.response).digest != self.comparison.reference.digest

    def note_part(self, response: Response) -> None:
        """Take note of a part of a page, which is nothing to compare with.

        Two pages may be the same up to where it ends: the spider is to have what came of a variant.
        """
        if self.side is Side.VARIANT:
            self.response = self.response or response
        self.is_refused = True

    def failed(self) -> Judgement | Side:
        """Take over that a fetch failed; return the verdict, or what is to be fetched next."""
        reason = "it failed when it was audited" if self.side is Side.VARIANT else _KEPT_FAILED
        if self.comparison is None:
            return Judgement(Verdict.CANNOT_TELL, reason)
        return self.comparison.failed(self.side, reason)

    def is_undecided(self, judgement: Judgement) -> bool:
        """Tell whether it looked different, and neither page was to be had again as it was."""
        is_of_kept = self.side is Side.KEPT and judgement.reason in {_KEPT_FAILED, SHARED}
        return is_of_kept or judgement.reason in {CHANGED, RESTLESS}

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Know pages by their new *names*."""
        self.page = names.get(self.page, self.page)
        dropped_for = self.drop.fingerprint
        self.drop = self.drop._replace(fingerprint=names.get(dropped_for, dropped_for))
        if self.comparison:
            self.comparison.rename(names)

    def is_waiting_for(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether the request with this *mark* is what it waits for."""
        return (mark.get("round"), mark["number"]) == (self.round, self.fetches)
