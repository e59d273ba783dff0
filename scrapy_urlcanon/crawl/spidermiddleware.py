"""The spider middleware: fetches the canonical URL where ``URLCANON_REWRITE`` is on."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_urlcanon.canonicalizer.pattern import with_parents
from scrapy_urlcanon.crawl.request import with_url
from scrapy_urlcanon.crawl.settings import rewrites
from scrapy_urlcanon.crawl.state import CrawlState

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class UrlCanonSpiderMiddleware(BaseSpiderMiddleware):
    """Replaces the URL of a request by its canonical URL, on the sites where that is on.

    Everywhere else, and by default, the canonical URL is but a key: what is fetched is
    the URL that the page linked.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._sites = rewrites(crawler.settings)
        if not self._sites:
            raise NotConfigured
        self._state = CrawlState.of(crawler)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request* with its canonical URL; only GET and HEAD are rewritten."""
        del response
        if request.method not in {"GET", "HEAD"} or not self._rewrites(request.url):
            return request
        canonical = self._state.canonical(request)
        if canonical is None or canonical == request.url:
            return request
        self.crawler.stats.inc_value("urlcanon/rewritten")
        return with_url(request, canonical)

    def _rewrites(self, url: str) -> bool:
        if isinstance(self._sites, bool):
            return self._sites
        host = urlsplit(url).hostname or ""
        return not self._sites.isdisjoint(with_parents(host))
