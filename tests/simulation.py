"""A crawl without a network: the plugin's components and Scrapy's dupefilter around a link graph.

All parts that decide which page is reached are real. The engine, the scheduler's queue and the
redirect middleware are reduced to the few lines that matter here, so that a property test can make
thousands of crawls.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse

from scrapy_urlcanon import (
    RequestFingerprinter,
    UrlCanonDownloaderMiddleware,
    UrlCanonSpiderMiddleware,
)
from scrapy_urlcanon.crawl.callbackmiddleware import UrlCanonCallbackMiddleware

MAX_REDIRECTS = 5


class Simulation:
    """Crawls *graph*, a function from a URL to an answer.

    An answer is a tuple: ``("page", name, links)`` or ``("page", name, links, canonical)``,
    ``("redirect", url)`` or ``("error",)``.

    :param lifo: whether the last request is fetched first, as in Scrapy.
    """

    def __init__(self, graph, settings, *, lifo=True):
        self._graph = graph
        self._lifo = lifo
        self.hits = []
        self.pages = []
        self.crawler = Crawler(
            Spider,
            {
                "REQUEST_FINGERPRINTER_CLASS": RequestFingerprinter,
                "EXTENSIONS_BASE": {},
                **settings,
            },
        )
        # As a process does: without a spider nothing is a run, and nothing is audited.
        self.crawler.spider = self.crawler._create_spider("simulated")
        self.crawler._apply_settings()
        self.crawler.engine = self.scraper = self.slot = self._slot = self
        self.active = self.inprogress = set()
        self.close_if_idle = True
        self._dupefilter = RFPDupeFilter.from_crawler(self.crawler)
        self.df = self._dupefilter
        self.scheduler = self
        self._queue = deque()
        self._middleware = UrlCanonDownloaderMiddleware.from_crawler(self.crawler)
        self._spider_middlewares = []
        for kind in (UrlCanonSpiderMiddleware, UrlCanonCallbackMiddleware):
            with suppress(NotConfigured):
                self._spider_middlewares.append(kind.from_crawler(self.crawler))

    def crawl(self, request):
        """Do as ``ExecutionEngine.crawl``."""
        self._send(signals.request_scheduled, request=request)
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._send(signals.request_dropped, request=request)
        else:
            self.crawler.stats.inc_value("scheduler/enqueued")
            self._queue.append(request)

    def has_pending_requests(self):
        """Tell whether anything is scheduled."""
        return bool(self._queue)

    def spider_is_idle(self):
        """Tell whether nothing is left to do."""
        return not self._queue

    def run(self, *urls):
        """Crawl from *urls* until nothing is left to do; return the names of the pages got."""
        self._send(signals.spider_opened)
        for url in urls:
            self.crawl(Request(url))
        while self._queue:
            self._fetch(self._queue.pop() if self._lifo else self._queue.popleft())
            if not self._queue:
                self._send(signals.scheduler_empty)
            if not self._queue:
                self._send(signals.spider_idle)
        self._send(signals.spider_closed, reason="finished")
        return set(self.pages)

    def _send(self, signal, **arguments):
        results = self.crawler.signals.send_catch_log(
            signal, spider=self.crawler.spider, **arguments
        )
        for _, result in results:
            assert not hasattr(result, "getTraceback"), result.getTraceback()

    def _fetch(self, request):
        self._middleware.process_request(request)
        self.hits.append(request.url)
        answer = self._graph(request.url)
        if answer[0] == "redirect":
            sources = [*request.meta.get("redirect_urls", ()), request.url]
            if len(sources) <= MAX_REDIRECTS:
                meta = {**request.meta, "redirect_urls": sources}
                self.crawl(request.replace(url=answer[1], meta=meta))
            # Else as an exception of process_response, which passes all middlewares.
            return
        name, links, *declared = answer[1:] if answer[0] == "page" else (None, ())
        body = "".join(f'<link rel="canonical" href="{url}">' for url in declared)
        body += f"<title>{name}</title>"
        status = 200 if answer[0] == "page" else 404
        response = HtmlResponse(request.url, status=status, body=body.encode(), request=request)
        try:
            self._middleware.process_response(request, response)
        except IgnoreRequest:
            return
        self.active.add(request)
        # The middleware for HTTP errors stands between the two.
        for middleware in self._spider_middlewares[: None if name is not None else 1]:
            middleware.process_spider_input(response)
        if name is not None:
            self.pages.append(name)
            output = map(Request, links)
            for middleware in self._spider_middlewares:
                if getattr(middleware, "process_spider_output", None):
                    output = middleware.process_spider_output(response, output)
            for each in output:
                self.crawl(each)
        self.active.remove(request)
