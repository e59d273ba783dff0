"""Measures what the fingerprinter and the plugin cost in a whole crawl.

    python -m benchmarks.crawl --help

The responses come from memory: the crawl is all CPU. Every configuration crawls the same site,
in a process of its own, in turn with the others. In each crawl these are timed with the clock of
the thread: Scrapy's calls of the fingerprinter and of the plugin's other parts, and the report
of a dropped request (the duplicate filter's log and the ``request_dropped`` signal; in the
plugin what listens to drops). The cost of reading the clock is measured in between, and
subtracted. Writes ``benchmarks/results/crawl.md`` and ``.json``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from statistics import median
from time import process_time, thread_time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import HtmlResponse, Response

from benchmarks.fingerprinters import DISCARDER, SCRAPY
from benchmarks.in_memory import process_of
from benchmarks.processes import result_of
from benchmarks.results import conditions, table, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.crawler import Crawler

PLUGIN = "scrapy-urlcanon"
SETTINGS: dict[str, dict[str, Any]] = {
    SCRAPY: {},
    DISCARDER: {"REQUEST_FINGERPRINTER_CLASS": "duplicate_url_discarder.Fingerprinter"},
    PLUGIN: {"ADDONS": {"scrapy_urlcanon.Addon": 500}},
}
_SITES = 20
_CALIBRATED = 8
"""Before one of this many calls the cost of reading the clock is measured."""


class Site(BaseDownloadHandler):
    """Answers from memory: pages with as many links as asked for.

    Half of the links of a page belong to the template of its site and are the same on every
    page; of the others one in three has a query. No two URLs are variants of each other, so all
    configurations fetch the same pages.
    """

    async def download_request(self, request: Request) -> Response:
        settings = self.crawler.settings
        links = settings.getint("BENCHMARK_LINKS")
        pages = settings.getint("BENCHMARK_PAGES")
        choose = random.Random(request.url)
        host = request.url.split("/")[2]
        targets = [*range(links // 2), *choose.choices(range(pages), k=links - links // 2)]
        anchors = (f'<a href="{_page(host, target)}">page {target}</a>' for target in targets)
        body = f"<html><body><p>{' '.join(anchors)}</p></body></html>"
        return HtmlResponse(request.url, body=body, encoding="utf-8", request=request)


def _page(host: str, number: int) -> str:
    path = f"/archive/{number % 97}/an-article-about-something-{number}"
    return f"http://{host}{path}" + (f"?id={number}&view=full" if number % 3 == 0 else ".html")


class Follow(Spider):
    """Follows every link, page by page, until it has as many pages as asked for."""

    name = "follow"

    async def start(self) -> AsyncIterator[Request]:
        for number in range(_SITES):
            yield Request(f"http://www.site{number}.example/")

    def parse(self, response: Response) -> Iterator[Request]:
        yield from response.follow_all(css="a")


class Clock:
    """Adds up the time that functions take, without the cost of reading the clock.

    That cost is the measured time of an empty function in the same places. In a loop of its own,
    with everything in the caches of the processor, reading the clock takes half as long.
    """

    def __init__(self) -> None:
        self.spent: defaultdict[str, int] = defaultdict(int)
        self.calls: defaultdict[str, int] = defaultdict(int)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function*, whose time counts under *name*."""
        calls = self.calls
        timed = self._timed(name, function)
        nothing = self._timed(_nothing(name), lambda *_, **__: None)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not calls[name] % _CALIBRATED:
                nothing(*args, **kwargs)
            return timed(*args, **kwargs)

        return call

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        spent, calls = self.spent, self.calls

        def call(*args: Any, **kwargs: Any) -> Any:
            start = thread_time_ns()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] += thread_time_ns() - start
                calls[name] += 1

        return call

    def seconds(self, name: str) -> float:
        """Return the time that counted under *name*."""
        nothing = _nothing(name)
        of_clock = self.spent[nothing] / max(1, self.calls[nothing])
        return (self.spent[name] - self.calls[name] * of_clock) / 1e9


def _nothing(name: str) -> str:
    return f"nothing, before {name}"


