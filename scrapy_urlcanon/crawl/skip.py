"""Requests that are not scheduled: the page of their URL is always found elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.canonicalizer.rules import Skip
from scrapy_urlcanon.canonicalizer.url import split

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.state import CrawlState


class SkippedRequests:
    """Keeps requests from the scheduler whose canonical URL a ``skip`` template fits.

    It listens to ``request_scheduled``, which redirects and retries come by too, and only
    where some rule has ``skip``: a receiver costs every request more than its fingerprint.
    Requests that are not to be filtered are let through, start URLs among them, and so are
    those that are no GET or HEAD.
    """

    def __init__(self, crawler: Crawler, state: CrawlState) -> None:
        self._crawler = crawler
        self._state = state
        origins = state.canonicalizer.configuration.origins
        if any(Skip.name in rule_set.options for origin in origins for rule_set in origin):
            crawler.signals.connect(self.request_scheduled, signals.request_scheduled)

    def request_scheduled(self, request: Request, spider: Spider) -> None:
        """Count *request* and refuse it if a template fits it.

        :raises IgnoreRequest: which the engine takes for an answer (Scrapy 2.19,
            ``core/engine.py``, ``_schedule_request``).
        """
        del spider
        if request.dont_filter or request.method not in {"GET", "HEAD"}:
            return
        canonical = self._state.canonical(request)
        if canonical is None:
            return
        policy = self._state.canonicalizer.policy(canonical)
        template = policy.skips(split(canonical))
        if template is not None:
            self._crawler.stats.inc_value(f"urlcanon/skipped/{template}")
            raise IgnoreRequest(f"its page is always found elsewhere: {template}")
