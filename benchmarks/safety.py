"""Measures what audit, recorder, declared canonicals and order cost in a whole crawl.

    python -m benchmarks.safety --help

The responses come from memory: the crawl is all CPU. Pages have 30 kB and 40 links, as in
``benchmarks/crawl.py``: half of the links and a third of the text are those of the site's
template. Every configuration crawls the same site, in a process of its own, in turn with the
others. The result is the CPU for each page that the spider gets, over that of plain Scrapy just
before and just after, since a shared machine is faster or slower for seconds or minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, thread_time_ns
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from benchmarks.in_memory import process_of
from benchmarks.processes import result_of
from benchmarks.results import conditions, say, table, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

OURS = "the plugin"
_PLUGIN = {"ADDONS": {"scrapy_urlcanon.Addon": 500}}
_RECORD = {"URLCANON_RECORD": "observations.sqlite"}
_AUDIT = {"URLCANON_AUDIT": 0.01}
_DECLARED = {"URLCANON_DECLARED_CANONICAL": True}
_ORDER = {"URLCANON_ORDER": "novelty"}
SCRAPY = "plain Scrapy"
EVERYTHING = "all of these"
PARTS: dict[str, dict[str, Any]] = {
    SCRAPY: {},
    OURS: _PLUGIN,
    "with the recorder": {**_PLUGIN, **_RECORD},
    "with the audit": {**_PLUGIN, **_AUDIT},
    "with declared canonicals": {**_PLUGIN, **_DECLARED},
    "with the order by novelty": {**_PLUGIN, **_ORDER},
    EVERYTHING: {**_PLUGIN, **_RECORD, **_AUDIT, **_DECLARED, **_ORDER},
}
AIM_SHARE, AIM_MS = 0.15, 1.0
_SITES = 20
_LINKS = 40
_TICK = 0.001
_LONGER = 5
"""How many times longer the second crawl is, which shows what is done once rather than for each
page."""


class Site(BaseDownloadHandler):
    """Answers from memory: pages of one size, each with its canonical URL."""

    spent = 0
    """Nanoseconds for making the pages, which are not part of the crawl."""

    async def download_request(self, request: Request) -> Response:
        settings = self.crawler.settings
        host = request.url.split("/")[2]
        number = int(request.url.rpartition("-")[2].partition(".")[0] or 0)
        pages, size = settings.getint("BENCHMARK_PAGES"), settings.getint("BENCHMARK_SIZE")
        start = thread_time_ns()
        body = page_of(host, number, pages, size)
        Site.spent += thread_time_ns() - start
        return HtmlResponse(request.url, body=body, encoding="utf-8", request=request)


def url_of(host: str, number: int) -> str:
    """Return the URL of a page."""
    return f"http://{host}/archive/{number % 97}/an-article-about-something-{number}.html"


def page_of(host: str, number: int, pages: int, size: int) -> bytes:
    """Return the page *number*: paragraphs of some 25 words in the markup of usual sites."""
    choose = random.Random(number)
    head = (
        f"<!DOCTYPE html><html><head><title>Article {number}</title>"
        f'<link rel="canonical" href="{url_of(host, number)}"></head><body>'
    )
    pieces = [head, _template(host, size // 3)]
    targets = choose.choices(range(pages), k=_LINKS // 2)
    pieces += [f'<p><a href="{url_of(host, other)}">article {other}</a></p>' for other in targets]
    length = sum(map(len, pieces))
    words = _words()
    while length < size:
        text = " ".join(choose.choices(words, k=25))
        pieces.append(f'<div class="block block-text"><p class="paragraph">{text}</p></div>\n')
        length += len(pieces[-1])
    return "".join(pieces).encode()


@lru_cache
def _template(host: str, size: int) -> str:
    """Return the part that all pages of a site share: half of the links, and some text."""
    choose = random.Random(host)
    links = (
        f'<li class="menu-item"><a href="{url_of(host, number)}">entry {number}</a></li>'
        for number in range(_LINKS // 2)
    )
    text = f'<nav><ul class="menu">{"".join(links)}</ul></nav><script>{"x=1;" * 200}</script>'
    words = _words()
    while len(text) < size:
        text += f'<div class="widget"><span>{" ".join(choose.choices(words, k=12))}</span></div>\n'
    return text


@lru_cache
def _words() -> list[str]:
    choose = random.Random(7)
    letters = "eeeeaaaooiinnssrrttllddcumphgbfywkvxzjq"
    return ["".join(choose.choices(letters, k=choose.randint(2, 11))) for _ in range(5000)]


class Follow(Spider):
    """Follows every link, page by page, until it has as many pages as asked for.

    Second fetches of the recorder are not counted as pages: they are part of its cost.
    """

    name = "follow"
    pages = 0

    async def start(self) -> AsyncIterator[Request]:
        for number in range(_SITES):
            yield Request(url_of(f"www.site{number}.example", 0))

    def parse(self, response: Response) -> Iterator[Request]:
        self.pages += 1
        yield from response.follow_all(css="a")
        if self.pages >= self.settings.getint("BENCHMARK_MOST"):
            raise CloseSpider


class Loop:
    """Records how long the event loop is blocked at a time, and the memory in use."""

    def __init__(self, every: int) -> None:
        self.longest = 0.0
        self.memory: list[tuple[int, float]] = []
        self._every = every
        self._pages = 0
        self._last = perf_counter()

    def begin(self) -> None:
        """Look at the clock in each turn of the event loop from now on."""
        self._last = perf_counter()
        self._tick()

    def _tick(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - not before Scrapy installs it

        now = perf_counter()
        self.longest = max(self.longest, now - self._last - _TICK)
        self._last = now
        reactor.callLater(_TICK, self._tick)

    def received(self) -> None:
        """Record the memory in use after every so many pages."""
        self._pages += 1
        if self._pages % self._every == 0:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            self.memory.append((self._pages, pages * 4096 / 2**20))
            say(f"  {self._pages:,} pages")


def crawl(
    part: str, pages: int, size: int, *, watched: bool = False, job: bool = False
) -> dict[str, Any]:
    """Crawl *pages* pages of *size* bytes, and return the costs."""
    settings = {
        **PARTS[part],
        "JOBDIR": "job" if job else None,
        "BENCHMARK_PAGES": max(pages * 2 // _SITES, 50),
        "BENCHMARK_MOST": pages,
        "BENCHMARK_SIZE": size,
    }
    process = process_of(Site, 0, settings)
    crawler = process.create_crawler(Follow)
    loop = Loop(max(1, pages // 20))
    if watched:
        crawler.signals.connect(loop.begin, signals.spider_opened, weak=False)
        crawler.signals.connect(loop.received, signals.response_received, weak=False)
    process.crawl(crawler)
    start, begun = process_time(), perf_counter()
    process.start()
    got = crawler.spider.pages
    store, journal = Path("observations.sqlite"), Path("job", "urlcanon.journal")
    return {
        "pages": got,
        "ms a page": (process_time() - start - Site.spent / 1e9) / got * 1000,
        "pages a second": got / (perf_counter() - begun),
        "longest block, ms": loop.longest * 1000,
        "memory": loop.memory,
        "bytes a page at rest": store.stat().st_size / got if store.exists() else 0,
        "bytes a page in the journal": journal.stat().st_size / got if journal.exists() else 0,
    }


def run(part: str, pages: int, size: int, *options: str) -> dict[str, Any]:
    """Crawl in a process and a folder of its own."""
    arguments = ("--part", part, "--pages", pages, "--size", size, *options)
    with tempfile.TemporaryDirectory() as directory:
        result: dict[str, Any] = result_of("safety", *arguments, directory=directory)
    return result


def compare(
    parts: Sequence[str], pages: int, size: int, rounds: int, *options: str
) -> dict[str, dict[str, float]]:
    """Return what each part costs: medians over the rounds, and of the ratios.

    :param options: of all crawls.
    """
    found: dict[str, list[dict[str, Any]]] = {part: [] for part in (SCRAPY, *parts)}
    beside: dict[str, list[float]] = {part: [] for part in found}
    choose = random.Random(5)
    for number in range(1, rounds + 1):
        before = run(SCRAPY, pages, size, *options)
        for part in choose.sample(parts, len(parts)):
            found[part].append(run(part, pages, size, *options))
            after = run(SCRAPY, pages, size, *options)
            beside[part].append((before["ms a page"] + after["ms a page"]) / 2)
            found[SCRAPY].append(after)
            beside[SCRAPY].append(after["ms a page"])
            before = after
        say(f"crawls of {pages} pages{' in jobs' * bool(options)}: round {number} of {rounds}")
    made = {}
    for part, ones in found.items():
        pairs = [*zip((one["ms a page"] for one in ones), beside[part], strict=True)]
        made[part] = {
            "ms a page": median(ms for ms, _ in pairs),
            "over plain Scrapy": median(ms / plain - 1 for ms, plain in pairs),
            "ms over plain Scrapy": median(ms - plain for ms, plain in pairs),
            **{
                name: median(one[name] for one in ones)
                for name in ("bytes a page at rest", "bytes a page in the journal")
            },
        }
    return made


def long_crawl(pages: int, size: int) -> None:
    """Crawl once with all parts and once without, and write speed and memory over time."""
    found = {}
    for part in (SCRAPY, EVERYTHING):
        say(f"{part}: {pages:,} pages")
        found[part] = run(part, pages, size, "--watched")
    plain, ours = found[SCRAPY], found[EVERYTHING]
    figures = [
        [name, f"{plain[name]:,.1f}", f"{ours[name]:,.1f}"]
        for name in ("pages", "ms a page", "pages a second", "longest block, ms")
    ]
    pairs = zip(plain["memory"], ours["memory"], strict=False)
    figures += [
        [f"MiB after {after:,} pages", f"{one:,.0f}", f"{other:,.0f}"]
        for (after, one), (_, other) in pairs
    ]
    header = ["one crawl in memory", SCRAPY, EVERYTHING]
    data = {"conditions": conditions(), "size": size, "crawls": found}
    write("long-crawl", data, [table(header, figures)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=600, help="pages of a crawl")
    parser.add_argument("--size", type=int, default=30_000, help="bytes of a page")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long", action="store_true", help="one crawl with all parts, watched")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--watched", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.long:
        long_crawl(options.pages, options.size)
        return
    if options.part:
        made = crawl(
            options.part, options.pages, options.size, watched=options.watched, job=options.job
        )
        print(json.dumps(made))
        return
    measure(options.pages, options.size, options.rounds)


def measure(pages: int, size: int, rounds: int) -> dict[str, Any]:
    """Compare all parts, and write and return what they cost."""
    parts = compare([part for part in PARTS if part != SCRAPY], pages, size, rounds)
    longer = compare([EVERYTHING], _LONGER * pages, size, (rounds + 1) // 2)
    jobs = compare([OURS, EVERYTHING], pages, size, rounds, "--job")
    data = {
        "conditions": conditions(),
        "rounds": rounds,
        "pages": pages,
        "parts": parts,
        "pages of the longer crawl": _LONGER * pages,
        "longer": longer,
        "jobs": jobs,
    }
    tables = [
        _table(f"{pages:,} pages", size, parts),
        _table(f"{_LONGER * pages:,} pages", size, longer),
        _table(f"{pages:,} pages with `JOBDIR`", size, jobs),
    ]
    write("safety", data, tables)
    return data


def _table(crawls: str, size: int, parts: dict[str, dict[str, float]]) -> str:
    rows = [
        [
            part,
            f"{found['ms a page']:.2f}",
            f"{found['ms over plain Scrapy']:+.2f}",
            f"{found['over plain Scrapy']:+.1%}",
        ]
        for part, found in parts.items()
    ]
    header = [f"{crawls}, {size // 1000} kB, {_LINKS} links", "CPU a page, ms"]
    return table([*header, "over plain Scrapy, ms", "over plain Scrapy"], rows)


if __name__ == "__main__":
    main()
