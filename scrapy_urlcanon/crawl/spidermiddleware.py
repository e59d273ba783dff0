"""The spider middleware nearest to the engine: processes all that callbacks yield."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_urlcanon.canonicalizer.parsing import as_fetched
from scrapy_urlcanon.canonicalizer.patterns import with_parents
from scrapy_urlcanon.canonicalizer.registrable_domain import host_of
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.canonical_urls import names_its_page
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.own_requests import RESCUE, REWRITTEN, leads_off_site, mark_of, rewritten
from scrapy_urlcanon.crawl.scheduling.drops import RepeatedRequests
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen, warn_of_no_filter
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.job.spider_output import SpiderOutput
    from scrapy_urlcanon.crawl.order.worth import Output
    from scrapy_urlcanon.crawl.record.links import LinksOfPage

    _OutputListener: TypeAlias = SpiderOutput | LinksOfPage
    """An object that notes all that a callback yields."""


class UrlCanonSpiderMiddleware(BaseSpiderMiddleware):
    """Replaces URLs by canonical ones where ``URLCANON_REWRITE`` is on; drops repeated requests.

    By default, and on all other sites, the canonical URL is only a key, and the linked URL is
    fetched. If a canonical URL that was fetched fails, the linked one is fetched too.

    Requests that the scheduler would drop as seen are dropped here, which is faster
    (:class:`.RepeatedRequests`).

    It also records start requests as seen (``URLCANON_RECORD_START``), and tells other parts which
    responses the spider has (``URLCANON_DECLARED_CANONICAL``), when its output is scheduled (jobs)
    and which page yielded a request (``URLCANON_REPORT``, ``URLCANON_RECORD``). None of this drops
    a start request, since these have ``dont_filter``.

    The add-on puts it closest to the engine:

    >>> from scrapy.settings import Settings
    >>> from scrapy_urlcanon import Addon
    >>> Addon().update_settings(settings := Settings())
    >>> settings["SPIDER_MIDDLEWARES"][UrlCanonSpiderMiddleware]
    20
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawl = self._crawl = Crawl.of(crawler)
        self._declared_canonicals = crawl.declared_canonicals
        self._requests = crawl.requests
        self._rewrite = crawl.settings.rewrite
        self._records_start = crawl.settings.record_start
        self._linking_pages = crawl.linking_pages
        self._recorded_links = crawl.recorder.links if crawl.recorder else None
        self._forget_page: Callable[[Response], None] | None = None
        if crawl.reads_pages:
            from scrapy_urlcanon.crawl.reading import forget  # noqa: PLC0415 - 5 ms of a start

            self._forget_page = forget
        self._repeated = RepeatedRequests(crawler, self)
        has_output = (
            RepeatedRequests.are_dropped(crawler.settings)
            or self._rewrite
            or self._records_start
            or crawl.job
            or self._declared_canonicals
            or self._linking_pages
            or crawl.order
            or self._recorded_links
        )
        if not has_output and self._requests is None:
            raise NotConfigured
        if not has_output:
            # Without these methods Scrapy does not pass the output through, which would cost more
            # than all else.
            self.process_spider_output = None  # type: ignore[method-assign,assignment]
            self.process_spider_output_async = None  # type: ignore[method-assign,assignment]

    def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Return the processed output of *start*.

        An exception raised here stops the crawl before the scheduler is open. In a receiver of a
        signal it would not.

        :raises ConfigurationError: if another crawl has the job.
        """
        if self._crawl.job:
            self._crawl.job.hold()
        return super().process_start(start)

    def process_spider_input(self, response: Response, spider: Spider | None = None) -> None:
        """Note that *response* goes through the spider middlewares."""
        del spider
        if self._requests:
            self._requests.scraped(response)

    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        """Yield *result*; *response* is done once all its requests are scheduled."""
        del spider
        with self._passing_on(response) as passed_on:
            for each in result:
                processed = passed_on(each)
                if processed is not None:
                    yield processed

    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Yield *result*; *response* is done once all its requests are scheduled."""
        del spider
        with self._passing_on(response) as passed_on:
            async for each in result:
                processed = passed_on(each)
                if processed is not None:
                    yield processed

    @contextmanager
    def _passing_on(self, response: Response | None) -> Iterator[Callable[[Any], Any]]:
        """Yield what passes on each output of *response*; then tell the others that it is whole."""
        outputs = self._begin(response)
        is_dropped, end = self._repeated.of_response()
        try:
            yield self._passed_on(response, *outputs, is_dropped)
        finally:
            end()
        for output in chain(*outputs):
            output.end()
        if self._forget_page and response is not None:
            self._forget_page(response)

    def _begin(self, response: Response | None) -> tuple[list[_OutputListener], list[Output]]:
        """Note that the spider has *response*; return the listeners to its output.

        :return: the listeners to all of it, and those to what is not dropped.
        """
        if self._declared_canonicals and response is not None:
            self._declared_canonicals.delivered(response)
        if response is None or response.request is None:
            return [], []
        of_all: list[_OutputListener | None] = []
        if self._crawl.job:
            of_all.append(self._crawl.job.output_of(response, response.request))
        if self._recorded_links:
            of_all.append(self._recorded_links.output_of(response))
        # Requests that were seen never wait, so the order need not know of them.
        order = self._crawl.order
        of_left = [order.output_of(response)] if order else []
        return [one for one in of_all if one], [one for one in of_left if one]

    def _passed_on(
        self,
        response: Response | None,
        of_all: Sequence[_OutputListener],
        of_left: Sequence[Output],
        is_dropped: Callable[[Request], bool],
    ) -> Callable[[Any], Any]:
        """Return a function that processes one request or item, and returns None to drop it.

        It does what the base class does in generators, each of which would cost time for each
        request.

        :param of_all: the listeners to all output.
        :param of_left: the listeners to output that is not dropped.
        :param is_dropped: drops a repeated request, and returns whether it did.
        """

        def passed_on(each: Any) -> Any:
            is_request = isinstance(each, Request)
            if is_request:
                processed = self.get_processed_request(each, response)
            else:
                processed = self.get_processed_item(each, response)
            if processed is None:
                return None
            for output in of_all:
                output.add(processed)
            if is_request and is_dropped(processed):
                return None
            for ordered in of_left:
                ordered.add(processed)
            return processed

        return passed_on

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, with its canonical URL if that is to be fetched."""
        if self._rewrite:
            request = self._rewritten(request)
        if response is None:
            if self._recorded_links:
                self._recorded_links.started(request)
            # Not without dont_filter: the scheduler records these, and would find it seen.
            if self._records_start and request.dont_filter:
                self._record(request)
            return request
        made = response.request
        if self._requests and (
            # Such a step may bring more of the page, which no link to it does.
            request.dont_filter or request.method != "GET" or not made or made.method != "GET"
        ):
            self._requests.asked_again(request, response)
        if self._declared_canonicals:
            self._declared_canonicals.scheduled(request, response)
        if self._linking_pages:
            self._linking_pages.note(request, response)
        return request

    def _record(self, request: Request) -> None:
        if record_as_seen(self.crawler, request) is None:
            self._records_start = False
            warn_of_no_filter(self.crawler, name_of("record_start"))

    def _rewritten(self, request: Request) -> Request:
        """Return *request* with its canonical URL; only GET and HEAD are rewritten.

        A signed URL is not, since any change would invalidate the signature.
        """
        crawl = self._crawl
        # A copy of a rescue: the canonical URL has failed. A copy of a rewritten request: that URL
        # brought the page.
        is_own = names_its_page(request) or mark_of(request, RESCUE) or mark_of(request, REWRITTEN)
        if is_own or request.method not in {"GET", "HEAD"} or not self._rewrites(request.url):
            return request
        if is_signed(split(request.url).query or ()):
            Stat.REWRITE_SIGNED.inc(self.crawler)
            return request
        canonical = crawl.canonical_urls.of(request)
        url = canonical and as_fetched(canonical, request.url)
        if not url or url == request.url or leads_off_site(request, url, self.crawler.spider):
            return request
        pages = crawl.fingerprinter
        if "#" in request.url and pages and pages.page(request, url) != pages.page(request):
            # The fallback tells its fragment apart, which the canonical URL lacks.
            return request
        Stat.REWRITTEN.inc(self.crawler)
        if crawl.sampling_audit and crawl.dropped:
            # The filter only sees the canonical URL, never a variant.
            crawl.sampling_audit.dropped(crawl.dropped.replaced(request, url))
        again = crawl.dropped is not None and crawl.dropped.counts.is_replaced_again(request.url)
        return rewritten(request, url, **({"again": True} if again else {}))

    def _rewrites(self, url: str) -> bool:
        watch = self._crawl.first_urls.filter_watch
        if watch and not watch.asks:
            # It compares URLs, and would drop one of two requests that become the same.
            return False
        if isinstance(self._rewrite, bool):
            return self._rewrite
        return not self._rewrite.isdisjoint(with_parents(host_of(url)))
