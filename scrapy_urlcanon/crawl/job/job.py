"""Resumes a job after a kill without losing a page.

Between :class:`.Journal`, which stores what happens to requests, and the parts of the crawl that
know or have to be told: the scheduler, :class:`.PageRequests` and the duplicate filter.
"""

from __future__ import annotations

import logging
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from attrs import define
from scrapy import Request, signals
from scrapy.http import Response
from scrapy.utils.request import request_from_dict

from scrapy_urlcanon.crawl.job.job_queue import JobQueue
from scrapy_urlcanon.crawl.job.journal import FILE, Journal, Kind, Record
from scrapy_urlcanon.crawl.job.last_run import LastRun
from scrapy_urlcanon.crawl.job.replay import Replay
from scrapy_urlcanon.crawl.job.restored_pages import RestoredPages
from scrapy_urlcanon.crawl.job.spider_output import SpiderOutput
from scrapy_urlcanon.crawl.job.written_requests import (
    WrittenRequests,
    data_of,
    digest_of,
    identity_of,
)
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import (
    SKIPPED,
    is_retry,
    is_unfiltered,
    mark_of,
    original_of,
    with_url,
)
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.scheduling.drops import receives_repeated
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.crawl.seen_sets.stored import files_in
from scrapy_urlcanon.crawl.settings import SCRAPY_FILE
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.job.job_rules import JobRules
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.software.parts_of_pages import PartsOfPages

logger = logging.getLogger(__name__)


