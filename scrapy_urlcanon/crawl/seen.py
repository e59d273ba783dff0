"""What the scheduler's duplicate filter has seen, and what it drops: read, changed, heard of."""

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

from scrapy_urlcanon.crawl.settings import DROP_KEY, RECORD_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_Receiver = TypeVar("_Receiver", bound="Callable[..., None]")
_TOLD = "is_told_of_repeated"
FILTER_KEYS = frozenset({DROP_KEY, RECORD_KEY})
ITEMS_AT_ONCE = 200
"""So many items of a callback Scrapy takes before it comes to anything else, for the default of
``CONCURRENT_ITEMS`` (``utils/asyncio.py``). So many are dropped of one response."""


def record_as_seen(crawler: Crawler, request: Request) -> bool | None:
    """Record *request* in the duplicate filter as if it had been scheduled.

    Return whether it was seen before, and None where the scheduler has no duplicate filter to
    ask.
    """
    dupefilter = dupefilter_of(crawler)
    return None if dupefilter is None else bool(dupefilter.request_seen(request))


def warn_of_no_filter(crawler: Crawler, setting: str) -> None:
    """Say that *setting* has no effect: :func:`record_as_seen` found nothing to record in."""
    logger.warning(
        "%(setting)s has no effect: the scheduler has no dupefilter 'df'.",
        {"setting": setting},
        extra={"spider": crawler.spider},
    )


def obey_meta(crawler: Crawler) -> None:
    """Have the duplicate filter leave alone what a request says is not to be dropped or recorded.

    What is not to be recorded is dropped only where it is known what was seen
    (:func:`seen_fingerprints`).
    """
    dupefilter = dupefilter_of(crawler)
    if dupefilter is None:
        return
    see: Callable[[Request], bool] = dupefilter.request_seen
    seen = seen_fingerprints(dupefilter)

    def request_seen(request: Request) -> bool:
        meta = request.meta
        if FILTER_KEYS.isdisjoint(meta):
            return see(request)
        if meta.get(RECORD_KEY) is not False:
            is_seen = see(request)
        else:
            is_seen = (
                seen is not None and crawler.request_fingerprinter.fingerprint(request) in seen
            )
        return is_seen and meta.get(DROP_KEY) is not False

    dupefilter.request_seen = request_seen


def takes_note_of(crawler: Crawler, request: Request) -> bool:
    """Tell whether the duplicate filter records *request*, if it has not seen it.

    One that the scheduler does not show is not told what it is not to record.
    """
    if request.dont_filter:
        return False
    return request.meta.get(RECORD_KEY) is not False or dupefilter_of(crawler) is None


def hear_of_drops(crawler: Crawler, receiver: Callable[[Request], None]) -> None:
    """Call *receiver* with each request that the scheduler drops; the scheduler has to be open.

    That of Scrapy tells the duplicate filter, and then sends ``request_dropped``. A signal takes
    longer for each receiver than all that is done for a repeated request, and in a crawl nine of
    ten requests are such: the links that all pages have. So it is listened to only where another
    scheduler may drop without a word to its filter.
    """
    dupefilter = dupefilter_of(crawler)
    if dupefilter is None or not _asks_filter_alone(type(scheduler_of(crawler))):

        def request_dropped(request: Request, **_: object) -> None:
            receiver(request)

        # A method the signal would find again, and what arguments it takes, by a detour.
        crawler.signals.connect(request_dropped, signals.request_dropped, weak=False)
        return
    log: Callable[[Request, Spider], None] = dupefilter.log

    def log_and_tell(request: Request, spider: Spider) -> None:
        log(request, spider)
        _tell(receiver, request, "dropped", spider)

    dupefilter.log = log_and_tell


class RepeatedRequests:
    """Drops what the duplicate filter has seen where a callback yields it.

    The scheduler would drop it all the same, and log and count it so. But on its way there each
    request passes the scraper's queue, a worker and two signals (Scrapy 2.19,
    ``core/scraper.py``, ``handle_spider_output_async``; ``core/engine.py``, ``_schedule_request``),
    which takes several times longer than to look whether it was seen; and nine of ten links of a
    crawl were. Where anybody on that way may do anything else with a request, it goes there.

    What is new may be on that way still when what comes after it is dropped, which was seen all the
    same. But the variants of one page are dropped in their order: the first is the first that takes
    its place.

    :param outermost: the spider middleware that drops: none may come between it and the engine.
    """

    def __init__(self, crawler: Crawler, outermost: object) -> None:
        self._crawler = crawler
        self._outermost = outermost

    @staticmethod
    def are_dropped(settings: BaseSettings) -> bool:
        """Tell whether any may be in a crawl with *settings*."""
        return _asks_filter_alone(load_object(settings["SCHEDULER"]))

    def of_response(self) -> Callable[[object], bool]:
        """Return what drops a repeated request that is yielded for one response, and tells so."""
        scheduler = scheduler_of(self._crawler)
        dupefilter = _filter_of(scheduler)
        seen = seen_fingerprints(dupefilter)
        fingerprinter = getattr(dupefilter, "fingerprinter", None)
        if seen is None or fingerprinter is None or not self._is_way_clear(scheduler):
            return _drops_none
        receivers = self._receivers(signals.request_scheduled)
        to_tell = [receiver for receiver in receivers if not _is_of_offsite(receiver)]
        if not all(getattr(receiver, _TOLD, False) for receiver in to_tell):
            return _drops_none
        left = ITEMS_AT_ONCE
        on_its_way: set[bytes] = set()

        def drop(each: Any) -> bool:
            nonlocal left
            if not left or not isinstance(each, Request):
                return False
            if each.dont_filter or not FILTER_KEYS.isdisjoint(each.meta):
                return False
            try:
                fingerprint = fingerprinter.fingerprint(each)
            except Exception:  # noqa: BLE001 - it is raised again, and logged, by the scheduler
                return False
            if fingerprint not in seen or fingerprint in on_its_way:
                on_its_way.add(fingerprint)
                return False
            left -= 1
            # As of the signal, all hear of it, whichever of them refuses it.
            spider = self._crawler.spider
            refusals = [_tell(receiver, each, "scheduled", spider) for receiver in to_tell]
            if not any(refusals):
                dupefilter.log(each, spider)
            return True

        return drop

    def _is_way_clear(self, scheduler: object) -> bool:
        """Tell whether nobody on the way to the duplicate filter takes note of a request."""
        engine = self._crawler.engine
        return (
            type(engine) is ExecutionEngine
            and engine.scraper.spidermw.middlewares[0] is self._outermost
            and _asks_filter_alone(type(scheduler))
            and not self._receivers(signals.request_dropped)
        )

    def _receivers(self, signal: object) -> list[Any]:
        return [*liveReceivers(getAllReceivers(self._crawler.signals.sender, signal))]


