"""Remembers how deep each page lies, in crawls with a depth limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request


class LeastDepths:
    """Remembers the least depth at which each page was requested, if the crawl has a depth limit.

    A page fetched at a great depth has its links cut off. If it is linked again at a smaller depth,
    they are within the limit.

    >>> depths = LeastDepths(100, is_limited=True)
    >>> depths.note(b"page", 3), depths.note(b"page", 1), depths.note(b"page", 2)
    (False, True, False)
    >>> depths.of(b"page"), LeastDepths(100, is_limited=False).of(b"page")
    (1, None)

    :param max_pages: the most pages remembered; at least half as many are.
    :param is_limited: whether the crawl has a depth limit (``DEPTH_LIMIT``).
    """

    def __init__(self, max_pages: int, *, is_limited: bool) -> None:
        self._is_limited = is_limited
        self._depths: BoundedMapping[bytes, int] = BoundedMapping(max_pages)

    def of(self, page: bytes) -> int | None:
        """Return the least depth of *page*, or None if it is not known or there is no limit."""
        return self._depths.get(page)

    def note(self, page: bytes, depth: int) -> bool:
        """Note that *page* is requested at *depth*; return whether it was deeper before."""
        if not self._is_limited:
            return False
        before = self.of(page)
        if before is None or depth < before:
            self._depths[page] = depth
        return before is not None and depth < before

    def lower(self, request: Request, pages: Iterable[bytes]) -> None:
        """Lower the depth of *request* to the least at which *pages* were requested."""
        for depth in map(self.of, pages):
            if depth is not None:
                request.meta["depth"] = min(request.meta.get("depth", 0), depth)

    def rename(self, page: bytes, new: bytes) -> None:
        """Replace the fingerprint of *page* by *new*."""
        depth = self._depths.pop(page)
        if depth is not None:
            self.note(new, depth)
