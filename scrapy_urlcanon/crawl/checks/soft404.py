"""Contents that a site shows in the place of pages that it does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

if TYPE_CHECKING:
    from scrapy_urlcanon.pages.same_page import PageDigest

_SEVERAL = 3


class _Uses(NamedTuple):
    pages: int
    paths: frozenset[int]


class CommonContents:
    """Remembers which contents several pages have in common.

    A page that could not be found, one for which to log in and one that an error left
    empty look like this, with a status of 200: that two URLs give the same one says
    nothing about whether they are one page.
    """

    def __init__(self, limit: int) -> None:
        self._uses: BoundedMapping[bytes, _Uses] = BoundedMapping(limit)

    def add(self, content: PageDigest, url: str) -> None:
        """Note that a page, which is no other's variant, has *content* under *url*."""
        uses = self._uses.get(content.digest) or _Uses(0, frozenset())
        paths = uses.paths
        if len(paths) < _SEVERAL:
            paths |= {hash(urlsplit(url)[1:3])}
        self._uses[content.digest] = _Uses(min(uses.pages + 1, _SEVERAL), paths)

    def has_several_pages(self, content: PageDigest) -> bool:
        """Tell whether several pages have *content*."""
        uses = self._uses.get(content.digest)
        return uses is not None and uses.pages >= _SEVERAL

    def has_several_paths(self, content: PageDigest) -> bool:
        """Tell whether pages at several paths have *content*.

        That is more: one page may be at several URLs of one path, for want of a rule.
        """
        uses = self._uses.get(content.digest)
        return uses is not None and len(uses.paths) >= _SEVERAL
