"""Crawls without Scrapy's engine, in minutes: ``python -m benchmarks.novelty.offline``.

The sites are those of common shapes. The order is the plugin's own, and it is called in the
sequence in which Scrapy would call it: responses are read, the next requests are taken, and then
the links of the responses are scheduled. Of a page with very many links, the rest is scheduled
after the next pages were read. A crawl is reproducible, so that two states of the code can be
compared: on the seeds that a change was developed with, and on others.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import deque
from http import HTTPStatus
from itertools import accumulate
from math import exp, log
from pathlib import Path
from statistics import mean, median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from benchmarks.novelty import shapes
from benchmarks.novelty.cases import NOVELTY, SHAPE_LIMIT, SHAPE_SEEDS, SHARES
from benchmarks.novelty.crawling import COMMON, unescaped_links
from benchmarks.novelty.news import News
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.lane import Room
from scrapy_urlcanon.crawl.order.queue import SiteQueue
from scrapy_urlcanon.crawl.order.stores import MemoryStore
from scrapy_urlcanon.crawl.scheduling.drops import ITEMS_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy_urlcanon.crawl.order.order import Order

_ALLOWED = (0.85, 0.95, 0.95, 0.95)
_END = object()
SLOT = "site"
"""The download slot of all requests."""


class _Spider(Spider):
    name = "offline"


class Frontier(Protocol):
    """The waiting requests, and an order that hears of pages."""

    order: Order | None

    def push(self, request: Request) -> None: ...

    def pop(self) -> Request | None: ...


class ByNews:
    """The order of the plugin.

    :param settings: further ones.
    """

    def __init__(self, settings: Mapping[str, Any] = MappingProxyType({})) -> None:
        crawl = Crawl.of(get_crawler(_Spider, {**COMMON, **NOVELTY, **settings}))
        assert crawl.ordered is not None
        self.crawl = crawl.ordered
        self.order: Order | None = crawl.ordered.order
        queue = SiteQueue(crawl.ordered, MemoryStore(), Room(), SLOT)
        self.push: Callable[[Request], None] = queue.push
        self.pop: Callable[[], Request | None] = queue.pop


class ByDepth:
    """The orders of Scrapy: last in first out, or least depth first (``DEPTH_PRIORITY``)."""

    order: Order | None = None

    def __init__(self, *, is_breadth_first: bool) -> None:
        self._is_breadth_first = is_breadth_first
        self._waiting: dict[int, deque[Request]] = {}

    def push(self, request: Request) -> None:
        depth = request.meta["depth"] if self._is_breadth_first else 0
        self._waiting.setdefault(depth, deque()).append(request)

    def pop(self) -> Request | None:
        while self._waiting:
            depth = min(self._waiting)
            requests = self._waiting[depth]
            if requests:
                return requests.popleft() if self._is_breadth_first else requests.pop()
            del self._waiting[depth]
        return None


class Site(Protocol):
    """A site: pages that link each other."""

    start: str

    def at(self, url: str) -> tuple[HtmlResponse, list[str]]: ...


class Pages:
    """The pages of a generated site, each made and parsed once."""

    def __init__(self, kind: str, seed: int) -> None:
        self._site = shapes.site(kind, seed)
        self._known: dict[str, tuple[HtmlResponse, list[str]]] = {}
        self.start = f"http://{self._site.host}/"

    def at(self, url: str) -> tuple[HtmlResponse, list[str]]:
        """Return the response to *url*, and its links."""
        if url not in self._known:
            answer = self._site.respond(url)
            kind = {"Content-Type": "text/html"}
            body = answer.html.encode()
            response = HtmlResponse(url, answer.status, kind, body, encoding="utf-8")
            links = [response.urljoin(link) for link in unescaped_links(answer.html)]
            self._known[url] = response, links if answer.status == HTTPStatus.OK else []
        return self._known[url]


class Crawling:
    """A crawl of some pages in the order of a frontier."""

    def __init__(self, pages: Site, frontier: Frontier, limit: int) -> None:
        self._pages, self._frontier, self._left = pages, frontier, limit
        fingerprinter = get_crawler(_Spider, dict(COMMON)).request_fingerprinter
        assert fingerprinter is not None
        self._fingerprint = fingerprinter.fingerprint
        self._seen: set[bytes] = set()
        self._news = News()
        self.words: list[int] = []
        """The words of news of each fetch."""

    def run(self) -> None:
        """Crawl as Scrapy does if all responses come immediately."""
        self._wait(Request(self._pages.start, meta={"depth": 0}))
        on_their_way = self._taken()
        following: list[Iterator[None]] = []
        while on_their_way or following:
            reading = on_their_way
            for request in reading:
                response, _ = self._pages.at(request.url)
                response.request = request
                if order := self._frontier.order:
                    order.fetched(request, response)
                self.words.append(self._news.of(response.body, "text/html"))
            following = _going_on(following)
            on_their_way = self._taken()
            following += _going_on(map(self._follow, reading))
            on_their_way = on_their_way or self._taken()

    def _taken(self) -> list[Request]:
        room = min(COMMON["CONCURRENT_REQUESTS"], self._left)
        found = [request for _ in range(room) if (request := self._frontier.pop())]
        self._left -= len(found)
        return found

    def _follow(self, request: Request) -> Iterator[None]:
        """Schedule the links of a page in parts, and yield after each part."""
        response, links = self._pages.at(request.url)
        order = self._frontier.order
        output = order.output_of(response) if order else None
        # What was seen the plugin drops before Scrapy takes anything.
        left = ITEMS_AT_ONCE if order else 0
        on_its_way: set[bytes] = set()
        taken = 0
        for url in links:
            headers, meta = {"Referer": request.url}, {"depth": request.meta["depth"] + 1}
            linked = Request(url, headers=headers, meta=meta)
            page = self._fingerprint(linked)
            if left and page in self._seen and page not in on_its_way:
                left -= 1
            else:
                on_its_way.add(page)
                if taken and not taken % ITEMS_AT_ONCE:
                    yield
                taken += 1
            if output:
                output.add(linked)
            self._wait(linked)
        if output:
            output.end()

    def _wait(self, request: Request) -> None:
        key = self._fingerprint(request)
        if key not in self._seen:
            self._seen.add(key)
            self._frontier.push(request)
        elif self._frontier.order:
            self._frontier.order.request_dropped(request)


def _going_on(following: Iterable[Iterator[None]]) -> list[Iterator[None]]:
    """Schedule the next part of the links of each page; return the pages with more links."""
    return [each for each in following if next(each, _END) is not _END]


def curve(pages: Pages, frontier: Frontier) -> list[int]:
    """Return the words of news after 0, 1, 2 ... fetches."""
    crawling = Crawling(pages, frontier, SHAPE_LIMIT)
    crawling.run()
    return list(accumulate(crawling.words, initial=0))


def ratios(kind: str, seed: int) -> list[float]:
    """Return news over that of the better of Scrapy's orders, after each share of the fetches."""
    pages = Pages(kind, seed)
    deep, broad, ours = (
        curve(pages, frontier)
        for frontier in (
            ByDepth(is_breadth_first=False),
            ByDepth(is_breadth_first=True),
            ByNews(),
        )
    )

    def at(words: list[int], share: int) -> int:
        return words[min(len(words) - 1, SHAPE_LIMIT * share // 100)]

    return [at(ours, share) / max(at(deep, share), at(broad, share), 1) for share in SHARES]


def shown(name: str, rows: list[list[float]]) -> str:
    """Return a line about some sites: geometric mean, median, least, and how many are behind."""
    columns = list(zip(*rows, strict=True))
    measures: tuple[Callable[[tuple[float, ...]], float], ...] = (
        lambda column: exp(mean(map(log, column))),
        median,
        min,
    )
    cells = [" / ".join(f"{measure(column):.2f}" for column in columns) for measure in measures]
    behind = [
        sum(ratio < allowed for ratio in column)
        for column, allowed in zip(columns, _ALLOWED, strict=True)
    ]
    return f"{name:10}  {'   '.join(cells)}   {' / '.join(map(str, behind))} of {len(rows)}"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty.offline", description=__doc__)
    parser.add_argument("--shapes", nargs="+", choices=shapes.SHAPES, default=[*shapes.SHAPES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[*SHAPE_SEEDS])
    parser.add_argument("--json", type=Path, help="write what each site has to this file")
    options = parser.parse_args()
    print(
        f"of the better of both at {SHARES} %: geometric mean, median, least, how many are behind"
    )
    found: dict[str, list[float]] = {}
    for kind in options.shapes:
        names = {seed: f"{kind} {seed}" for seed in options.seeds}
        found.update({name: ratios(kind, seed) for seed, name in names.items()})
        print(shown(kind, [found[name] for name in names.values()]), flush=True)
    print(shown("all", list(found.values())))
    if options.json:
        options.json.write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
