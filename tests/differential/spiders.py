"""The spiders of the two crawls, the middlewares of their user, and a pipeline for files."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import IgnoreRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.pipelines.files import FilesPipeline
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.request import RequestFingerprinter, fingerprint

from differential.case import (
    CALLBACKS,
    Answer,
    Case,
    Interference,
    Link,
    Page,
    key,
    redirect_target,
)
from differential.server import Server, reply
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.lane import Turn
from scrapy_urlcanon.crawl.order.queue import NoveltyPriorityQueue

if TYPE_CHECKING:
    from scrapy.http import Response

    from differential.crawling import Got

_NAME = re.compile(rb'<meta name="page" content="([^"]+)">')
# What would make a request depend on how its page was reached, without the plugin too.
_NOT_PASSED_ON = {
    "cached_response",
    "depth",
    "download_slot",
    "handle_httpstatus_list",
    "is_start_request",
    "origin",
    "mirror",
    "redirect_times",
    "redirect_ttl",
    "retry_times",
    "urlcanon",
}


def shown(response: Response) -> str | None:
    """Return the identity of the page that *response* shows."""
    found = _NAME.search(response.body)
    return found[1].decode() if found else None


class Taking:
    """Notes what the callbacks get, and makes the requests of the case."""

    def __init__(self, case: Case, server: Server, got: Got, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.case = case
        self.server = server
        self.got = got
        if case.handled:
            self.handle_httpstatus_list = list(case.handled)
        if case.allowed_domains:
            self.allowed_domains = list(case.allowed_domains)

    async def start(self):
        """Yield the start requests; they are filtered only where the case says so."""
        for link in self.case.start:
            yield self.request(link)

    def request(self, link: Link, response: Response | None = None) -> Request:
        """Return the request that *link*, on the page of *response*, asks for."""
        meta: dict[str, Any] = {}
        if link.meta and response is not None:
            meta = {k: v for k, v in response.meta.items() if k not in _NOT_PASSED_ON}
        meta["origin"] = (link.callback, link.url)
        if link.mirror:
            meta["mirror"] = link.mirror
        if link.rules is not None:
            meta["urlcanon"] = link.rules
        return Request(
            link.url,
            None if link.callback == "start" else self.callback(link.callback),
            method=link.method,
            body=b"q=1" if link.method == "POST" else b"",
            dont_filter=link.dont_filter,
            priority=link.priority,
            errback=self.failed if link.mirror else None,
            meta=meta,
        )

    def callback(self, name: str) -> Any:
        """Return the callback of this *name*, as the case has them."""
        if "lambdas" in self.case.habits:
            # Each of its own, which a loop would not make.
            lambdas = {
                "parse": lambda response: self.parse(response),  # noqa: PLW0108
                "parse_b": lambda response: self.parse_b(response),  # noqa: PLW0108
                "parse_c": lambda response: self.parse_c(response),  # noqa: PLW0108
            }
            return lambdas[name]
        callback = getattr(self, name)
        return partial(callback) if "partials" in self.case.habits else callback

    def failed(self, failure):
        """Ask for the page at its other URL."""
        request = failure.request
        callback, _ = request.meta["origin"]
        yield self.request(Link(request.meta["mirror"], callback))

    def take(self, response: Response, callback: str) -> Page | None:
        """Note that *callback* got *response*, and return its page."""
        name = shown(response)
        if name is None:
            return None
        self.got.deliver(callback, name, response)
        return self.case.pages.get(name, Page())

    def output(self, response: Response, page: Page):
        """Yield what a callback makes of *page*."""
        for each in self.case.interferences:
            if each.where == "callback" and key(each.url) == key(response.url):
                raise ValueError
        if page.files:
            yield {"file_urls": list(page.files), "page": shown(response)}
        for link in page.links:
            yield self.request(link, response)
        if page.raises:
            raise ValueError


class PlainSpider(Taking, Spider):
    """Has a callback for each kind of page."""

    name = "differential"

    def _parse_as(self, response, callback):
        habits = self.case.habits
        if "follows" in habits and response.status in self.case.handled:
            return self._followed(response, callback)
        if "retries" in habits and shown(response) == "captcha":
            retry = get_retry_request(response.request, spider=self, reason="captcha")
            return [retry] if retry else []
        page = self.take(response, callback)
        if page is None:
            return ()
        if page.inline or "sleeps" in habits:
            return self._with_downloads(response, page)
        return self.output(response, page)

    def _followed(self, response, callback):
        location = response.headers.get("Location", b"").decode()
        target = redirect_target(response.url, Answer(response.status, location))
        if target:
            request = self.request(Link(target, callback), response)
            request.meta["origin"] = response.meta["origin"]
            yield request

    async def _with_downloads(self, response, page):
        for url in page.inline:
            try:
                answer = await self.crawler.engine.download_async(Request(url))
            except Exception:  # noqa: BLE001
                continue
            name = shown(answer)
            if name and answer.status == 200:
                self.got.add("inline", name, url)
        for each in self.output(response, page):
            if "sleeps" in self.case.habits:
                await asyncio.sleep(0.001)
            yield each

    def parse(self, response):
        return self._parse_as(response, "parse")

    def parse_b(self, response):
        return self._parse_as(response, "parse_b")

    def parse_c(self, response):
        return self._parse_as(response, "parse_c")


def _with_origin(request, response):
    del response
    callback = CALLBACKS[request.meta["rule"]]
    request.meta["origin"] = (callback, request.url)
    return request


class RuleSpider(Taking, CrawlSpider):
    """Has a rule for each callback; start pages are looked at by none of them."""

    name = "differential"
    rules = tuple(
        Rule(
            LinkExtractor(restrict_css=f"a.{name}"),
            callback=name,
            follow=True,
            process_request=_with_origin,
        )
        for name in CALLBACKS
    )

    def parse_start_url(self, response):
        return self._items(response, "start")

    def _items(self, response, callback):
        page = self.take(response, callback)
        if page and page.files:
            yield {"file_urls": list(page.files), "page": shown(response)}
        if page and page.raises:
            raise ValueError

    def parse(self, response):
        return self._items(response, "parse")

    def parse_b(self, response):
        return self._items(response, "parse_b")

    def parse_c(self, response):
        return self._items(response, "parse_c")


class Interfering:
    """A downloader middleware of the user; a subclass of it for each priority."""

    priority = 500

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def __init__(self, crawler):
        self._crawler = crawler

    def _find(self, where: str, request: Request) -> Interference | None:
        for each in self._crawler.spider.case.interferences:
            if (
                each.where == where
                and each.priority == self.priority
                and key(each.url) == key(request.url)
            ):
                return each
        return None

    def _do(self, each: Interference, request: Request) -> Any:
        case = self._crawler.spider.case
        if each.action == "ignore":
            raise IgnoreRequest
        if each.action == "raise":
            raise ValueError
        if each.action == "request":
            return request.replace(url=each.other)
        return reply(case, request, None if each.action == "page" else Answer(404))

    def process_request(self, request):
        each = self._find("request", request)
        return self._do(each, request) if each else None

    def process_response(self, request, response):
        each = self._find("response", request)
        return self._do(each, request) if each else response

    def process_exception(self, request, exception):
        del exception
        each = self._find("exception", request)
        return self._do(each, request) if each else None


class Picky:
    """A spider middleware of the user."""

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def __init__(self, crawler):
        interferences = crawler.spider.case.interferences
        self._refused = {key(each.url) for each in interferences if each.where == "input"}
        self._removed = {key(each.url) for each in interferences if each.where == "link"}

    def process_spider_input(self, response):
        if key(response.url) in self._refused:
            raise ValueError

    def process_spider_output(self, response, result):
        del response
        for each in result:
            if self._keeps(each):
                yield each

    async def process_spider_output_async(self, response, result):
        del response
        async for each in result:
            if self._keeps(each):
                yield each

    def _keeps(self, each: Any) -> bool:
        return not isinstance(each, Request) or key(each.url) not in self._removed


class MemoryStore:
    """A store of files that keeps none: each is new."""

    def __init__(self, uri: str) -> None:
        del uri

    def stat_file(self, path, info):
        del path, info
        return {}

    def persist_file(self, path, buf, info, meta=None, headers=None):
        del path, buf, info, meta, headers


class Files(FilesPipeline):
    """Notes which files the items get."""

    STORE_SCHEMES: ClassVar[dict[str, type]] = {
        **FilesPipeline.STORE_SCHEMES,
        "memory": MemoryStore,
    }

    def file_downloaded(self, response, request, info, *, item=None):
        del request, info, item
        return shown(response) or "nothing"

    def item_completed(self, results, item, info):
        del info
        got = self.crawler.spider.got
        for is_there, file in results:
            if is_there:
                got.add(f"item of {item['page']}", file["checksum"], file["url"])
        return item


class UrlFilter(BaseDupeFilter):
    """A duplicate filter of the user, which asks no fingerprinter."""

    def __init__(self):
        self._seen = set()

    @classmethod
    def from_crawler(cls, crawler):
        del crawler
        return cls()

    def request_seen(self, request):
        one = (request.method, key(request.url))
        is_seen = one in self._seen
        self._seen.add(one)
        return is_seen

    def log(self, request, spider):
        del request, spider


class OwnFingerprinter(RequestFingerprinter):
    """A fingerprinter of the user, which looks at a header too."""

    def fingerprint(self, request):
        return fingerprint(request, include_headers=["X-Kind"])


class NoveltyFromTheFirst(NoveltyPriorityQueue):
    """Orders by expected news alone: these sites end before the order would be sure of anything."""

    def __init__(self, crawler: Any, *args: Any, **kwargs: Any) -> None:
        Crawl.of(crawler).ordered.order.turn = lambda _: Turn.BEST
        super().__init__(crawler, *args, **kwargs)