def crawl(configuration: str, links: int, pages: int) -> dict[str, float]:
    """Crawl *pages* pages with *links* links each and return the CPU seconds."""
    clock = Clock()
    settings = {
        **SETTINGS[configuration],
        "BENCHMARK_LINKS": links,
        "BENCHMARK_PAGES": pages,
    }
    process = process_of(Site, pages, settings)
    crawler = process.create_crawler(Follow)
    # Once the plugin has begun: it hears of drops from the duplicate filter.
    crawler.signals.connect(lambda: _watch(clock, crawler), signals.engine_started, weak=False)
    process.crawl(crawler)
    start = process_time()
    process.start()
    return {
        "crawl": process_time() - start,
        "fingerprint": clock.seconds("fingerprint"),
        "fingerprints": clock.calls["fingerprint"],
        "dropped": clock.seconds("dropped"),
        "middleware": clock.seconds("middleware"),
        "pages": crawler.stats.get_value("response_received_count"),
        "drops": crawler.stats.get_value("dupefilter/filtered"),
    }


def _watch(clock: Clock, crawler: Crawler) -> None:
    """Time what Scrapy calls: the fingerprinter, the report of a drop, the plugin's middlewares."""
    dupefilter = crawler.engine._slot.scheduler.df  # noqa: SLF001
    dupefilter.fingerprinter = Timed(
        clock.timed("fingerprint", dupefilter.fingerprinter.fingerprint)
    )
    log = dupefilter.log
    if hasattr(log, "receiver"):
        # Ours is called for few drops: the others are told of, and Scrapy counts them together.
        log.receiver = clock.timed("dropped", log.receiver)
    else:
        dupefilter.log = clock.timed("dropped", log)
    send = crawler.signals.send_catch_log
    timed_send = clock.timed("dropped", send)

    def send_catch_log(signal: object, **kwargs: Any) -> Any:
        return (timed_send if signal is signals.request_dropped else send)(signal, **kwargs)

    crawler.signals.send_catch_log = send_catch_log
    for methods in crawler.engine.downloader.middleware.methods.values():
        for position, method in enumerate(methods):
            if type(method.__self__).__module__.startswith("scrapy_urlcanon"):
                methods[position] = clock.timed("middleware", method)


class Timed(NamedTuple):
    """Stands in for a fingerprinter whose calls are timed."""

    fingerprint: Callable[[Request], bytes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, nargs="+", default=[5, 20, 40])
    parser.add_argument("--requests", type=int, default=40_000, help="links followed in a crawl")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--crawl", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        configuration, links, pages = options.crawl
        print(json.dumps(crawl(configuration, int(links), int(pages))))
        return
    data: dict[str, Any] = {"conditions": conditions(), "rounds": options.rounds}
    tables = []
    for links in options.links:
        results = _measure(links, options.requests // links, options.rounds)
        data[f"{links} links"] = results
        tables.append(_table(links, results))
    write("crawl", data, tables)


def _measure(links: int, pages: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the median over the rounds of each figure, by configuration."""
    results: dict[str, list[dict[str, float]]] = {name: [] for name in SETTINGS}
    choose = random.Random(5)
    for _ in range(rounds):
        for name in choose.sample(list(SETTINGS), len(SETTINGS)):
            results[name].append(result_of("crawl", "--crawl", name, links, pages))
    return {
        name: {figure: median(one[figure] for one in ones) for figure in ones[0]}
        for name, ones in results.items()
    }


def _table(links: int, results: dict[str, dict[str, float]]) -> str:
    # To log a drop, and to send a signal that nobody receives, costs something too.
    bare = results[SCRAPY]["dropped"]
    rows = []
    for name, result in results.items():
        # Of the plugin only what it does itself is timed.
        told = result["dropped"] - (0 if name == PLUGIN else bare)
        bookkeeping = told + result["middleware"]
        whole = result["fingerprint"] + bookkeeping
        rows.append(
            [
                name,
                f"{result['pages']:.0f}",
                f"{result['drops']:.0f}",
                f"{result['crawl']:.2f}",
                f"{result['fingerprint'] / result['fingerprints'] * 1e6:.2f}",
                f"{result['fingerprint'] / result['crawl']:.1%}",
                f"{bookkeeping / result['crawl']:.1%}",
                f"{whole / results[SCRAPY]['fingerprint']:.2f}",
            ]
        )
    header = [f"{links} links a page", "pages", "drops", "CPU, s", "fingerprint, us"]
    header += ["of the CPU", "bookkeeping, of the CPU", "both, of Scrapy's fingerprint"]
    return table(header, rows)


if __name__ == "__main__":
    main()
