"""Skips requests whose page is always found under another URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.own_requests import is_unfiltered
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
    from scrapy_urlcanon.crawl.stats import CrawlStats


class SkippedRequests:
    """Keeps requests from the scheduler whose canonical URL a ``skip`` template fits.

    It listens to ``request_scheduled``, which redirects and retries come by too. Requests that
    are not to be filtered are let through, start URLs among them, and so are those that are no
    GET or HEAD.
    """

    def __init__(
        self,
        crawler: Crawler,
        canonicalizer: Canonicalizer,
        canonical_urls: CanonicalUrls,
        stats: CrawlStats,
    ) -> None:
        self._canonicalizer = canonicalizer
        self._canonical_urls = canonical_urls
        self._stats = stats
        crawler.signals.connect(self.request_scheduled, signals.request_scheduled)

    def request_scheduled(self, request: Request, spider: Spider) -> None:
        """Count *request* and refuse it if a template fits it.

        :raises IgnoreRequest: which the engine takes for an answer (Scrapy 2.19,
            ``core/engine.py``, ``_schedule_request``).
        """
        del spider
        if is_unfiltered(request) or request.method not in {"GET", "HEAD"}:
            return
        canonical = self._canonical_urls.of(request)
        if canonical is None:
            return
        skip = self._canonicalizer.policy(canonical).skips(split(canonical))
        if skip is not None:
            self._stats.inc(Stat.SKIPPED, template=skip.entry)
            raise IgnoreRequest(f"its page is always found elsewhere: {skip.entry}")
