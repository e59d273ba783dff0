"""Detects that a crawl has nothing left to do but to wait for start requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.scheduling.engine import hear, scheduler_of, under_way

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler


def on_idle(crawler: Crawler, receiver: Callable[[], None]) -> None:
    """Call *receiver* when the spider is idle, or would be but for start requests yet to come.

    ``Spider.start`` may wait for a queue, or for a page. Until it has finished, Scrapy does not
    consider the spider idle (2.19, ``core/engine.py``, ``spider_is_idle``).
    """

    def scheduler_empty() -> None:
        # The scheduler may hold requests and return none for now. If the spider is idle,
        # ``spider_idle`` follows.
        is_busy = under_way(crawler) or scheduler_of(crawler).has_pending_requests()
        if not is_busy and not crawler.engine.spider_is_idle():
            receiver()

    crawler.signals.connect(receiver, signals.spider_idle)
    hear(crawler, scheduler_empty, signals.scheduler_empty)
