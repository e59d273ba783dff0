"""The spider middleware nearest to the spider: what passes it reaches a callback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_urlcanon.crawl.crawl import Crawl

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.earlier.pages import EarlierPages
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests


class UrlCanonCallbackMiddleware:
    """Notes what callbacks are given, after all middlewares that may withhold a response."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        crawl = Crawl.of(crawler)
        if crawl.requests is None and crawl.earlier is None:
            raise NotConfigured
        return cls(crawl.requests, crawl.earlier)

    def __init__(self, requests: PageRequests | None, earlier: EarlierPages | None) -> None:
        self._requests = requests
        self._earlier = earlier

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Note that the callback is given *response*."""
        del spider
        if self._requests:
            self._requests.delivered(response)
        if self._earlier:
            self._earlier.delivered(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Note that the callback raised. If a middleware handles that, no signal is sent.

        Scrapy calls this middleware first (``core/spidermw.py``, ``process_spider_exception``).
        """
        del exception, spider
        if self._requests:
            self._requests.raised(response)
        if self._earlier:
            self._earlier.spider_error(response)
