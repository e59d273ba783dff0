"""How deep the pages of a crawl lie whose depth is limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request


class LeastDepths:
    """Remembers the least depth at which each page was asked for; nothing where no depth counts.

    What a page links at less depth is within the limit that cut it off at a greater one.

    >>> depths = LeastDepths(100, is_limited=True)
    >>> depths.note(b"page", 3), depths.note(b"page", 1), depths.note(b"page", 2)
    (False, True, False)
    >>> depths.of(b"page"), LeastDepths(100, is_limited=False).of(b"page")
    (1, None)

    :param max_pages: of how many pages it is remembered, at least half and at most all.
    :param is_limited: whether the depth of the crawl is (``DEPTH_LIMIT``).
    """

    def __init__(self, max_pages: int, *, is_limited: bool) -> None:
        self._is_limited = is_limited
        self._depths: BoundedMapping[bytes, int] = BoundedMapping(max_pages)

    def of(self, page: bytes) -> int | None:
        """Return the least depth of *page*; None where it is not known, or does not count."""
        return self._depths.get(page)

    def note(self, page: bytes, depth: int) -> bool:
        """Note that *page* is asked for at *depth*; tell whether it was deeper before."""
        if not self._is_limited:
            return False
        before = self.of(page)
        if before is None or depth < before:
            self._depths[page] = depth
        return before is not None and depth < before

    def lower(self, request: Request, pages: Iterable[bytes]) -> None:
        """Let what *request* brings count from the least depth at which *pages* were asked for."""
        for depth in map(self.of, pages):
            if depth is not None:
                request.meta["depth"] = min(request.meta.get("depth", 0), depth)

    def rename(self, page: bytes, new: bytes) -> None:
        """Let *page* be known as *new*."""
        depth = self._depths.pop(page)
        if depth is not None:
            self.note(new, depth)