@define(eq=False, slots=False)
class JobRecovery:
    """Writes the journal of a job, and resumes the job from it.

    Scrapy stores its queue only when a job is stopped in order. A kill loses the queue, while
    ``requests.seen`` still has most of its requests, so that the next run would take pages for
    fetched that were not. So after a kill both are discarded and rebuilt from the journal: requests
    that were done are recorded as seen, and all others are scheduled again.

    The same is done if the rules have changed or an entry was suspended. Then a stored fingerprint
    may be that of another page, and a stored variant may wait for a page to which it no longer
    belongs.

    Nothing is written before the spider is opened, and nothing is scheduled before all other
    receivers of that signal have been called. So a run that fails to start leaves the job as it
    was.

    :param merged: returns the dropped requests that are let through if an entry that merged them
        proves wrong.
    :param records_start: see :class:`.RestoredPages`.
    """

    _crawler: Crawler
    _fingerprints: PageFingerprints
    _requests: PageRequests
    _unwritten: UnwrittenFiles
    _rules: JobRules
    _merged: Callable[[], Iterable[Request]]
    _records_start: bool

    def __attrs_post_init__(self) -> None:
        crawler = self._crawler
        directory = Path(crawler.settings["JOBDIR"])
        self._journal = Journal(directory / FILE)
        self._outputs: dict[ref[Request], SpiderOutput] = {}
        self._outputs_of_responses: WeakKeyDictionary[Response, SpiderOutput] = WeakKeyDictionary()
        # The identity of each request when it came from the scheduler: middlewares add to its meta
        # later.
        self._identities: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        # By request: the URL whose response in the HTTP cache answered it.
        self._answered: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self._replayed: Request | None = None
        self._written = WrittenRequests()
        self._is_resumed = False
        self._request_of = partial(request_from_dict, spider=crawler.spider)
        self._identity = partial(identity_of, spider=crawler.spider)
        self._queue = JobQueue(directory, self._unwritten)
        self._last_run = self._read_last_run(directory)
        self.is_made_anew = self._last_run.is_lost
        """Whether Scrapy's queue and seen-set are rebuilt from the journal."""
        self._replay: Replay | None = None
        self._requests.on_asked.append(self.asked)
        self.parts: PartsOfPages | None = None
        """Holds back requests for parts of pages; these wait again in the next run."""
        crawler.signals.connect(self.engine_started, signals.engine_started)
        crawler.signals.connect(self.request_scheduled, signals.request_scheduled)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_ended, signal)

    def _read_last_run(self, directory: Path) -> LastRun:
        """Read the journal; delete what Scrapy stored in *directory* if it is of no use."""
        # Another crawl may be about to begin, and not have opened the journal yet.
        self._journal.hold()
        try:
            last_run = LastRun(
                self._journal, self._queue, self._fingerprints, self._rules, self._request_of
            )
            if last_run.is_lost:
                # Now, since the scheduler reads them before the spider is opened.
                self._queue.discard()
                for path in (directory / SCRAPY_FILE, *files_in(directory)):
                    path.unlink(missing_ok=True)
        finally:
            # Nothing else would close it if the crawl fails to start.
            self._journal.close()
        return last_run

    def hold(self) -> None:
        """Lock the job against other crawls, before the scheduler reads its queue.

        :raises ConfigurationError: if another crawl has the job.
        """
        self._journal.hold()

    def resume(self) -> None:
        """Restore what earlier runs have done, once the scheduler is open."""
        try:
            self._journal.open(self._last_run.digest)
        except OSError as error:
            self._note_unwritten(error)
        self._queue.guard(scheduler_of(self._crawler))
        pages = RestoredPages(self._fingerprints, self._requests, records_start=self._records_start)
        for record in self._journal:
            pages.take(record)
        if self.is_made_anew:
            self._replay = Replay(
                self._journal, self._request_of, self._identity, self._crawler.spider
            )
            # First, before anything is scheduled that may be a variant of one of these.
            for request in self._replay.recorded():
                record_as_seen(self._crawler, request)
        for page, url in (pages.rescued | pages.answered).items():
            # The first URL of the page failed or was not sent.
            self._fingerprints.first_urls.know(page, url)

    def engine_started(self) -> None:
        """Schedule what the last run left, before the first start request.

        Not in ``spider_opened``, since middlewares may not be ready for requests then: in Scrapy
        2.15 ``OffsiteMiddleware`` receives that signal after this class.
        """
        if self._replay:
            self._schedule_undone(self._replay)
            self._replay = None
        else:
            self._restore_waiting()
        self._is_resumed = True

    @receives_repeated
    def request_scheduled(self, request: Request) -> None:
        """Write that *request* goes to the scheduler, unless the journal says so already."""
        identity = b""
        if is_retry(request) and ref(request) in self._outputs:
            # A callback made this retry, and its page is done independently of the request that it
            # repeats.
            identity = self._identity(request)
        if request is self._replayed:
            return
        is_new = self._written.note(request, self._fingerprints.fingerprint(request))
        if is_new and not self._add_request(Kind.SCHEDULED, request, identity):
            # It was not written, so the response that it came from must not count as done: the
            # callback has to yield it again in the next run.
            self._written.forget()
            return
        output = self._outputs.pop(ref(request), None)
        if output:
            output.one_ended()

    def output_of(self, response: Response, request: Request) -> SpiderOutput:
        """Return the counter of the spider's output for *response* to *request*.

        It is the same for output that a middleware makes from an exception of the callback.
        """

        def done() -> None:
            # Asked only now, since a middleware may have handled an exception of the callback.
            self.done(request, fetched=self._requests.is_delivered(request))

        output = self._outputs_of_responses.get(response)
        if output is None or not output.goes_on():
            output = self._outputs_of_responses[response] = SpiderOutput(self._outputs, done)
        return output

    def item_ended(self, response: object) -> None:
        """Note that an item of *response* left the pipelines: scraped, dropped or failed."""
        if isinstance(response, Response) and response in self._outputs_of_responses:
            self._outputs_of_responses[response].one_ended()

    def begin(self, request: Request) -> None:
        """Write that *request* is sent; count it if the last run had sent it too."""
        fingerprint = self._fingerprints.fingerprint(request)
        begun_before = self._last_run.begun
        if fingerprint in begun_before and "retry_times" not in request.meta:
            begun_before.remove(fingerprint)
            Stat.JOB_FETCHED_TWICE.inc(self._crawler)
        if is_unfiltered(request):
            self._identities[request] = self._identity(request)
        self._add(Record(Kind.BEGUN, fingerprint))

    def answered(self, request: Request, url: str) -> None:
        """Write that the HTTP cache answered *request* with the stored response of *url*.

        If the rule that merged the two is turned off later, the page of *request* was not had.
        """
        self._answered[request] = url
        if not is_unfiltered(request):
            self._add_request(Kind.ANSWERED, with_url(request, url))

    def asked(self, page: bytes, callback: str, step: tuple[bytes, str]) -> None:
        """Write that *callback* asks for *page* by *step*, another page and callback."""
        self._add(Record(Kind.ASKED, step[0], page, callback, step[1].encode()))

    def done(self, request: Request, *, fetched: bool) -> None:
        """Write that *request* and all that its callback yielded are done.

        :param fetched: whether the callback got content.
        """
        kind = Kind.FETCHED if fetched else Kind.FAILED
        if fetched and self._requests.got_no_success(request):
            kind = Kind.LED
        fingerprint = self._fingerprints.fingerprint(request)
        callback = callback_of(request, self._crawler.spider)
        of_audit = self._requests.passed_on.fingerprint_of(request)
        if of_audit:
            # Only with the fingerprint of the audit: this is not the outcome of a request for the
            # page, and the identity would be that of such a request.
            self._add(Record(kind, of_audit, b"", callback))
            return
        identity = b""
        if is_unfiltered(request):
            identity = self._identities.get(request) or self._identity(request)
        page = self._requests.pages.own(request)
        digest, url = b"", self._answered.get(request, request.url)
        if fingerprint == self._fingerprints.page(request):
            digest = self._digest(request, url)
        if identity and url != request.url:
            # Together with the outcome, since this request brought nothing of its own.
            self._add_request(Kind.ANSWERED, with_url(request, url), identity)
        if page == fingerprint:
            page = b""
        self._add(Record(kind, fingerprint, page, callback, identity, digest=digest))
        sources = self._requests.pages.redirected_to(request)
        for url in sources_of(request):
            source = self._fingerprints.page(request, url)
            if source and source != fingerprint:
                identity = self._identity(request, url=url) if is_unfiltered(request) else b""
                of_source = Kind.LED if fetched and not sources[source] else kind
                digest = self._digest(request, url)
                self._add(Record(of_source, source, b"", callback, identity, digest=digest))

    def spider_closed(self, spider: Spider) -> None:
        """Write the requests that wait, and that the run ended in order."""
        del spider
        held = self.parts.waiting if self.parts else ()
        for request in chain(self._requests.lives.waiting, held):
            self._add_request(Kind.WAITING, request)
        for request in self._merged():
            self._add_request(Kind.MERGED, request)
        # If this run failed to start, the queue lacks what the last run left.
        if self._is_resumed and self._queue.is_stored():
            self._add(Record(Kind.CLOSED))
        # A start request that is made only now would open the journal again.
        self._crawler.signals.disconnect(self.request_scheduled, signals.request_scheduled)
        self._journal.close()

    # Writing.

    @staticmethod
    def _digest(request: Request, url: str) -> bytes:
        return digest_of(url, request.method, request.body)

    def _add_request(self, kind: Kind, request: Request, identity: bytes = b"") -> bool:
        try:
            data = data_of(request, self._crawler.spider)
            fingerprint = self._fingerprints.fingerprint(request)
            return self._add(Record(kind, fingerprint, identity=identity, request=data))
        except ValueError:
            # Scrapy keeps such a request in memory, and logs that.
            Stat.JOB_UNSERIALIZABLE.inc(self._crawler)
            return False

    def _add(self, record: Record) -> bool:
        """Write *record*; return whether it could be written."""
        try:
            self._journal.add(record)
        except OSError as error:
            self._note_unwritten(error)
            return False
        return True

    def _note_unwritten(self, error: OSError) -> None:
        consequence = "The crawl goes on. If it is killed, more is fetched again."
        self._unwritten.note(self._journal.path, error, consequence)

    # Reading.

    def _schedule_undone(self, replay: Replay) -> None:
        """Schedule the requests that were not done when the last run ended."""
        again, rewritten = set(), []
        for request in replay.undone():
            again.add(self._fingerprints.fingerprint(request))
            self._schedule_again(request)
            if original_of(request) is not request:
                rewritten.append(request)
        for request in replay.rewritten:
            # The run may have been killed after the canonical URL failed, but before the linked URL
            # was fetched instead.
            self._requests.offer_original(request)
        # In the order of the journal, as the first request with a fingerprint is the one fetched.
        for request in (*rewritten, *replay.rewritten):
            self._schedule_linked(request)
        Stat.JOB_RECOVERED.set(self._crawler, len(again))
        logger.warning(
            "The %(what)s. %(done)d of its requests were done; %(again)d are scheduled again.",
            {
                "what": "job in JOBDIR was killed, or could not store all of its queue"
                if self._last_run.was_killed
                else "queue of the job in JOBDIR is made anew",
                "done": replay.done,
                "again": len(again),
            },
            extra={"spider": self._crawler.spider},
        )

    def _restore_waiting(self) -> None:
        """Let the variants wait again that waited when the last run ended."""
        waiting: list[tuple[Kind, dict[str, Any]]] = []
        for entry in self._journal:
            if entry.kind is Kind.OPENED:
                waiting.clear()
            elif entry.kind in {Kind.WAITING, Kind.MERGED} and entry.request:
                waiting.append((entry.kind, entry.request))
        for kind, data in waiting:
            try:
                request = self._request_of(data)
            except Exception:
                logger.exception(
                    "A request that waited for another one cannot be made again",
                    extra={"spider": self._crawler.spider},
                )
                continue
            if kind is Kind.MERGED:
                # It will be dropped again, so that all listeners are told as in the last run.
                self._schedule_again(request)
            elif not (self.parts and self.parts.restore(request)):
                self._requests.offer(request)

    def _schedule_linked(self, request: Request) -> None:
        """Schedule the URL that *request* was rewritten from, if it was.

        If it still belongs to the same page it is dropped, and the audit is told. Under the present
        rules it may belong to another page.
        """
        original = original_of(request)
        is_of_place = mark_of(original, SKIPPED) is not None
        if original is not request and not is_of_place and not is_unfiltered(request):
            # Not by ``_schedule_again``, since the journal has no record of it yet.
            self._crawler.engine.crawl(original)

    def _schedule_again(self, request: Request) -> None:
        """Schedule *request* without writing a record, since the journal has one."""
        self._replayed = request
        self._crawler.engine.crawl(request)
        self._replayed = None
