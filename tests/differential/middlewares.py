"""Middlewares of a user, for both crawls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from differential.case import Answer, key
from differential.server import reply
from differential.spiders import NOT_PASSED_ON

if TYPE_CHECKING:
    from differential.case import Interference

_KEPT = {"asked", "kind", "rule"}
"""The keys of ``meta`` that go with the callback of a request."""
_UNFILTERED = {"urlcanon_drop", "urlcanon_record"}


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
        if each.action == "moved":
            return reply(case, request, None).replace(url=each.other)
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
        self._handled = {key(each.url): each for each in interferences if each.where == "handler"}

    def process_spider_input(self, response):
        if key(response.url) in self._refused:
            raise ValueError

    def process_spider_exception(self, response, exception):
        del exception
        each = self._handled.get(key(response.url))
        if each is None:
            return None
        request = response.request
        if each.action != "request" or request.callback is None:
            return []
        meta = {name: value for name, value in request.meta.items() if name not in NOT_PASSED_ON}
        meta["origin"] = (request.meta["origin"][0], each.other)
        for name in _KEPT.intersection(request.meta):
            meta[name] = request.meta[name]
        return [request.replace(url=each.other, dont_filter=False, meta=meta)]

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


class Mixing:
    """A spider middleware of the user that reorders, doubles or delays the output of callbacks."""

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.spider.case.mixing)

    def __init__(self, mixing):
        self._mixing = mixing

    def process_spider_output(self, response, result):
        del response
        return list(result)[::-1] if self._mixing == "reversed" else self._each(result)

    async def process_spider_output_async(self, response, result):
        del response
        if self._mixing == "reversed":
            for each in [each async for each in result][::-1]:
                yield each
            return
        async for one in result:
            if self._mixing == "late":
                await asyncio.sleep(0.0005)
            for each in self._each([one]):
                yield each

    def _each(self, results):
        for each in results:
            yield each
            # What is not filtered would be twice as much with each page on its way.
            if (
                self._mixing == "twice"
                and isinstance(each, Request)
                and not each.dont_filter
                and _UNFILTERED.isdisjoint(each.meta)
            ):
                yield each.replace()
