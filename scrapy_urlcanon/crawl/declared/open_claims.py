"""Pages that look other than the ones that they declare, until it is told whether they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from attrs import define

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS
from scrapy_urlcanon.pages.verdict import Verdict

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.declared.claims import Claim, Way
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown

_OF_A_WAY: Final = 6
"""Of how many pages that declare in one way it may be open whether they are right: what is told of
these is told of all."""
_AT_ONCE: Final = 6
"""So many are looked at with each page of their site: a site may have any number of ways."""
_MOST: Final = 10_000
"""In all, of some 3 kB each."""
_WITH_LINES: Final = 1_000
"""Of more of them what was shown is not kept line by line, and fetched once more."""


@define(eq=False)
class OpenClaim:
    """A page and the one that it declares, which looked different."""

    claim: Claim
    content: PageDigest
    """What the declared one showed."""
    shown: Shown | None
    """The same, line by line, where it was at hand."""
    is_probe: bool
    """Whether the declared one, which was believed, was fetched to see whether that is right."""


class OpenClaims:
    """What is open of each site, and waits until it is looked at again."""

    def __init__(self) -> None:
        # How many are open of each way of declaring, and how many of these are probes.
        self._ways: Counter[Way] = Counter()
        self._probes: Counter[Way] = Counter()
        # By domain and way. The last one of a way is looked at first.
        self._waiting: dict[str, dict[Way, list[OpenClaim]]] = {}
        # How often the two turned out to be one page, and how often two.
        self._told: BoundedMapping[Way, tuple[int, int]] = BoundedMapping(_MOST)
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more, of whatever way."""
        return self._size >= _MOST

    def is_doubtful(self, way: Way) -> bool:
        """Tell whether nothing that declares in this *way* is believed, for what is open of it.

        Not where pages that look different always turn out to be one: that is so on a site which
        shows something else at each visit. But what was fetched to see whether it is right counts.
        """
        looks = self._told.get(way) or (0, 0)
        is_telling = not DEFAULT_THRESHOLDS.accept_alias(*looks)
        return self._probes[way] > 0 or (is_telling and self._ways[way] > 0)

    def add(self, each: OpenClaim) -> None:
        """Have *each* wait, to be looked at first; it takes the place of one if too many do."""
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
        """Return some of those of *domain*, which wait no more, and are open all the same."""
        ways = self._waiting.pop(domain, {})
        taken: list[OpenClaim] = []
        while ways and len(taken) < _AT_ONCE:
            way = next(iter(ways))
            waiting = ways.pop(way)
            if waiting:
                taken.append(waiting.pop())
                # Those of other ways are next.
                ways[way] = waiting
        if ways:
            self._waiting[domain] = ways
        return taken

    def take_of(self, way: Way) -> list[OpenClaim]:
        """Return those of one *way*, which wait no more, and are open all the same."""
        return self._waiting.get(way.domain, {}).pop(way, [])

    def put_back(self, each: OpenClaim) -> None:
        """Have *each* wait again, behind the others."""
        if self._size > _WITH_LINES:
            each.shown = None
        way = each.claim.way
        self._waiting.setdefault(way.domain, {}).setdefault(way, []).insert(0, each)

    def close(self, each: OpenClaim, verdict: Verdict = Verdict.CANNOT_TELL) -> None:
        """Note that *verdict* is what can be told of *each*."""
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
