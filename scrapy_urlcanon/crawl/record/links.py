"""Records which page links which, so that ``learn`` knows how pages were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import MARK_KEY
from scrapy_urlcanon.crawl.seen_sets.base import bits_by
from scrapy_urlcanon.learn.links import ALL_KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.learn.store import ObservationStore

_REMEMBERED = 200_000
"""The most URLs whose links are counted; that takes some 20 MB."""


class LinkCounts:
    """Counts the links to each URL, and selects which to record: all at first, then ever fewer.

    The pages of a menu are linked from everywhere.

    >>> counts = LinkCounts(100, first=3)
    >>> [n for n in range(1, 20) if counts.takes("http://a.example/")]
    [1, 2, 3, 4, 8, 16]

    :param limit: the most URLs whose links are counted. When it is reached, all counts start anew.
    :param first: how many links are recorded in any case. After that, those whose number is a power
        of two.
    """

    def __init__(self, limit: int, first: int) -> None:
        # A hash takes less memory than the URL.
        self._counts: dict[int, int] = {}
        self._limit = limit
        self._first = first

    def takes(self, url: str) -> bool:
        """Count a link to *url*; return whether to record it."""
        counts = self._counts
        hashed = hash(url)
        count = counts.get(hashed, 0) + 1
        if len(counts) >= self._limit:
            counts.clear()
        counts[hashed] = count
        return count <= self._first or not count & (count - 1)


class RecordedLinks:
    """Records which requests the callback of a page yields.

    Pages are known by the first 64 bits of fingerprints, so that a dropped request has the key of
    the page that was fetched. Links to other domains are left out, since each domain is learned
    separately.
    """

    def __init__(self, crawler: Crawler, store: ObservationStore) -> None:
        self._crawler = crawler
        self._store = store
        self._counts = LinkCounts(_REMEMBERED, ALL_KEPT)

    def key(self, request: Request) -> int:
        """Return the key of the page of *request*, 64 bits."""
        meta = request.meta
        if MARK_KEY in meta or ("redirect_urls" in meta and sources_of(request)):
            # Such a request has a fingerprint of its own, but a link to its page does not.
            return self.key_of_url(request.url)
        fingerprinter = self._crawler.request_fingerprinter
        bits = bits_by(fingerprinter)(fingerprinter.fingerprint(request))
        return int.from_bytes(bits[:8], "big", signed=True)

    def key_of_url(self, url: str) -> int:
        """Return the key of the page of a plain request for *url*."""
        return self.key(Request(url))

    def started(self, request: Request) -> None:
        """Record a request that no page links."""
        self._keep(domain_of(request.url), None, {request.url: request})

    def redirected(self, source: str, target: str) -> None:
        """Record that *source* redirected to *target*, which counts as a link."""
        domain = domain_of(source)
        if domain == domain_of(target):
            self._keep(domain, Request(source), {target: Request(target)})

    def output_of(self, response: Response) -> LinksOfPage | None:
        """Return a collector for the links of *response*; None if it is no page to learn from."""
        request = response.request
        if request is None or not request.url.startswith(("http://", "https://")):
            return None
        return LinksOfPage(request, self._keep)

    def _keep(self, domain: str, page: Request | None, linked: Mapping[str, Request]) -> None:
        """Record links of a page, or of the start of the crawl if *page* is None."""
        takes = self._counts.takes
        kept = {self.key(request) for url, request in linked.items() if takes(url)}
        if kept:
            self._store.add_links(domain, None if page is None else self.key(page), [*kept])


class LinksOfPage:
    """Collects the requests that the callback of one page yields.

    :param keep: called at the end with the domain, the page and the requests that it links, by URL.
    """

    def __init__(
        self, page: Request, keep: Callable[[str, Request, Mapping[str, Request]], None]
    ) -> None:
        self._page, self._keep = page, keep
        self._domain = domain_of(page.url)
        scheme, _, rest = page.url.partition("://")
        # Most links begin with this, and need no further check.
        self._site = f"{scheme}://{rest.partition('/')[0]}/"
        self._linked: dict[str, Request] = {}

    def add(self, each: Any) -> None:
        """Note *each* if it is a request, not an item."""
        if isinstance(each, Request) and each.method == "GET":
            url = each.url
            if url.startswith(self._site) or domain_of(url) == self._domain:
                self._linked[url] = each

    def end(self) -> None:
        """Note that the callback has finished."""
        self._keep(self._domain, self._page, self._linked)
