"""The spider middleware nearest to the spider: what passes it reaches a callback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_urlcanon.crawl.crawl import Crawl

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        listening = [part for part in (crawl.requests, crawl.earlier) if part]
        if not listening:
            raise NotConfigured
        return cls(listening)

    def __init__(self, listening: Sequence[PageRequests | EarlierPages]) -> None:
        self._listening = listening

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Note that the callback is given *response*."""
        del spider
        for part in self._listening:
            part.delivered(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Note that the callback raised. If a middleware handles that, no signal is sent.

        Scrapy calls this middleware first (``core/spidermw.py``, ``process_spider_exception``).
        """
        del exception, spider
        for part in self._listening:
            part.raised(response)
