"""The downloader middleware: sees every request that is fetched, redirects among them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.python import global_object_name

from scrapy_urlcanon.crawl.declared import DeclaredRules
from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
from scrapy_urlcanon.crawl.skip import SkippedRequests
from scrapy_urlcanon.crawl.state import CrawlState

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class UrlCanonDownloaderMiddleware:
    """Counts the redirects that lead a request to its own canonical form.

    And warns where the fingerprinter in use is another one than ours.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signals.spider_opened)
        return middleware

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = CrawlState.of(crawler)
        self._declared = DeclaredRules(crawler)
        # Signals hold their receivers weakly.
        self._skipped = SkippedRequests(crawler, self._state)

    def spider_opened(self, spider: Spider) -> None:
        """Warn where another fingerprinter decides what a duplicate is."""
        in_use = type(self._crawler.request_fingerprinter)
        if not issubclass(in_use, RequestFingerprinter):
            logger.warning(
                "Requests are fingerprinted by %(in_use)s, so the canonicalization rules may "
                "have no effect. Set REQUEST_FINGERPRINTER_CLASS to "
                "scrapy_urlcanon.RequestFingerprinter, or, if another add-on replaced it, give "
                "scrapy_urlcanon.Addon a higher number in ADDONS than that one has.",
                {"in_use": global_object_name(in_use)},
                extra={"spider": spider},
            )

    def process_request(self, request: Request) -> None:
        """Count *request* where it follows a redirect to its own canonical form."""
        # A retry comes here again.
        if "redirect_urls" not in request.meta or "retry_times" in request.meta:
            return
        fingerprinter = self._state.fingerprinter
        if fingerprinter and fingerprinter.is_redirect_to_itself(request):
            self._crawler.stats.inc_value("urlcanon/redirect_hops")
