"""The spider middleware next to the spider: what it sees gets to a callback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_urlcanon.crawl.crawl import Crawl

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests


class UrlCanonCallbackMiddleware:
    """Notes what callbacks get, behind all middlewares that may keep a response from them."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        requests = Crawl.of(crawler).requests
        if requests is None:
            raise NotConfigured
        return cls(requests)

    def __init__(self, requests: PageRequests) -> None:
        self._requests = requests

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Note that the callback gets *response*."""
        del spider
        self._requests.delivered(response)
