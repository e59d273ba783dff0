"""Keeps where the spider found what it asks for, so that learning knows what leads to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import MARK_KEY
from scrapy_urlcanon.learn.links import ALL_KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.learn.store import ObservationStore

_REMEMBERED = 200_000
"""URLs of which it is known how many links there were: some 20 MB."""


class LinkCounts:
    """Counts the links to each URL, of which the first ones are looked at, and ever fewer later.

    Menus link the same from everywhere.

    >>> counts = LinkCounts(100, first=3)
    >>> [n for n in range(1, 20) if counts.takes("http://a.example/")]
    [1, 2, 3, 4, 8, 16]

    :param limit: how many URLs are remembered; past that all begin anew.
    :param first: how many are looked at; then those whose number is a power of two.
    """

    def __init__(self, limit: int, first: int) -> None:
        # A number takes less room than the URL does.
        self._counts: dict[int, int] = {}
        self._limit = limit
        self._first = first

    def takes(self, url: str) -> bool:
        """Count a link to *url*; tell whether it is looked at."""
        counts = self._counts
        hashed = hash(url)
        count = counts.get(hashed, 0) + 1
        if len(counts) >= self._limit:
            counts.clear()
        counts[hashed] = count
        return count <= self._first or not count & (count - 1)


class RecordedLinks:
    """Keeps which requests a page's callback yields, by the start of their fingerprints.

    Those that the duplicate filter will drop have that of the page that was fetched. What leads to
    other domains is left out: each is learned from by itself.
    """

    def __init__(self, crawler: Crawler, store: ObservationStore) -> None:
        self._crawler = crawler
        self._store = store
        self._counts = LinkCounts(_REMEMBERED, ALL_KEPT)

    def key(self, request: Request) -> int:
        """Return what stands for the page of *request*, 64 bits."""
        meta = request.meta
        if MARK_KEY in meta or ("redirect_urls" in meta and sources_of(request)):
            # It has a fingerprint of its own, and a link to the same page has not.
            return self.key_of_url(request.url)
        fingerprint: bytes = self._crawler.request_fingerprinter.fingerprint(request)
        return int.from_bytes(fingerprint[:8], "big", signed=True)

    def key_of_url(self, url: str) -> int:
        """Return what stands for the page of a plain request for *url*."""
        return self.key(Request(url))

    def started(self, request: Request) -> None:
        """Note a request that no page links."""
        self._keep(domain_of(request.url), None, {request.url: request})

    def redirected(self, source: str, target: str) -> None:
        """Note that *source* led to *target*, as a link does."""
        domain = domain_of(source)
        if domain == domain_of(target):
            self._keep(domain, Request(source), {target: Request(target)})

    def output_of(self, response: Response) -> LinksOfPage | None:
        """Return what is to be told of the output of the callback of *response*, if it is one."""
        request = response.request
        if request is None or not request.url.startswith(("http://", "https://")):
            return None
        return LinksOfPage(request, self._keep)

    def _keep(self, domain: str, page: Request | None, linked: Mapping[str, Request]) -> None:
        """Keep what a page links, but for most of what many do; None is where a crawl begins."""
        takes = self._counts.takes
        kept = {self.key(request) for url, request in linked.items() if takes(url)}
        if kept:
            self._store.add_links(domain, None if page is None else self.key(page), [*kept])


class LinksOfPage:
    """Collects what the callback of one page asks for.

    :param keep: is told of the domain, the page and what it links, by URL.
    """

    def __init__(
        self, page: Request, keep: Callable[[str, Request, Mapping[str, Request]], None]
    ) -> None:
        self._page, self._keep = page, keep
        self._domain = domain_of(page.url)
        scheme, _, rest = page.url.partition("://")
        # What most links begin with, which need not be looked at further.
        self._site = f"{scheme}://{rest.partition('/')[0]}/"
        self._linked: dict[str, Request] = {}

    def add(self, each: Any) -> None:
        """Note a request; items are none."""
        if isinstance(each, Request) and each.method == "GET":
            url = each.url
            if url.startswith(self._site) or domain_of(url) == self._domain:
                self._linked[url] = each

    def end(self) -> None:
        """Note that there is no more."""
        self._keep(self._domain, self._page, self._linked)
