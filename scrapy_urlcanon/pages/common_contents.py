"""Contents that a site shows in the place of pages that it does not have."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Container, Hashable
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.pages.same_page import PageDigest

_SEVERAL = 3


class _Uses(NamedTuple):
    pages: int
    paths: frozenset[int]


class CommonContents:
    """Remembers which contents several pages have in common.

    >>> from scrapy_urlcanon.pages.same_page import PageDigest
    >>> contents, sorry = CommonContents(), PageDigest(b"Sorry")
    >>> contents.is_elsewhere(sorry, "/a"), contents.is_elsewhere(sorry, "/b")
    (False, True)

    A page that could not be found, one for which to log in and one that an error left
    empty look like this, with a status of 200: that two URLs give the same one says
    nothing about whether they are one page.

    :param limit: how many are remembered, and then at least half of these.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        # Most are of one page: the hash of its path takes a sixth of the memory.
        self._uses: dict[bytes, _Uses | int] = {}
        # The first page that each was fetched to be compared with, and the URL that showed it.
        self._owners: dict[bytes, tuple[Hashable, str]] = {}
        # Where the URLs that stand for pages redirected to other pages.
        self._led_to: dict[Hashable, Hashable] = {}

    def add(self, content: PageDigest, url: str) -> None:
        """Note that a page, which is no other's variant, has *content* under *url*."""
        uses = self._uses.get(content.digest)
        path = hash(urlsplit(url)[1:3])
        self._make_room(self._uses)
        if uses is None:
            self._uses[content.digest] = path
            return
        if isinstance(uses, int):
            uses = _Uses(1, frozenset((uses,)))
        paths = uses.paths if len(uses.paths) >= _SEVERAL else uses.paths | {path}
        self._uses[content.digest] = _Uses(min(uses.pages + 1, _SEVERAL), paths)

    def is_elsewhere(self, content: PageDigest, page: Hashable, url: str = "") -> bool:
        """Note what was fetched to be compared with *page*; tell whether it was for another too.

        One page may be at several URLs for want of a rule: that ``?t=8&print=1`` shows what
        ``?t=8`` does says nothing.

        :param url: the one that showed it, where that counts.
        """
        self._make_room(self._owners)
        owner, its_url = self._owners.setdefault(content.digest, (page, url))
        is_its = owner in {page, self._led_to.get(page)} or self._led_to.get(owner) == page
        return not is_its and not _are_of_one_path(url, its_url)

    def lead(self, page: Hashable, to: Hashable) -> None:
        """Note that the URL of *page* redirects to that of another one: both show the same.

        >>> from scrapy_urlcanon.pages.same_page import PageDigest
        >>> contents, shown = CommonContents(), PageDigest(b"Shown")
        >>> contents.lead("/item?id=1", "/show?id=1")
        >>> pages = ("/item?id=1", "/show?id=1", "/item?id=1", "/a")
        >>> [contents.is_elsewhere(shown, page) for page in pages]
        [False, False, False, True]
        """
        self._make_room(self._led_to)
        self._led_to[page] = to

    def belongs(self, content: PageDigest, page: Hashable) -> None:
        """Note that *content* is that of *page*, whatever it was fetched to be compared with."""
        self._owners[content.digest] = page, ""

    def forget(self, pages: Container[Hashable]) -> None:
        """Forget what was fetched to be compared with *pages*: some of it is of others now."""
        self._owners = {digest: of for digest, of in self._owners.items() if of[0] not in pages}
        self._led_to = {page: to for page, to in self._led_to.items() if page not in pages}

    def has_several_pages(self, content: PageDigest) -> bool:
        """Tell whether several pages have *content*."""
        uses = self._uses.get(content.digest)
        return isinstance(uses, _Uses) and uses.pages >= _SEVERAL

    def has_several_paths(self, content: PageDigest) -> bool:
        """Tell whether pages at several paths have *content*.

        That is more: one page may be at several URLs of one path, for want of a rule.
        """
        uses = self._uses.get(content.digest)
        return isinstance(uses, _Uses) and len(uses.paths) >= _SEVERAL

    def _make_room(self, remembered: dict[Any, Any]) -> None:
        if len(remembered) >= self._limit:
            for oldest in [*islice(remembered, max(1, self._limit // 2))]:
                del remembered[oldest]


def may_be_views(parts: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """Tell whether URLs that differ in these parts may be views of one page.

    >>> eight, too, nine = (frozenset(d.split()) for d in ("t=8", "t=8 sid=1", "t=9 sid=1"))
    >>> may_be_views(eight, too), may_be_views(too, nine), may_be_views(eight, frozenset())
    (True, False, False)
    """
    return bool(parts and others) and (parts <= others or others <= parts)


def _are_of_one_path(url: str, other: str) -> bool:
    """Tell whether two URLs of a path may be views of one page, by their parameters.

    >>> _are_of_one_path("/topic?t=8", "/topic?t=8&print=1"), _are_of_one_path("/a?t=8", "/b?t=8")
    (True, False)
    """
    path, _, query = url.partition("?")
    its_path, _, its_query = other.partition("?")
    parts, its_parts = ({*filter(None, each.split("&"))} for each in (query, its_query))
    return path == its_path and may_be_views(parts, its_parts)
