"""The downloader middleware: sees every request that is fetched, redirects among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of
from scrapy_urlcanon.crawl.seen import record_as_seen
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.checks.audit import Audit


class UrlCanonDownloaderMiddleware:
    """Tells the parts of the plugin which requests are sent, and what becomes of them.

    It sees what the retry and redirect middlewares have decided on. And it counts the redirects
    that lead a request to its own canonical form.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        return cls(crawler, Crawl.of(crawler))

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self._crawler = crawler
        self._fingerprinter = crawl.fingerprinter
        self._first_urls = crawl.first_urls
        self._stats = crawl.stats
        self._recorder = crawl.recorder
        self._requests = crawl.requests
        self._contents = crawl.contents
        self._audit = crawl.audit
        self._job = crawl.job
        self._records_start = crawl.settings.record_start

    def process_request(self, request: Request) -> None:
        """Note that *request* is on its way.

        It is counted where it follows a redirect to its own canonical form.
        """
        if self._first_urls.question:
            self._first_urls.question.look_back()
        if self._job:
            self._job.begin(request)
        if self._requests:
            self._requests.sent(request)
        if self._records_start and _is_redirected_start(request):
            record_as_seen(self._crawler, request)
        # A retry comes here again.
        if "redirect_urls" not in request.meta or "retry_times" in request.meta:
            return
        if self._fingerprinter and self._fingerprinter.is_redirect_to_itself(request):
            self._stats.inc(Stat.REDIRECT_HOPS)

    def process_response(self, request: Request, response: Response) -> Response:
        """Note what became of *request*: no redirect and no retry follows *response*.

        :raises IgnoreRequest: if it was an audit and the spider has that page.
        """
        audited = mark_of(request, AUDIT)
        # What is fetched again to be compared was recorded when it was fetched first.
        if self._recorder and (audited is None or audited["number"] == 1):
            self._recorder.record(request, response)
        if self._audit:
            if audited:
                self._end_audit(self._audit, request, response)
                return response
            self._audit.note(request, response)
        if self._contents:
            self._contents.note(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that *request* failed for good.

        :raises IgnoreRequest: if it was an audit, which is not the spider's business.
        """
        del exception
        if self._audit and mark_of(request, AUDIT):
            self._end_audit(self._audit, request, None)
        else:
            if self._requests:
                self._requests.failed(request)
            if self._job and request.errback is None:
                self._job.done(request, fetched=False)

    def _end_audit(self, audit: Audit, request: Request, response: Response | None) -> None:
        if audit.is_known(request, response):
            if self._job:
                self._job.done(request, fetched=True)
            # The spider did not ask for it: the errback is not to hear of it.
            request.errback = None
            raise IgnoreRequest("The duplicate was audited, and the page is known")


def _is_redirected_start(request: Request) -> bool:
    """Tell whether a start request, which the dupefilter never saw, led here."""
    meta = request.meta
    return request.dont_filter and "redirect_urls" in meta and "is_start_request" in meta
