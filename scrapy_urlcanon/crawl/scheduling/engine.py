"""What the engine has, its scheduler and the requests that are under way; and who hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_RECEIVERS = "_scrapy_urlcanon_receivers"


def hear(crawler: Crawler, receiver: Callable[..., None], signal: object) -> None:
    """Call *receiver*, which nobody else keeps, when *signal* is sent, as long as *crawler* lives.

    Signals keep their receivers weakly, and what they are made to keep they keep for the life of
    the process (PyDispatcher 2, ``dispatcher.connect``): with it the crawler, and all that it knows
    of its crawl, long after that is over.
    """
    vars(crawler).setdefault(_RECEIVERS, []).append(receiver)
    crawler.signals.connect(receiver, signal)


def scheduler_of(crawler: Crawler) -> Any:
    """Return the scheduler, or None where there is none yet."""
    # Scrapy 2.19 has a property for it.
    found = getattr(_engine_of(crawler), "scheduler", None)
    # Whether it is true says how much it has queued: that of scrapy-redis asks Redis for that.
    return getattr(slot_of(crawler), "scheduler", None) if found is None else found


def slot_of(crawler: Crawler) -> Any:
    """Return what the engine keeps of what is under way, or None where it is not open yet."""
    # No public name leads to it.
    return getattr(_engine_of(crawler), "_slot", None)


def under_way(crawler: Crawler) -> Collection[Request]:
    """Return the requests that the engine has taken and that are not through yet."""
    slot = slot_of(crawler)
    return slot.inprogress if slot else ()


def is_local(settings: BaseSettings) -> bool:
    """Tell whether no other process has requests of the crawl: the scheduler is that of Scrapy."""
    # Scrapy takes for a subclass whatever has the methods of one (``BaseSchedulerMeta``).
    return Scheduler in load_object(settings["SCHEDULER"]).__mro__


def is_run(crawler: Crawler) -> bool:
    """Tell whether a spider crawls: `scrapy fetch`, `view`, `parse`, `check` and `shell` do not."""
    start = getattr(type(crawler.spider), "start", None)  # A shell has no spider yet.
    return bool(start) and not getattr(start, "__module__", "").startswith("scrapy.commands.")


def _engine_of(crawler: Crawler) -> object:
    try:
        return crawler.engine
    except RuntimeError:
        # Where there is none yet: in the versions after Scrapy 2.19 that is no None.
        return None
