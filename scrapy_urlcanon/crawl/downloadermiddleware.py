"""The downloader middleware: sees every request that is fetched, redirects among them."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.python import global_object_name

from scrapy_urlcanon.crawl.clean_param import DeclaredRules
from scrapy_urlcanon.crawl.dupefilter import record
from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
from scrapy_urlcanon.crawl.mark import AUDIT, mark_of
from scrapy_urlcanon.crawl.record.path import record_template
from scrapy_urlcanon.crawl.recovery.representatives import Representatives
from scrapy_urlcanon.crawl.recovery.rescue import Rescue
from scrapy_urlcanon.crawl.safeguards import Safeguards
from scrapy_urlcanon.crawl.skip import SkippedRequests
from scrapy_urlcanon.crawl.state import CrawlState

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.checks.audit import Audit
    from scrapy_urlcanon.crawl.checks.contents import PageContents
    from scrapy_urlcanon.crawl.record.recorder import Recorder

logger = logging.getLogger(__name__)


class UrlCanonDownloaderMiddleware:
    """Knows what became of a request, after the retry and redirect middlewares decided.

    It counts the redirects that lead a request to its own canonical form, and warns
    where the fingerprinter in use is another one than ours.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.spider_opened, signals.spider_opened)
        return middleware

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = CrawlState.of(crawler)
        self._declared = DeclaredRules(crawler)
        # Signals hold their receivers weakly.
        self._skipped = SkippedRequests(crawler, self._state)
        self._rescue: Rescue | None = None
        self._audit: Audit | None = None
        # What few crawls use is imported by them: all would wait for it.
        self._recorder: Recorder | None = None
        if record_template(crawler.settings) is not None:
            from scrapy_urlcanon.crawl.record.recorder import Recorder  # noqa: PLC0415

            self._recorder = Recorder.of(crawler)
        self._representatives: Representatives | None = None
        self._contents: PageContents | None = None
        safeguards = Safeguards.load(crawler.settings)
        self._records_start = safeguards.record_start
        fingerprinter = self._state.fingerprinter
        recovers = self._state.is_job and safeguards.job_journal
        if recovers:
            from scrapy_urlcanon.crawl.recovery.job import JobRecovery  # noqa: PLC0415

            recovers = JobRecovery.is_possible(crawler.settings)
        compares = safeguards.audit or safeguards.declared_canonical
        if fingerprinter and (safeguards.rescue or compares or recovers):
            known = Representatives(fingerprinter, safeguards.remembered_pages)
            self._representatives = known
            if safeguards.rescue:
                limit = safeguards.rescue_max_pending
                self._rescue = Rescue(crawler, fingerprinter, known, limit)
            if compares:
                self._compare(fingerprinter, known, safeguards)
            if recovers:
                self._state.recovery = JobRecovery(crawler, fingerprinter, known, self._rescue)

    def _compare(
        self, fingerprinter: RequestFingerprinter, known: Representatives, safeguards: Safeguards
    ) -> None:
        """Have the contents of pages compared, to see which are one."""
        from scrapy_urlcanon.crawl.checks.contents import PageContents  # noqa: PLC0415

        max_pages, max_size = safeguards.audit_max_pages, safeguards.audit_max_size
        self._contents = PageContents(known, max_pages, max_size)
        common = (self._crawler, self._state, fingerprinter, self._contents, safeguards)
        if safeguards.audit:
            from scrapy_urlcanon.crawl.checks.audit import Audit  # noqa: PLC0415

            self._audit = Audit(*common)
            if self._recorder:
                self._audit.listeners.append(self._recorder.audited)
        if safeguards.declared_canonical:
            from scrapy_urlcanon.crawl.checks.declared_canonicals import (  # noqa: PLC0415
                DeclaredCanonicalPages,
            )

            declared_canonicals = DeclaredCanonicalPages(*common, audit=self._audit)
            self._state.declared_canonicals = declared_canonicals

    def spider_opened(self, spider: Spider) -> None:
        """Warn where another fingerprinter decides what a duplicate is; resume a job."""
        if self._state.recovery:
            self._state.recovery.resume()
        in_use = type(self._crawler.request_fingerprinter)
        if not issubclass(in_use, RequestFingerprinter):
            logger.warning(
                "Requests are fingerprinted by %(in_use)s, so the canonicalization rules may "
                "have no effect. Set REQUEST_FINGERPRINTER_CLASS to "
                "scrapy_urlcanon.RequestFingerprinter, or, if another add-on replaced it, give "
                "scrapy_urlcanon.Addon a higher number in ADDONS than that one has.",
                {"in_use": global_object_name(in_use)},
                extra={"spider": spider},
            )

    def process_request(self, request: Request) -> None:
        """Note that *request* is on its way.

        It is counted where it follows a redirect to its own canonical form.
        """
        if self._state.recovery:
            self._state.recovery.begin(request)
        if self._representatives and not mark_of(request, AUDIT):
            self._representatives.begin(request)
        if self._records_start and _is_redirected_start(request):
            record(self._crawler, request)
        # A retry comes here again.
        if "redirect_urls" not in request.meta or "retry_times" in request.meta:
            return
        fingerprinter = self._state.fingerprinter
        if fingerprinter and fingerprinter.is_redirect_to_itself(request):
            self._crawler.stats.inc_value("urlcanon/redirect_hops")

    def process_response(self, request: Request, response: Response) -> Response:
        """Note what became of *request*: no redirect and no retry follows *response*.

        :raises IgnoreRequest: if it was an audit and the spider has that page.
        """
        if self._recorder:
            self._recorder.record(request, response)
        if self._audit:
            if mark_of(request, AUDIT):
                self._end_audit(self._audit, request, response)
                return response
            self._audit.note(request, response)
        if self._contents:
            self._contents.note(request, response)
        self._finish(request, fetched=response.status < HTTPStatus.BAD_REQUEST)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that *request* failed for good.

        :raises IgnoreRequest: if it was an audit, which is not the spider's business.
        """
        del exception
        if self._audit and mark_of(request, AUDIT):
            self._end_audit(self._audit, request, None)
        else:
            self._finish(request, fetched=False)
            if self._state.recovery and request.errback is None:
                self._state.recovery.done(request, fetched=False)

    def _finish(self, request: Request, *, fetched: bool) -> None:
        if self._rescue and not fetched:
            self._rescue.add_original(request)
        if self._representatives:
            self._representatives.finish(request, fetched=fetched)

    def _end_audit(self, audit: Audit, request: Request, response: Response | None) -> None:
        if audit.is_known(request, response):
            if self._state.recovery:
                self._state.recovery.done(request, fetched=True)
            # The spider did not ask for it: the errback is not to hear of it.
            request.errback = None
            raise IgnoreRequest("The duplicate was audited, and the page is known")


def _is_redirected_start(request: Request) -> bool:
    """Tell whether a start request, which the dupefilter never saw, led here."""
    meta = request.meta
    return request.dont_filter and "redirect_urls" in meta and "is_start_request" in meta
