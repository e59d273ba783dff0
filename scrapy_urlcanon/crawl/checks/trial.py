"""One comparison of two URLs, while a crawl goes on."""

from __future__ import annotations

from collections import deque
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field

from scrapy_urlcanon.canonicalizer.rules import Skip
from scrapy_urlcanon.pages.verdict import Comparison, Judgement, Side, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.merge import Merge
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.pages.common_contents import CommonContents
    from scrapy_urlcanon.pages.noise import Noise
    from scrapy_urlcanon.pages.same_page import PageDigest


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
    def is_of_skip(self) -> bool:
        """Whether the first one is skipped, and no rule makes the two one."""
        return any(entry.option == Skip.name for entry in self.entries)


@define(eq=False)
class Trial:
    """One dropped variant, from when it is fetched to its verdict."""

    drop: Drop
    page: bytes
    merge: Merge
    round: int = field(factory=time_ns)
    """When it began, in ns: no other audit, of whatever run of a job, has fetched what it does."""
    comparison: Comparison | None = None
    """None while the kept page is fetched to have anything to compare with."""
    side: Side = Side.VARIANT
    """What is being fetched."""
    fetches: int = 0
    found: Judgement | None = None
    """What it was found to be, where it is not known yet which entry is to blame."""
    suspects: deque[RuleEntry] = field(factory=deque)
    """Those that may be, the next one first."""
    looks: deque[str] = field(factory=deque)
    """URLs that tell the suspected entry from the others, and that are still to be fetched."""
    failures: int = 0
    """How many of these fetches failed."""
    response: Response | None = None
    """What the variant showed when it was fetched first."""
    is_got: bool = False
    """Whether the spider has got it."""
    is_refused: bool = False
    """Whether the server sent something else than the page, or nothing."""
    on_verdict: Callable[[Judgement], None] | None = None
    """Is called with the verdict, where the variant was not dropped, and its page is known."""

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched a second time, and was itself."""
        return self.comparison is not None and self.comparison.has_control

    @property
    def is_of_files(self) -> bool:
        """Whether what is compared is no text on one side at least, or too much of it."""
        return self.comparison is not None and self.comparison.is_of_files

    def compare_with(self, reference: PageDigest, noise: Noise, common: CommonContents) -> None:
        """Compare the variant with what the kept page showed: *reference*."""
        self.comparison = Comparison(
            reference, noise, self.drop.first, self.drop.request.url, page=self.page, common=common
        )

    def failed(self) -> Judgement | Side:
        """Take over that a fetch failed; return the verdict, or what is to be fetched next."""
        which = "it" if self.side is Side.VARIANT else "the kept page"
        reason = f"{which} failed when it was audited"
        if self.comparison is None:
            return Judgement(Verdict.CANNOT_TELL, reason)
        return self.comparison.failed(self.side, reason)

    def is_waiting_for(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether the request with this *mark* is what it waits for."""
        return (mark.get("round"), mark["number"]) == (self.round, self.fetches)
