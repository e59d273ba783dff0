"""The spiders of the two crawls, the middlewares of their user, and a pipeline for files."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import FormRequest, Request, Spider, signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import DontCloseSpider
from scrapy.http import JsonRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.pipelines.files import FilesPipeline
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.request import RequestFingerprinter, fingerprint

from differential.case import (
    CALLBACKS,
    Answer,
    Case,
    Link,
    Page,
    identity,
    key,
    redirect_target,
)
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.lane import Turn
from scrapy_urlcanon.crawl.order.queue import NoveltyPriorityQueue

if TYPE_CHECKING:
    from scrapy.http import Response

    from differential.crawling import Got
    from differential.server import Server

_NAME = re.compile(rb'<meta name="page" content="([^"]+)">')
# What would make a request depend on how its page was reached, without the plugin too.
NOT_PASSED_ON = {
    "asked",
    "cached_response",
    "depth",
    "download_slot",
    "handle_httpstatus_list",
    "is_start_request",
    "kind",
    "origin",
    "mirror",
    "redirect_times",
    "redirect_ttl",
    "retry_times",
    "urlcanon",
    "urlcanon_drop",
    "urlcanon_key",
    "urlcanon_record",
}


def shown(response: Response) -> str | None:
    """Return the identity of the page that *response* shows."""
    found = _NAME.search(response.body)
    return found[1].decode() if found else None


class OwnRequest(Request):
    """A request class of the user, with a required argument of its own."""

    attributes = (*Request.attributes, "label")

    def __init__(self, *args: Any, label: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label = label


_KINDS = {
    "": Request,
    "form": FormRequest,
    "json": JsonRequest,
    "own": partial(OwnRequest, label="its own"),
}


class Taking:
    """Records what the callbacks get, and makes the requests of the case."""

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
        """Yield the start requests, which are filtered only if the case says so."""
        links, habits = list(self.case.start), self.case.habits
        if "idles" in habits:
            self.fed = links[1:]
            links = links[:1]
            self.crawler.signals.connect(self.feed, signals.spider_idle)
        for link in links:
            if "starts late" in habits:
                await asyncio.sleep(0.003)
            yield self.request(link)

    def feed(self):
        """Make the next start request."""
        if self.fed:
            self.crawler.engine.crawl(self.request(self.fed.pop(0)))
            raise DontCloseSpider

    def hear(self, request):
        """Receive a dropped *request*, as an extension may."""

    def request(self, link: Link, response: Response | None = None) -> Request:
        """Return the request of *link* on the page of *response*."""
        meta: dict[str, Any] = {}
        if link.meta and response is not None:
            meta = {k: v for k, v in response.meta.items() if k not in NOT_PASSED_ON}
        meta["origin"] = (link.callback, link.url)
        if link.mirror:
            meta["mirror"] = link.mirror
        if link.rules is not None:
            meta["urlcanon"] = link.rules
        if link.own:
            value = identity(link.url) if link.own == "key" else False
            meta[f"urlcanon_{link.own}"] = value
        if link.kind:
            meta["kind"] = link.kind
        if link.arguments:
            meta["asked"] = link.url
        return _KINDS[link.kind](
            link.url,
            None if link.callback == "start" else self.callback(link.callback),
            method=link.method,
            body=b"q=1" if link.method == "POST" else b"",
            dont_filter=link.dont_filter,
            priority=link.priority,
            errback=self.failed if link.mirror else None,
            meta=meta,
            cb_kwargs={"asked": link.url} if link.arguments else None,
        )

    def callback(self, name: str) -> Any:
        """Return the callback *name*, in the form that the case wants."""
        if "lambdas" in self.case.habits:
            # Each of its own, which a loop would not make.
            lambdas = {
                "parse": lambda *args, **named: self.parse(*args, **named),  # noqa: PLW0108
                "parse_b": lambda *args, **named: self.parse_b(*args, **named),  # noqa: PLW0108
                "parse_c": lambda *args, **named: self.parse_c(*args, **named),  # noqa: PLW0108
            }
            return lambdas[name]
        callback = getattr(self, name)
        return partial(callback) if "partials" in self.case.habits else callback

    def failed(self, failure):
        """Request the page under its other URL."""
        request = failure.request
        callback, _ = request.meta["origin"]
        yield self.request(Link(request.meta["mirror"], callback))

    def take(self, response: Response, callback: str) -> Page | None:
        """Note that *callback* got *response*, and return its page."""
        if "listens" in self.case.habits:
            self.crawler.signals.connect(self.hear, signals.request_dropped)
        name = shown(response)
        if name is None:
            return None
        page = self.case.pages.get(name, Page())
        is_cut = not response.body.endswith(b"</html>")
        is_whole = not is_cut and not self.case.raises_at(response.url)
        if page.raises and self.case.spider == "crawl":
            # It follows links behind its callback.
            is_whole = False
        self.got.deliver(callback, name, response, is_whole=is_whole)
        return Page(raises=page.raises) if is_cut else page

    def check(self, response: Response, asked: str | None) -> None:
        """Record what a request lost of its own attributes on its way."""
        request = response.request
        is_own = not isinstance(request, OwnRequest) or request.label == "its own"
        kind = _KINDS[request.meta.get("kind", "")]
        if asked != request.meta.get("asked") or not is_own:
            self.got.errors.append(f"{request} is without what was given with it.")
        if type(request) is not (kind.func if isinstance(kind, partial) else kind):
            self.got.errors.append(f"{request} is a {type(request)}.")

    def output(self, response: Response, page: Page):
        """Yield the output of a callback for *page*."""
        if self.case.raises_at(response.url, "raise"):
            raise ValueError
        if page.files or "items" in self.case.habits:
            yield {"file_urls": list(page.files), "page": shown(response)}
        for number, link in enumerate(page.links):
            if 2 * number >= len(page.links) and self.case.raises_at(response.url, "half"):
                raise ValueError
            yield self.request(link, response)
        if page.raises or self.case.raises_at(response.url, "half"):
            raise ValueError


class PlainSpider(Taking, Spider):
    """Has a callback for each kind of page."""

    name = "differential"

    def _parse_as(self, response, callback, asked):
        self.check(response, asked)
        habits = self.case.habits
        if "follows" in habits and response.status in self.case.handled:
            return self._followed(response, callback)
        if "retries" in habits and shown(response) == "captcha":
            retry = get_retry_request(response.request, spider=self, reason="captcha")
            return [retry] if retry else []
        page = self.take(response, callback)
        if page is None:
            return ()
        if page.inline or {"sleeps", "late"}.intersection(habits):
            return self._with_downloads(response, page)
        if "coroutines" in habits:
            return self._listed(response, page)
        return self.output(response, page)

    def _followed(self, response, callback):
        location = response.headers.get("Location", b"").decode()
        target = redirect_target(response.url, Answer(response.status, location))
        if target:
            request = self.request(Link(target, callback), response)
            request.meta["origin"] = response.meta["origin"]
            yield request

    async def _listed(self, response, page):
        await asyncio.sleep(0.001)
        return list(self.output(response, page))

    async def _with_downloads(self, response, page):
        if "late" in self.case.habits:
            await asyncio.sleep(0.003)
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

    def parse(self, response, asked=None):
        return self._parse_as(response, "parse", asked)

    def parse_b(self, response, asked=None):
        return self._parse_as(response, "parse_b", asked)

    def parse_c(self, response, asked=None):
        return self._parse_as(response, "parse_c", asked)


def _with_origin(request, response):
    del response
    callback = CALLBACKS[request.meta["rule"]]
    request.meta["origin"] = (callback, request.url)
    return request


class RuleSpider(Taking, CrawlSpider):
    """Has a rule for each callback; none of them gets start pages."""

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
        if page is None:
            return
        if self.case.raises_at(response.url, "raise"):
            raise ValueError
        if page.files or "items" in self.case.habits:
            yield {"file_urls": list(page.files), "page": shown(response)}
        if page.raises or self.case.raises_at(response.url, "half"):
            raise ValueError

    def parse(self, response):
        return self._items(response, "parse")

    def parse_b(self, response):
        return self._items(response, "parse_b")

    def parse_c(self, response):
        return self._items(response, "parse_c")


class Slow:
    """A pipeline that takes a while for each item."""

    async def process_item(self, item):
        await asyncio.sleep(0.002)
        return item


class MemoryStore:
    """A store of files that keeps none, so that each is new."""

    def __init__(self, uri: str) -> None:
        del uri

    def stat_file(self, path, info):
        del path, info
        return {}

    def persist_file(self, path, buf, info, meta=None, headers=None):
        del path, buf, info, meta, headers


class Files(FilesPipeline):
    """Records which files the items get."""

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
    """A duplicate filter of the user, which uses no fingerprinter."""

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
    """A fingerprinter of the user, which includes a header."""

    def fingerprint(self, request):
        return fingerprint(request, include_headers=["X-Kind"])


class NoveltyFromTheFirst(NoveltyPriorityQueue):
    """Orders by expected news from the first request on: these sites end before a model is sure."""

    def __init__(self, crawler: Any, *args: Any, **kwargs: Any) -> None:
        Crawl.of(crawler).ordered.order.turn = lambda _: Turn.BEST
        super().__init__(crawler, *args, **kwargs)
