"""Marks requests as seen without filtering them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


def record(crawler: Crawler, request: Request) -> bool | None:
    """Record *request* in the dupefilter as if it had been scheduled.

    Return whether it was seen before, and None where the scheduler has no dupefilter to
    ask: that of Scrapy and that of scrapy-redis call it ``df``.
    """
    engine = crawler.engine
    # Scrapy 2.19 has a property for it.
    scheduler = getattr(engine, "scheduler", None) or getattr(
        getattr(engine, "_slot", None), "scheduler", None
    )
    dupefilter = getattr(scheduler, "df", None)
    if dupefilter is None:
        return None
    return bool(dupefilter.request_seen(request))
