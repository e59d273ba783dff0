"""Observes the requests that the duplicate filter drops, and drops repeated ones early."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from pydispatch.dispatcher import getAllReceivers, liveReceivers  # type: ignore[import-untyped]
from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.misc import load_object

from scrapy_urlcanon.crawl.scheduling.engine import hear, scheduler_of
from scrapy_urlcanon.crawl.scheduling.seen import FILTER_KEYS, dupefilter_of, seen_fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_Receiver = TypeVar("_Receiver", bound="Callable[..., None]")
_RECEIVES_REPEATED = "receives_repeated_requests"
_FILTERED = "dupefilter/filtered"
"""The stat under which Scrapy counts dropped requests (``dupefilters.py``, ``log``)."""
ITEMS_AT_ONCE = 200
"""The most requests of one response that are dropped early. With the default of
``CONCURRENT_ITEMS`` this is how many items of a callback Scrapy takes before it does anything else
(``utils/asyncio.py``)."""


def hear_of_drops(crawler: Crawler, receiver: Callable[[Request], None]) -> None:
    """Call *receiver* with each request that the scheduler drops; the scheduler has to be open.

    Scrapy's scheduler calls the ``log`` method of the duplicate filter and then sends the signal
    ``request_dropped``. With a receiver, the signal costs more than all else that is done for a
    repeated request, and nine of ten requests are repeated: links that all pages have. So ``log``
    is wrapped, and the signal is used only if another scheduler may drop requests without calling
    it.
    """
    dupefilter = dupefilter_of(crawler)
    if dupefilter is None or not _asks_filter_alone(type(scheduler_of(crawler))):

        def request_dropped(request: Request, **_: object) -> None:
            receiver(request)

        # A function, not the bound method, whose parameters the signal would inspect at each call.
        hear(crawler, request_dropped, signals.request_dropped)
        return
    dupefilter.log = _ReportingLog(dupefilter, receiver)


class _ReportingLog:
    """Wraps the ``log`` of a duplicate filter to report each drop.

    :param receiver: called with each dropped request.
    """

    def __init__(self, dupefilter: Any, receiver: Callable[[Request], None]) -> None:
        self._dupefilter = dupefilter
        self._log: Callable[[Request, Spider], None] = dupefilter.log
        self.receiver = receiver

    def __call__(self, request: Request, spider: Spider) -> None:
        self._log(request, spider)
        _tell(self.receiver, request, "dropped", spider)

    @property
    def only_counts(self) -> bool:
        """Whether Scrapy's own log would only count further drops, without a message.

        It logs the first drop only (Scrapy 2.19, ``dupefilters.py``, ``log``).
        """
        is_of_scrapy = getattr(self._log, "__func__", None) is RFPDupeFilter.log
        return is_of_scrapy and not (self._dupefilter.debug or self._dupefilter.logdupes)


class RepeatedRequests:
    """Drops requests that the duplicate filter has seen as soon as a callback yields them.

    The scheduler would drop, log and count them in the same way. But on its way there a request
    passes the scraper's queue, a worker and two signals (Scrapy 2.19, ``core/scraper.py``,
    ``handle_spider_output_async``; ``core/engine.py``, ``_schedule_request``), which takes several
    times as long as the lookup; and nine of ten links of a crawl were seen before. If any other
    component on that way might handle a request, nothing is dropped early.

    Requests of one callback may be dropped out of order: before new ones that were yielded earlier
    are scheduled. But the variants of one page are dropped in their order, since the first variant
    is the first to replace a request that fails.

    The drops of one response are counted together if Scrapy would only count them, since counting
    each is the slowest step.

    :param outermost: the spider middleware that drops. No other may stand between it and the
        engine.
    """

    def __init__(self, crawler: Crawler, outermost: object) -> None:
        self._crawler = crawler
        self._outermost = outermost

    @staticmethod
    def are_dropped(settings: BaseSettings) -> bool:
        """Tell whether requests may be dropped early in a crawl with *settings*."""
        return _asks_filter_alone(load_object(settings["SCHEDULER"]))

    def of_response(self) -> tuple[Callable[[Request], bool], Callable[[], None]]:
        """Return two functions for the output of one response: one to drop, one to finish.

        The first is called with each request, and returns whether it dropped it. The second has to
        be called however the callback ends.
        """
        dupefilter = dupefilter_of(self._crawler)
        seen = seen_fingerprints(dupefilter)
        fingerprinter = getattr(dupefilter, "fingerprinter", None)
        if seen is None or fingerprinter is None or not self._is_way_clear():
            return _drops_none, _nothing
        receivers = self._receivers(signals.request_scheduled)
        to_call = [receiver for receiver in receivers if not _is_of_offsite(receiver)]
        if not all(getattr(receiver, _RECEIVES_REPEATED, False) for receiver in to_call):
            return _drops_none, _nothing
        return self._dropping(fingerprinter.fingerprint, seen, to_call, dupefilter.log)

    def _dropping(
        self,
        fingerprint_of: Callable[[Request], bytes],
        seen: Container[bytes],
        to_call: Sequence[Callable[[Request], None]],
        log: Callable[[Request, Spider | None], None],
    ) -> tuple[Callable[[Request], bool], Callable[[], None]]:
        counting = log.receiver if isinstance(log, _ReportingLog) and log.only_counts else None
        spider = self._crawler.spider
        counted = 0
        left = ITEMS_AT_ONCE
        on_its_way: set[bytes] = set()

        def drop(request: Request) -> bool:
            nonlocal counted, left
            if not left or request.dont_filter or not FILTER_KEYS.isdisjoint(request.meta):
                return False
            try:
                fingerprint = fingerprint_of(request)
            except Exception:  # noqa: BLE001 - it is raised again, and logged, by the scheduler
                return False
            if fingerprint not in seen or fingerprint in on_its_way:
                on_its_way.add(fingerprint)
                return False
            left -= 1
            # As with the signal, all receivers are called, even if one refuses the request.
            is_refused = False
            for receiver in to_call:
                is_refused |= _tell(receiver, request, "scheduled", spider)
            if is_refused:
                return True
            if counting is None:
                log(request, spider)
            else:
                counted += 1
                _tell(counting, request, "dropped", spider)
            return True

        def end() -> None:
            if counted:
                self._crawler.stats.inc_value(_FILTERED, counted)

        return drop, end

    def _is_way_clear(self) -> bool:
        """Tell whether no other component handles requests on their way to the duplicate filter."""
        engine = self._crawler.engine
        return (
            type(engine) is ExecutionEngine
            and engine.scraper.spidermw.middlewares[0] is self._outermost
            and _asks_filter_alone(type(scheduler_of(self._crawler)))
            and not self._receivers(signals.request_dropped)
        )

    def _receivers(self, signal: object) -> list[Any]:
        return [*liveReceivers(getAllReceivers(self._crawler.signals.sender, signal))]


def receives_repeated(receiver: _Receiver) -> _Receiver:
    """Mark a receiver of ``request_scheduled`` that :class:`RepeatedRequests` may call directly.

    It must take only the request, and may raise :exc:`~scrapy.exceptions.IgnoreRequest` to refuse
    it.
    """
    setattr(receiver, _RECEIVES_REPEATED, True)
    return receiver


def _tell(
    receiver: Callable[[Request], None], request: Request, event: str, spider: Spider | None
) -> bool:
    """Call *receiver* with *request*, which was *event*; return whether it refuses that."""
    try:
        receiver(request)
    except IgnoreRequest:
        return True
    except Exception:  # As the signal: it ends no crawl.
        logger.exception(
            "Error caught when %(request)s was %(event)s",
            {"request": request, "event": event},
            extra={"spider": spider},
        )
    return False


def _drops_none(request: Request) -> bool:
    del request
    return False


def _nothing() -> None:
    pass


def _asks_filter_alone(scheduler: type) -> bool:
    """Tell whether only the duplicate filter can keep a request from *scheduler*."""
    return getattr(scheduler, "enqueue_request", None) is Scheduler.enqueue_request


def _is_of_offsite(receiver: Any) -> bool:
    """Tell whether *receiver* is Scrapy's offsite filter, which requests that were seen passed."""
    return (
        type(getattr(receiver, "__self__", None)) is OffsiteMiddleware
        and receiver.__func__ is OffsiteMiddleware.request_scheduled
    )
