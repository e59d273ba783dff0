"""The state of one audit: the comparison of a dropped variant with the page that was kept."""

from __future__ import annotations

from collections import deque
from itertools import count
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field

from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage
from scrapy_urlcanon.crawl.job.job_files import is_resumed
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


_KEPT_FAILED = "the kept page failed when it was audited"


class AuditedPair(NamedTuple):
    """The result of the audit of one dropped variant."""

    url: str
    """The variant."""
    first: str
    """The URL that stands for its page. For a skipped URL, the URL at which its page was found, if
    any."""
    entries: tuple[RuleEntry, ...]
    """The entries that merged the two. If they are two pages, only those that are to blame for
    it."""
    domain: str
    judgement: Judgement
    page: bytes
    """The fingerprint of both. For a skipped URL, that of the page it was compared with."""

    @property
    def is_same(self) -> bool:
        """Whether both URLs show the same page."""
        return self.judgement.verdict is Verdict.SAME

    @property
    def other(self) -> OtherPage | None:
        """The variant as evidence of another page, or None for any other verdict."""
        is_other = self.judgement.verdict is Verdict.ANOTHER
        return OtherPage(self.url, self.first, self.judgement.own) if is_other else None

    @property
    def is_skipped(self) -> bool:
        """Whether the variant is skipped, so that no rule gives both URLs one canonical form."""
        return any(entry.is_skip for entry in self.entries)


def rounds_of(settings: BaseSettings) -> Iterator[int]:
    """Return an iterator of numbers for audits that no earlier run of the job has used.

    The number is part of the fingerprint of a fetch. The duplicate filter of a resumed job would
    drop a fetch whose number was used before. The first run begins with 0, so that the fetches of a
    repeated crawl can be answered by the HTTP cache.
    """
    directory = settings["JOBDIR"]
    return count(time_ns() if directory and is_resumed(Path(directory)) else 0)


@define(eq=False)
class AuditCase:
    """One audit of a dropped variant, from the first fetch to the verdict."""

    drop: Drop
    page: bytes
    merged_by: MergingEntries
    round: int
    """A number that no other audit of the crawl has."""
    comparison: Comparison | None = None
    """None until the content of the kept page is known."""
    side: Side = Side.VARIANT
    """Which of the two URLs is fetched now."""
    fetches: int = 0
    is_fetching: bool = False
    """Whether a fetch is on its way."""
    found: Judgement | None = None
    """The verdict "another page", while the entry to blame for it is searched; else None."""
    suspects: deque[RuleEntry] = field(factory=deque)
    """The entries that may be to blame, in the order in which they are tried."""
    looks: deque[str] = field(factory=deque)
    """URLs still to be fetched to find out whether the first suspect is to blame."""
    failures: int = 0
    """How many of these fetches failed. One that showed a third page counts twice."""
    is_doubtful: bool = False
    """Whether these fetches could not clear or convict some suspect."""
    response: Response | None = None
    """The first response of the variant."""
    is_got: bool = False
    """Whether the spider was given that response."""
    has_kept: bool = True
    """Whether the callback of the variant has had the kept page. If not, only another callback
    has."""
    is_refused: bool = False
    """Whether the server refused a fetch, or sent a part of a page or a changed one."""
    on_verdict: Callable[[Judgement], None] | None = None
    """Set if the variant was not dropped and the spider has both pages: called with the verdict."""

    @property
    def address(self) -> str:
        """The URL of the variant, without a fragment unless that is a route (``#!``, ``#/``)."""
        return as_shown(self.drop.request.url)

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched again and showed the same page as before."""
        return self.comparison is not None and self.comparison.seen.has_control

    @property
    def url_of_side(self) -> str:
        """The URL that is fetched now."""
        return self.drop.first if self.side is Side.KEPT else self.drop.request.url

    @property
    def is_of_files(self) -> bool:
        """Whether at least one of the two is no text, or too long to be read as text."""
        return self.comparison is not None and self.comparison.seen.is_of_files

    def compare_with(
        self, reference: PageDigest, noise: Noise, common: CommonContents | None = None
    ) -> Comparison:
        """Start the comparison of the variant with *reference*, the content of the kept page."""
        has_both = self.on_verdict is not None
        self.comparison = Comparison(
            reference,
            noise,
            self.drop.first,
            self.drop.request.url,
            page=self.page,
            variant_page=self.drop.fingerprint if has_both else None,
            common=common,
            # If the spider has both pages a single verdict decides, so one more visit is allowed
            # for it.
            visits=MOST_FETCHES + has_both,
        )
        return self.comparison

    def may_differ_in_little(self, contents: PageContents) -> bool:
        """Tell whether variant and kept page differ in any line, even if the verdict is "the same".

        :param contents: reads the response of the variant.
        """
        if self.drop.is_declared or not (self.response and self.comparison):
            return False
        return contents.read(self.response).digest != self.comparison.seen.reference.digest

    def note_part(self, response: Response) -> None:
        """Note that *response* was cut short, so that it cannot be compared.

        Two pages may agree up to the cut. If it is the variant's, the spider will be given this
        response.
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
        """Tell whether the two looked different, but the control that would explain it failed."""
        is_of_kept = self.side is Side.KEPT and judgement.reason in {_KEPT_FAILED, SHARED}
        return is_of_kept or judgement.reason in {CHANGED, RESTLESS}

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*."""
        self.page = names.get(self.page, self.page)
        dropped_for = self.drop.fingerprint
        self.drop = self.drop._replace(fingerprint=names.get(dropped_for, dropped_for))
        if self.comparison:
            self.comparison.seen.rename(names)

    def is_waiting_for(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether a request with this *mark* is the fetch now on its way."""
        return (mark.get("round"), mark["number"]) == (self.round, self.fetches)
