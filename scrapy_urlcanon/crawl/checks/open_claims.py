"""Pages that look other than the ones that they declare, until it is told whether they are."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.crawl.checks.claims import Claim, Way
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


class OpenClaims:
    """What is open of each site, and waits until it is looked at again."""

    def __init__(self) -> None:
        self._ways: Counter[Way] = Counter()
        self._waiting: dict[str, deque[OpenClaim]] = {}
        self._size = 0

    def __contains__(self, way: Way) -> bool:
        """Tell whether anything is open of the pages that declare in this *way*."""
        return way in self._ways

    @property
    def is_full(self) -> bool:
        """Whether there is no room for one more, of whatever way."""
        return self._size >= _MOST

    def add(self, each: OpenClaim) -> None:
        """Have *each* wait, to be looked at first, unless enough is open of its way."""
        way = each.claim.way
        if self._ways[way] < _OF_A_WAY:
            self._ways[way] += 1
            self._size += 1
            self._waiting.setdefault(way.domain, deque()).appendleft(each)

    def take(self, domain: str) -> Iterator[OpenClaim]:
        """Yield some of those of *domain*, which wait no more, and are open all the same."""
        waiting = self._waiting.get(domain)
        if waiting is None:
            return
        for _ in range(min(_AT_ONCE, len(waiting))):
            yield waiting.popleft()
        if not waiting:
            del self._waiting[domain]

    def put_back(self, each: OpenClaim) -> None:
        """Have *each* wait again, behind the others."""
        if self._size > _WITH_LINES:
            each.shown = None
        self._waiting.setdefault(each.claim.way.domain, deque()).append(each)

    def close(self, each: OpenClaim) -> None:
        """Note that it is told of *each*, or cannot be."""
        way = each.claim.way
        self._size -= 1
        self._ways[way] -= 1
        if not self._ways[way]:
            del self._ways[way]