def _tell(
    receiver: Callable[[Request], None], request: Request, event: str, spider: Spider | None
) -> bool:
    """Tell *receiver* that *request* was *event*; return whether it refuses that."""
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


def told_of_repeated(receiver: _Receiver) -> _Receiver:
    """Mark a receiver of ``request_scheduled`` that :class:`RepeatedRequests` is to tell itself.

    It takes the request alone, and may raise :exc:`~scrapy.exceptions.IgnoreRequest`, as for the
    engine.
    """
    setattr(receiver, _TOLD, True)
    return receiver


def _drops_none(each: object) -> bool:
    del each
    return False


def _asks_filter_alone(scheduler: type) -> bool:
    """Tell whether nothing but the duplicate filter keeps a request from *scheduler*."""
    return getattr(scheduler, "enqueue_request", None) is Scheduler.enqueue_request


def _is_of_offsite(receiver: Any) -> bool:
    """Tell whether it is Scrapy's that refuses what is off site, as no request is that was seen."""
    return (
        type(getattr(receiver, "__self__", None)) is OffsiteMiddleware
        and receiver.__func__ is OffsiteMiddleware.request_scheduled
    )


def is_local(settings: BaseSettings) -> bool:
    """Tell whether no other process has requests of the crawl: the scheduler is that of Scrapy."""
    # Scrapy takes for a subclass whatever has the methods of one (``BaseSchedulerMeta``).
    return Scheduler in load_object(settings["SCHEDULER"]).__mro__


def dupefilter_of(crawler: Crawler) -> Any:
    """Return the duplicate filter of the scheduler, or None where it shows none."""
    return _filter_of(scheduler_of(crawler))


def _filter_of(scheduler: object) -> Any:
    # That of Scrapy and that of scrapy-redis call it so.
    return getattr(scheduler, "df", None)


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


def _engine_of(crawler: Crawler) -> object:
    try:
        return crawler.engine
    except RuntimeError:
        # Where there is none yet: in the versions after Scrapy 2.19 that is no None.
        return None


def forget_seen(crawler: Crawler, fingerprint: bytes) -> bool:
    """Have the duplicate filter forget *fingerprint*, if it is Scrapy's own or ours.

    Return whether it did: a full disk may keep it from that. What it has written for the next run
    of a job it has still.
    """
    seen: Any = seen_fingerprints(dupefilter_of(crawler))
    if seen is None:
        return False
    seen.discard(fingerprint)
    return fingerprint not in seen


def seen_fingerprints(dupefilter: Any) -> Container[bytes] | None:
    """Return the fingerprints that *dupefilter* has seen, as it goes on.

    None where that is unknown: only Scrapy's own and ours keep them in this process.
    """
    ours: Container[bytes] | None = getattr(dupefilter, "urlcanon_seen", None)
    if ours is not None:
        return ours
    kind = type(dupefilter)
    if (
        not isinstance(dupefilter, RFPDupeFilter)
        or kind.request_seen is not RFPDupeFilter.request_seen
        or kind.request_fingerprint is not RFPDupeFilter.request_fingerprint
    ):
        return None
    attributes = vars(dupefilter)
    if "_fingerprints" in attributes:
        found: Container[bytes] = attributes["_fingerprints"]
        return found
    # Before Scrapy 2.19 they are texts.
    return _Decoded(attributes["fingerprints"]) if "fingerprints" in attributes else None


class _Decoded:
    """Fingerprints that are stored in hexadecimal."""

    def __init__(self, texts: set[str]) -> None:
        self._texts = texts

    def discard(self, fingerprint: bytes) -> None:
        self._texts.discard(fingerprint.hex())

    def __contains__(self, fingerprint: Any) -> bool:
        return fingerprint.hex() in self._texts
