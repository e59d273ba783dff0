"""Resumes a job after a kill without losing a page."""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of
from scrapy_urlcanon.crawl.recovery.journal import Journal, Kind, Record
from scrapy_urlcanon.crawl.recovery.page_requests import callback_of
from scrapy_urlcanon.crawl.seen import record_as_seen
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)

FILE = "urlcanon.journal"
_EMPTY: tuple[object, ...] = (None, b"", [], {}, 0, False)


class SpiderOutput:
    """Knows when all requests that the spider made of one response are scheduled.

    That is later than the end of the callback: the scraper takes all that the spider yields
    and then gives it to the engine (``Scraper.handle_spider_output_async``).
    """

    def __init__(self, recovery: JobRecovery, request: Request, *, fetched: bool) -> None:
        self._recovery = recovery
        self._request = request
        self._fetched = fetched
        # One more than there are requests, until the end.
        self._open = 1

    def add(self, each: object) -> None:
        """Note a request or an item that goes to the engine."""
        if isinstance(each, Request):
            self._open += 1
            self._recovery.expect(each, self)

    def end(self) -> None:
        """Note that there is no more."""
        self.scheduled()

    def scheduled(self) -> None:
        """Note that one of the requests is scheduled."""
        self._open -= 1
        if not self._open:
            self._recovery.done(self._request, fetched=self._fetched)


