"""Access to Scrapy's engine, its scheduler, the requests in progress, and its signals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import Scheduler
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_RECEIVERS = "_scrapy_urlcanon_receivers"


def hear(crawler: Crawler, receiver: Callable[..., None], signal: object) -> None:
    """Connect *receiver*, which nobody else refers to, to *signal* as long as *crawler* lives.

    Signals keep weak references to receivers. With strong references, which PyDispatcher 2 keeps
    for the life of the process (``dispatcher.connect``), a crawler and all its data would live on
    after the crawl.
    """
    vars(crawler).setdefault(_RECEIVERS, []).append(receiver)
    crawler.signals.connect(receiver, signal)


def on_idle(crawler: Crawler, receiver: Callable[[], None], *, awaits_start: bool = False) -> None:
    """Call *receiver* when the spider is idle, before other receivers hear ``spider_idle``.

    A receiver of the user may close the crawl then, or sum it up. If *receiver* schedules anything,
    the spider is not idle (Scrapy 2.19, ``core/engine.py``, ``_start_scheduled_requests``).

    :param awaits_start: whether to wait for the end of ``Spider.start``, too, which may itself wait
        for a queue, or for a page. Until it has finished, Scrapy does not consider the spider idle
        (``spider_is_idle``).
    """

    def scheduler_empty() -> None:
        slot = slot_of(crawler)
        # The scheduler may hold requests and return none for now.
        is_busy = awaits_start or slot.inprogress or slot.scheduler.has_pending_requests()
        # A shell waits for what its user types.
        if slot.close_if_idle and (not is_busy or crawler.engine.spider_is_idle()):
            receiver()

    hear(crawler, scheduler_empty, signals.scheduler_empty)


def scheduler_of(crawler: Crawler) -> Any:
    """Return the scheduler, or None if there is none yet."""
    # Scrapy 2.19 has a property for it.
    found = getattr(_engine_of(crawler), "scheduler", None)
    # Compared with None: the truth value of a scheduler is its length, for which that of
    # scrapy-redis asks Redis.
    return getattr(slot_of(crawler), "scheduler", None) if found is None else found


def slot_of(crawler: Crawler) -> Any:
    """Return the engine's slot, which holds what is in progress, or None if it is not open yet."""
    # It has no public name.
    return getattr(_engine_of(crawler), "_slot", None)


def under_way(crawler: Crawler) -> Collection[Request]:
    """Return the requests that the engine has taken and not finished."""
    slot = slot_of(crawler)
    return slot.inprogress if slot else ()


def is_local(settings: BaseSettings) -> bool:
    """Tell whether no other process has requests of the crawl: the scheduler is Scrapy's own."""
    # Not ``issubclass``, which Scrapy makes true for any class with the same methods
    # (``BaseSchedulerMeta``).
    return Scheduler in load_object(settings["SCHEDULER"]).__mro__


def is_run(crawler: Crawler) -> bool:
    """Tell whether a spider crawls: `scrapy fetch`, `view`, `parse`, `check` and `shell` do not."""
    start = getattr(type(crawler.spider), "start", None)  # A shell has no spider yet.
    return bool(start) and not getattr(start, "__module__", "").startswith("scrapy.commands.")


def _engine_of(crawler: Crawler) -> object:
    try:
        return crawler.engine
    except RuntimeError:
        # There is none yet. Versions after Scrapy 2.19 raise, where earlier ones return None.
        return None
