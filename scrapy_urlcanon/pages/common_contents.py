"""Recognises contents that a site shows in place of several pages, such as a log-in form."""

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

    "Not found", a log-in form and a page that an error left empty may come with status 200 in place
    of any page. That two URLs show one of these does not mean that they are the same page.

    >>> from scrapy_urlcanon.pages.same_page import PageDigest
    >>> contents, sorry = CommonContents(), PageDigest(b"Sorry")
    >>> contents.is_of_another(sorry, "/a"), contents.is_of_another(sorry, "/b")
    (False, True)

    :param limit: the most contents that are remembered; at least the last half of them are.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        # By content: how many pages, and which paths, have it. For a single page, the usual case,
        # only the hash of its path, which takes a sixth of the memory.
        self._uses: dict[bytes, _Uses | int] = {}
        # By content: the page that it was first compared with, and the URL that showed it.
        self._owners: dict[bytes, tuple[Hashable, str]] = {}
        # By page: the page that its first URL redirected to.
        self._led_to: dict[Hashable, Hashable] = {}

    def add(self, content: PageDigest, url: str) -> None:
        """Note that the page at *url*, which is no variant, has *content*."""
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

    def is_of_another(self, content: PageDigest, page: Hashable, url: str = "") -> bool:
        """Tell whether *content* was first seen in place of another page than *page*.

        If it is seen for the first time it belongs to *page* from now on. URLs that may be views of
        one page, which lacks a rule, do not count as two pages, such as ``?t=8`` and
        ``?t=8&print=1``.

        :param url: the URL that showed it. Without it no exception is made for views.
        """
        self._make_room(self._owners)
        owner, its_url = self._owners.setdefault(content.digest, (page, url))
        is_its = owner in {page, self._led_to.get(page)} or self._led_to.get(owner) == page
        return not is_its and not _are_of_one_path(url, its_url)

    def lead(self, page: Hashable, to: Hashable) -> None:
        """Note that *page* redirects to the page *to*, so that both have the same content.

        >>> from scrapy_urlcanon.pages.same_page import PageDigest
        >>> contents, shown = CommonContents(), PageDigest(b"Shown")
        >>> contents.lead("/item?id=1", "/show?id=1")
        >>> pages = ("/item?id=1", "/show?id=1", "/item?id=1", "/a")
        >>> [contents.is_of_another(shown, page) for page in pages]
        [False, False, False, True]
        """
        self._make_room(self._led_to)
        self._led_to[page] = to

    def assign(self, content: PageDigest, page: Hashable) -> None:
        """Record *content* as that of *page*, whatever page it belonged to before."""
        self._owners[content.digest] = page, ""

    def forget(self, pages: Container[Hashable]) -> None:
        """Forget what belongs to *pages*, whose fingerprints have changed."""
        self._owners = {digest: of for digest, of in self._owners.items() if of[0] not in pages}
        self._led_to = {page: to for page, to in self._led_to.items() if page not in pages}

    def has_several_pages(self, content: PageDigest) -> bool:
        """Tell whether at least three pages have *content*."""
        uses = self._uses.get(content.digest)
        return isinstance(uses, _Uses) and uses.pages >= _SEVERAL

    def has_several_paths(self, content: PageDigest) -> bool:
        """Tell whether pages at three or more paths have *content*.

        This says more than :meth:`has_several_pages`: several URLs at one path may be the same
        page, for lack of a rule.
        """
        uses = self._uses.get(content.digest)
        return isinstance(uses, _Uses) and len(uses.paths) >= _SEVERAL

    def _make_room(self, remembered: dict[Any, Any]) -> None:
        if len(remembered) >= self._limit:
            for oldest in [*islice(remembered, max(1, self._limit // 2))]:
                del remembered[oldest]


def may_be_views(parts: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """Tell whether two URLs may be views of one page, by the parts that each adds to a third URL.

    They may if one has all the parts that the other adds.

    >>> eight, too, nine = (frozenset(d.split()) for d in ("t=8", "t=8 sid=1", "t=9 sid=1"))
    >>> may_be_views(eight, too), may_be_views(too, nine), may_be_views(eight, frozenset())
    (True, False, False)
    """
    return bool(parts and others) and (parts <= others or others <= parts)


def _are_of_one_path(url: str, other: str) -> bool:
    """Tell whether two URLs have one path, and by their parameters may be views of one page.

    >>> _are_of_one_path("/topic?t=8", "/topic?t=8&print=1"), _are_of_one_path("/a?t=8", "/b?t=8")
    (True, False)
    """
    path, _, query = url.partition("?")
    its_path, _, its_query = other.partition("?")
    parts, its_parts = ({*filter(None, each.split("&"))} for each in (query, its_query))
    return path == its_path and may_be_views(parts, its_parts)
