"""Remembers requests that were dropped because of declared canonical URLs, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.settings import CrawlSettings

_URLS_OF_A_PAGE = 10


class DroppedRequests:
    """Remembers dropped requests that may have to be let through, by page.

    A few requests for different URLs of each page are kept. If there is no room, the oldest pages
    are forgotten.
    """

    def __init__(self, crawler: Crawler, settings: CrawlSettings) -> None:
        self._max_pages = settings.audit_max_pending
        self._max_bytes = settings.pending_max_bytes
        self._crawler = crawler
        self._requests: OrderedDict[bytes, dict[str, Request]] = OrderedDict()
        self._held = HeldBytes(parts_of)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pages; requests may be taken meanwhile."""
        return iter(tuple(self._requests))

    def first(self, page: bytes) -> Request:
        """Return the request for *page* that was dropped first."""
        return next(iter(self._requests[page].values()))

    def remember(self, request: Request, page: bytes) -> None:
        """Remember *request* for *page*."""
        requests = self._requests.setdefault(page, {})
        if len(requests) < _URLS_OF_A_PAGE and request.url not in requests:
            requests[request.url] = request
            self._held.add(request)
        while len(self._requests) > self._max_pages or self._held.total > self._max_bytes:
            self.take(next(iter(self._requests)))
            Stat.DECLARED_FORGOTTEN.inc(self._crawler)

    def take(self, page: bytes) -> list[Request]:
        """Remove and return the requests for *page*, if any are remembered."""
        requests = list(self._requests.pop(page, {}).values())
        for request in requests:
            self._held.remove(request)
        return requests
