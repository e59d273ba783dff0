"""The downloader middleware, which sees each request that is sent, including redirects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.http import TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import run_in_thread

from scrapy_urlcanon.canonicalizer.parsing import as_fetched
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.origins import answered_by, land, sources_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of
from scrapy_urlcanon.crawl.recovery.failed_downloads import forget_failure, is_made_up
from scrapy_urlcanon.crawl.recovery.page_ends import PageEnds
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.crawl.settings import BROWSER_PAGE_KEY
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


_LONG = 1 << 17
"""Bodies of this many bytes are read in a thread, since that would block the event loop too
long."""


class UrlCanonDownloaderMiddleware:
    """Tells the parts of the plugin which requests are sent, and what becomes of them.

    It sees what the retry and redirect middlewares have decided, and counts redirects that lead to
    the request's own canonical form. Requests that no callback waits for, such as those for
    robots.txt, for files of media pipelines or for second visits, are not pages of the crawl and
    are ignored.

    The add-on puts it closest to the engine:

    >>> from scrapy.settings import Settings
    >>> from scrapy_urlcanon import Addon
    >>> Addon().update_settings(settings := Settings())
    >>> settings["DOWNLOADER_MIDDLEWARES"][UrlCanonDownloaderMiddleware]
    40
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware of *crawler*."""
        return cls(crawler, Crawl.of(crawler))

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._ends = PageEnds()
        self._reads = crawl.reads_pages

    def process_request(self, request: Request) -> Response | None:
        """Note that *request* is sent; return its response if an audit has fetched it before.

        It is counted if it follows a redirect to its own canonical form.
        """
        forget_failure(request)
        if request.callback is NO_CALLBACK:
            return None
        crawl = self._crawl
        if crawl.first_urls.filter_watch:
            crawl.first_urls.filter_watch.look_back()
        if crawl.job:
            crawl.job.begin(request)
        if crawl.software:
            crawl.software.sent(request)
        if crawl.requests:
            crawl.requests.sent(request)
        if crawl.settings.record_start and _is_redirected_start(request):
            record_as_seen(self._crawler, request)
        # A retry passes here again, and must not count twice.
        is_hop = sources_of(request) and "retry_times" not in request.meta
        if is_hop and crawl.fingerprinter and crawl.fingerprinter.is_redirect_to_itself(request):
            Stat.REDIRECT_HOPS.inc(self._crawler)
            # A site may redirect to another form of the URL than the one that the rules make.
            canonical = crawl.canonical_urls.of(request)
            if canonical and as_fetched(canonical, request.url) == request.url:
                Stat.REDIRECT_HOPS_REWRITABLE.inc(self._crawler)
        return crawl.audit.held.take(request) if crawl.audit else None

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Awaitable[Response]:
        """Note the outcome of *request*: no redirect or retry follows *response*.

        Long bodies are first read in another thread.

        :raises IgnoreRequest: if it was an audit, and the spider has the page.
        """
        if request.callback is NO_CALLBACK:
            return response
        if self._reads and len(response.body) > _LONG and isinstance(response, TextResponse):
            return self._read_and_note(request, response)
        return self._note(request, response)

    async def _read_and_note(self, request: Request, response: Response) -> Response:
        from scrapy_urlcanon.crawl.reading import read_ahead  # noqa: PLC0415

        await run_in_thread(read_ahead, response)
        return self._note(request, response)

    def _note(self, request: Request, response: Response) -> Response:
        """Tell all parts about *response*.

        :raises IgnoreRequest: if it was an audit, and the spider has the page.
        """
        land(request)
        self._ends.note(response)
        crawl = self._crawl
        if crawl.software:
            # Before its links are scheduled, and before its content is stored by fingerprint.
            crawl.software.received(request, response)
        audited = mark_of(request, AUDIT)
        if crawl.order:
            crawl.order.fetched(request, response)
        if is_made_up(request, response):
            # A response that a middleware made up says nothing about the page.
            if audited:
                self._end_audit(request, None)
            return response
        # Later fetches of one audit repeat pages that were recorded before.
        if crawl.recorder and (audited is None or audited["number"] == 1):
            crawl.recorder.record(request, response)
        if audited:
            self._end_audit(request, response)
            return response
        asked = crawl.requests.as_asked_for(request, response) if crawl.requests else request
        if crawl.contents:
            # From now on audits compare with the URL and the content of this response.
            crawl.contents.note(asked, response)
        if crawl.audit:
            crawl.audit.note(asked, response)
        if (url := answered_by(request, response)) != request.url:
            self._note_answered(request, url)
        return response

    def _note_answered(self, request: Request, url: str) -> None:
        """Report to job and audit that *request* got the cached response of another *url*."""
        crawl = self._crawl
        if crawl.job:
            crawl.job.answered(request, url)
        if crawl.audit and crawl.dropped:
            crawl.audit.answered(crawl.dropped.replaced(request, url))

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that *request* failed for good.

        :raises IgnoreRequest: if it was an audit, which the spider must not hear of.
        """
        if request.callback is NO_CALLBACK:
            return
        land(request)
        crawl = self._crawl
        if crawl.order:
            crawl.order.failed(request, exception)
        if crawl.audit and mark_of(request, AUDIT):
            self._end_audit(request, None)
        else:
            if crawl.requests:
                crawl.requests.failed(request)
            if crawl.job and request.errback is None:
                crawl.job.done(request, fetched=False)

    def _end_audit(self, request: Request, response: Response | None) -> None:
        crawl = self._crawl
        if crawl.audit and not crawl.audit.cases.fetched(request, response):
            if crawl.job:
                crawl.job.done(request, fetched=False)
            # The spider did not ask for it, so its errback must not be called.
            request.errback = None
            if BROWSER_PAGE_KEY in request.meta:
                from scrapy_urlcanon.crawl.checks.browser_pages import close_page  # noqa: PLC0415

                close_page(request)
            raise IgnoreRequest("The duplicate was audited, and the page is known")


def _is_redirected_start(request: Request) -> bool:
    """Tell whether *request* was redirected from a start request, which the filter never saw."""
    is_start = request.dont_filter and "is_start_request" in request.meta
    return is_start and bool(sources_of(request))
