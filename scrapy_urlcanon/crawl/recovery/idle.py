"""When nothing is left to do, but for start requests that are yet to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.scheduling.engine import hear, scheduler_of, under_way

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler


def on_idle(crawler: Crawler, receiver: Callable[[], None]) -> None:
    """Call *receiver* when the spider is idle, or would be if it had no start requests left.

    Those may come as long as another program has some, as from a queue, or wait for a page: until
    then Scrapy takes no spider for idle (2.19, ``core/engine.py``, ``spider_is_idle``).
    """

    def scheduler_empty() -> None:
        # The scheduler may have some and give none yet. And where the spider is idle that is said
        # next.
        is_busy = under_way(crawler) or scheduler_of(crawler).has_pending_requests()
        if not is_busy and not crawler.engine.spider_is_idle():
            receiver()

    crawler.signals.connect(receiver, signals.spider_idle)
    hear(crawler, scheduler_empty, signals.scheduler_empty)