class JobRecovery:
    """Writes the journal of a job, and takes the job up again where it ended.

    Scrapy stores where it stands when a job is stopped in order. A kill loses its queue,
    whose state is written at the end, while ``requests.seen`` still names most of what
    was in it: the next run takes those pages for fetched. After a kill both are discarded
    here, and made anew from the journal: what was done is recorded as seen, and all else
    is scheduled again.
    """

    def __init__(
        self,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        requests: PageRequests,
        stats: CrawlStats,
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._requests = requests
        self._stats = stats
        self._directory = Path(crawler.settings["JOBDIR"])
        self._journal = Journal(self._directory / FILE)
        self._begun_before: set[bytes] = set()
        self._outputs: WeakKeyDictionary[Request, SpiderOutput] = WeakKeyDictionary()
        self._is_replaying = False
        self._was_killed = self._read()
        if self._was_killed:
            shutil.rmtree(self._directory / "requests.queue", ignore_errors=True)
            (self._directory / "requests.seen").unlink(missing_ok=True)
        self._journal.open().add(Record(Kind.OPENED))
        crawler.signals.connect(self.request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @staticmethod
    def is_possible(settings: BaseSettings) -> bool:
        """Tell whether it is Scrapy's own scheduler that is to be restored.

        One that stores elsewhere, as that of scrapy-redis, outlives a kill by itself. And a
        job that began without a journal has no record of what its queue holds.
        """
        directory = Path(settings["JOBDIR"])
        begins = not (directory / "requests.seen").exists()
        return issubclass(load_object(settings["SCHEDULER"]), Scheduler) and (
            begins or (directory / FILE).exists()
        )

    def resume(self) -> None:
        """Schedule what the last run left; the spider has to be open."""
        self._is_replaying = True
        try:
            if self._was_killed:
                self._replay()
            else:
                self._restore_waiting()
        finally:
            self._is_replaying = False

    def request_scheduled(self, request: Request) -> None:
        """Write down that *request* goes to the scheduler."""
        if self._is_replaying or not self._add_request(Kind.SCHEDULED, request):
            # What cannot be written down has to be yielded again: its response is not done.
            return
        output = self._outputs.pop(request, None)
        if output:
            output.scheduled()

    def output_of(self, request: Request, *, fetched: bool) -> SpiderOutput:
        """Return what is to be told of the spider's output for *request*."""
        return SpiderOutput(self, request, fetched=fetched)

    def expect(self, request: Request, output: SpiderOutput) -> None:
        """Tell *output* when *request* is scheduled."""
        self._outputs[request] = output

    def begin(self, request: Request) -> None:
        """Write down that *request* is sent, and count it if one before it was."""
        fingerprint = self._fingerprints.fingerprint(request)
        if fingerprint in self._begun_before and "retry_times" not in request.meta:
            self._begun_before.remove(fingerprint)
            self._stats.inc(Stat.JOB_FETCHED_TWICE)
        self._journal.add(Record(Kind.BEGUN, fingerprint))

    def done(self, request: Request, *, fetched: bool) -> None:
        """Write down that nothing more comes of *request*."""
        kind = Kind.FETCHED if fetched else Kind.FAILED
        fingerprint = self._fingerprints.fingerprint(request)
        page = self._requests.page(request) or b""
        callback = callback_of(request, self._crawler.spider)
        self._journal.add(Record(kind, fingerprint, b"" if page == fingerprint else page, callback))
        for source in self._requests.redirected_to(request):
            if source != fingerprint:
                self._journal.add(Record(kind, source, callback=callback))

    def spider_closed(self, spider: Spider) -> None:
        """Write down what waits, and that the run ended in order."""
        del spider
        for variant in self._requests.waiting:
            self._add_request(Kind.WAITING, variant)
        self._journal.add(Record(Kind.CLOSED))
        self._journal.close()

    def _add_request(self, kind: Kind, request: Request) -> bool:
        try:
            data = request.to_dict(spider=self._crawler.spider)
            fingerprint = self._fingerprints.fingerprint(request)
            self._journal.add(Record(kind, fingerprint, request=_without_empty(data)))
        except Exception:  # noqa: BLE001 - as many as there are things that cannot be pickled
            # Scrapy keeps such a request in memory, and says so.
            self._stats.inc(Stat.JOB_UNSERIALIZABLE)
            return False
        return True

    def _read(self) -> bool:
        """Tell whether the last run was killed, and note what it had begun."""
        last = None
        for entry in self._journal:
            last = entry.kind
            if entry.kind is Kind.BEGUN:
                self._begun_before.add(entry.fingerprint)
        return last not in {None, Kind.CLOSED}

    def _settle(self) -> Counter[bytes]:
        """Restore the outcomes of earlier runs, and return how often each request was done."""
        done: Counter[bytes] = Counter()
        for entry in self._journal:
            if entry.kind in {Kind.FETCHED, Kind.FAILED}:
                done[entry.fingerprint] += 1
                fetched = entry.kind is Kind.FETCHED
                page = entry.page or entry.fingerprint
                self._requests.restore(page, entry.callback, fetched=fetched)
        return done

    def _replay(self) -> None:
        done = self._settle()
        total = len(done)
        # All that was done is seen, before anything can be taken for a variant of it.
        first_urls: dict[bytes, str] = {}
        for entry, request in self._scheduled():
            fingerprint = entry.fingerprint
            if not request.dont_filter and done[fingerprint] and fingerprint not in first_urls:
                done[fingerprint] -= 1
                first_urls[fingerprint] = request.url
                record_as_seen(self._crawler, request)
        again: set[bytes] = set()
        for entry, request in self._scheduled():
            fingerprint = entry.fingerprint
            if first_urls.get(fingerprint) == request.url and not request.dont_filter:
                continue
            if request.dont_filter and done[fingerprint]:
                done[fingerprint] -= 1
                continue
            is_retry = "retry_times" in request.meta
            if is_retry and (fingerprint in first_urls or fingerprint in again):
                continue
            # An audit has lost what it was to be compared with.
            if mark_of(request, AUDIT):
                continue
            again.add(fingerprint)
            self._crawler.engine.crawl(request)
        self._stats.set(Stat.JOB_RECOVERED, len(again))
        logger.warning(
            "The job in JOBDIR was killed. %(done)d of its requests were done; %(again)d are "
            "scheduled again.",
            {"done": total, "again": len(again)},
            extra={"spider": self._crawler.spider},
        )

    def _scheduled(self) -> Iterator[tuple[Record, Request]]:
        for entry in self._journal:
            if entry.kind is Kind.SCHEDULED:
                yield entry, self._request(entry)

    def _restore_waiting(self) -> None:
        self._settle()
        waiting: list[Record] = []
        last_run: list[Record] = []
        for entry in self._journal:
            if entry.kind is Kind.OPENED:
                # The last one is that of this run.
                last_run, waiting = waiting, []
            elif entry.kind is Kind.WAITING:
                waiting.append(entry)
        for entry in last_run:
            self._requests.offer(self._request(entry))

    def _request(self, entry: Record) -> Request:
        data: dict[str, Any] = entry.request or {}
        return request_from_dict(data, spider=self._crawler.spider)


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in _EMPTY}
