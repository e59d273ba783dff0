"""Keeps claims whose two pages looked different, until an audit decides whether they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from attrs import define

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.declared.claims import is_enough
from scrapy_urlcanon.pages.verdict import Verdict

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.declared.claims import Claim, Way
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown

_OF_A_WAY: Final = 6
"""The most open claims of one way. Their verdicts decide about the whole way."""
_AT_ONCE: Final = 6
"""The most open claims that are reconsidered with each page of their site, which may have many
ways."""
_MOST: Final = 10_000
"""The most open claims in all; some 3 kB each."""
_WITH_LINES: Final = 1_000
"""With more open claims than this, the lines of declared pages are not kept, and these pages are
fetched again."""


@define(eq=False)
class OpenClaim:
    """A claim whose two pages looked different."""

    claim: Claim
    content: PageDigest
    """The digest of the declared page."""
    shown: Shown | None
    """The lines of the declared page, if they are in memory."""
    is_probe: bool
    """Whether the declared page was fetched as a probe, although the claim was believed."""


class OpenClaims:
    """The open claims of each site, which wait until they are reconsidered."""

    def __init__(self) -> None:
        # By way: how many claims are open, and how many of these are probes.
        self._ways: Counter[Way] = Counter()
        self._probes: Counter[Way] = Counter()
        # By domain and way. The last claim of a way is reconsidered first.
        self._waiting: dict[str, dict[Way, list[OpenClaim]]] = {}
        # By way: how often the two pages turned out to be the same, and how often not.
        self._told: BoundedMapping[Way, tuple[int, int]] = BoundedMapping(_MOST)
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another claim of any way."""
        return self._size >= _MOST

    def is_doubtful(self, way: Way) -> bool:
        """Tell whether open claims are a reason not to believe this *way*.

        Probes always are. Other claims are not if pages that look different have often turned out
        to be the same, since the site shows something else at each visit.
        """
        looks = self._told.get(way) or (0, 0)
        is_telling = not is_enough(*looks)
        return self._probes[way] > 0 or (is_telling and self._ways[way] > 0)

    def add(self, each: OpenClaim) -> None:
        """Add *each*, to be reconsidered first; if its way has too many, close the oldest."""
        way = each.claim.way
        waiting = self._waiting.setdefault(way.domain, {}).setdefault(way, [])
        if self._ways[way] >= _OF_A_WAY and waiting:
            self.close(waiting.pop(0))
        if self._ways[way] < _OF_A_WAY:
            self._ways[way] += 1
            self._probes[way] += each.is_probe
            self._size += 1
            waiting.append(each)

    def take(self, domain: str) -> list[OpenClaim]:
        """Return some claims of *domain*. They no longer wait, but stay open until closed."""
        ways = self._waiting.pop(domain, {})
        taken: list[OpenClaim] = []
        while ways and len(taken) < _AT_ONCE:
            way = next(iter(ways))
            waiting = ways.pop(way)
            if waiting:
                taken.append(waiting.pop())
                # The next one is of another way.
                ways[way] = waiting
        if ways:
            self._waiting[domain] = ways
        return taken

    def take_of(self, way: Way) -> list[OpenClaim]:
        """Return the claims of one *way*. They no longer wait, but stay open until closed."""
        return self._waiting.get(way.domain, {}).pop(way, [])

    def put_back(self, each: OpenClaim) -> None:
        """Let *each* wait again, to be reconsidered last."""
        if self._size > _WITH_LINES:
            each.shown = None
        way = each.claim.way
        self._waiting.setdefault(way.domain, {}).setdefault(way, []).insert(0, each)

    def close(self, each: OpenClaim, verdict: Verdict = Verdict.CANNOT_TELL) -> None:
        """Close *each* with a *verdict*."""
        way = each.claim.way
        if verdict is not Verdict.CANNOT_TELL:
            same, other = self._told.get(way) or (0, 0)
            is_same = verdict is Verdict.SAME
            self._told[way] = (same + is_same, other + (not is_same))
        self._size -= 1
        for counted, number in ((self._ways, 1), (self._probes, each.is_probe)):
            counted[way] -= number
            if not counted[way]:
                del counted[way]
