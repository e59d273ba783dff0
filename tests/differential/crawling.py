"""Crawls a case with the plugin or without it, and notes what the spider got."""

from __future__ import annotations

import asyncio
import logging
import shutil
import traceback
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from differential.case import MAX_REDIRECTS, Case, key
from differential.middlewares import Interfering, Mixing, Picky
from differential.server import Handler, Server
from differential.spiders import Files, PlainSpider, RuleSpider, Slow
from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces

if TYPE_CHECKING:
    from scrapy.http import Response

_SECONDS = 20
_FIXED = {
    "DOWNLOAD_HANDLERS_BASE": {"http": Handler, "https": Handler},
    "EXTENSIONS_BASE": {},
    "COOKIES_ENABLED": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REDIRECT_MAX_TIMES": MAX_REDIRECTS,
    "RETRY_TIMES": 0,
    "CONCURRENT_REQUESTS": 1,
    # Scrapy makes so many tasks for each response, and by default 100.
    "CONCURRENT_ITEMS": 10,
    "DOWNLOAD_DELAY": 0,
    "MEDIA_ALLOW_REDIRECTS": True,
}
_NO_DOWNLOAD = {"input", "link", "handler", "callback"}
_INTERFERING: dict[int, type] = {}


@dataclass
class Got:
    """The outcome of a crawl."""

    pairs: dict[tuple[str, str], str] = field(default_factory=dict)
    """By callback and page, or ``item of p1`` and file, the URL by which it came first."""
    delivered: defaultdict[tuple[str, str], set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )
    """The pages that came, by callback and requested URL."""
    by_url: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The pages that came, by callback and URL of the response."""
    whole: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The pages that came whole, at which the callback did not raise, by callback and requested
    URL or URL of the response."""
    dropped: defaultdict[tuple[str, str], set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )
    """The URLs to which a request of the spider had led when it was dropped there as a
    duplicate."""
    hits: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Tracebacks of the plugin, and other errors."""
    stats: dict[str, Any] = field(default_factory=dict)
    """The stats of the last crawl."""

    def add(self, callback: str, name: str, url: str) -> None:
        """Note that *callback* got the page *name*, with a response at *url*."""
        self.pairs.setdefault((callback, name), url)
        self.by_url[callback, key(url)].add(name)

    def deliver(self, callback: str, name: str, response: Response, *, is_whole: bool) -> None:
        """Note that *callback* got *response*, which shows the page *name*.

        :param is_whole: whether that is all of the page, and the callback did not raise.
        """
        self.add(callback, name, response.url)
        asked = [(callback, key(response.url))]
        origin = response.meta.get("origin")
        if origin:
            asked.append((callback, key(origin[1])))
            self.delivered[asked[1]].add(name)
        for each in asked if is_whole else ():
            self.whole[each].add(name)

    def request_dropped(self, request: Any) -> None:
        """Note that *request* was dropped."""
        origin = request.meta.get("origin")
        if origin and key(origin[1]) != key(request.url):
            self.dropped[origin[0], key(origin[1])].add(key(request.url))

    def pages_of(self, callback: str, url: str) -> set[str]:
        """Return the pages that *callback* ever got for its requests of *url*."""
        asked = callback, key(url)
        names = set(self.delivered[asked])
        for target in self.dropped[asked]:
            names |= self.by_url[callback, target] | self.delivered[callback, target]
        return names

    def is_whole(self, callback: str, url: str, name: str) -> bool:
        """Tell whether *callback* got all of the page *name* for a request of *url*."""
        asked = callback, key(url)
        targets = [asked, *((callback, target) for target in self.dropped[asked])]
        return any(name in self.whole[each] for each in targets)


class _Errors(logging.Handler):
    """Collects the tracebacks that go through the plugin."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        trace = record.exc_info and record.exc_info[2]
        if trace is None:
            return
        frames = traceback.extract_tb(trace)
        # An exception of a callback comes by our middleware too.
        if frames and "scrapy_urlcanon" in frames[-1].filename:
            self._found.append("".join(traceback.format_exception(*record.exc_info)))


async def crawl_all(case: Case, *, plugin: bool) -> list[Got]:
    """Crawl *case* as often as it says, in one directory; return what each crawl got."""
    server = Server(case)
    with TemporaryDirectory() as directory:
        if plugin and case.end:
            return [await _crawl_in_runs(case, server, Path(directory))]
        return [
            await _crawl(case, server, Path(directory), Got(), plugin=plugin)
            for _ in range(case.crawls)
        ]


async def _crawl_in_runs(case: Case, server: Server, directory: Path) -> Got:
    """Crawl with the plugin, end it as the case says, and resume it; return what all runs got.

    A kill is simulated: the next run gets a copy of the job's directory from that moment, and
    nothing that the first process does or gets afterwards.
    """
    got, later = Got(), replace(case, plugin={**case.plugin, **case.later_plugin})
    await _crawl_to_its_end(case, case.end_after, server, directory, got)
    if case.end_again:
        await _crawl_to_its_end(later, case.end_again, server, directory, got)
    return await _crawl(later, server, directory, got, plugin=True)


async def _crawl_to_its_end(
    case: Case, end_after: int, server: Server, directory: Path, got: Got
) -> None:
    ended = asyncio.Event()

    def end(crawler: Crawler) -> None:
        if case.end == "kill":
            shutil.copytree(directory / "job", directory / "killed")
            crawler.spider.got = Got()
        ended.set()

    server.on_hit = {len(server.hits) + end_after: end}
    await _crawl(case, server, directory, got, plugin=True, ended=ended)
    server.on_hit = {}
    if case.end == "kill" and ended.is_set():
        shutil.rmtree(directory / "job")
        (directory / "killed").rename(directory / "job")


async def _crawl(
    case: Case,
    server: Server,
    directory: Path,
    got: Got,
    *,
    plugin: bool,
    ended: asyncio.Event | None = None,
) -> Got:
    settings = _settings(case, directory, plugin=plugin)
    spider = RuleSpider if case.spider == "crawl" else PlainSpider
    crawler = Crawler(spider, settings)
    crawler.signals.connect(got.request_dropped, signals.request_dropped)
    errors = _Errors(got.errors)
    logging.getLogger().addHandler(errors)
    logging.disable(logging.WARNING)
    before = len(server.hits)
    stopping = asyncio.ensure_future(_stop(crawler, ended)) if ended else None
    try:
        crawl = crawler.crawl(case=case, server=server, got=got)
        await asyncio.wait_for(_future(crawl), _SECONDS)
    except (TimeoutError, asyncio.TimeoutError):
        got.errors.append("The crawl does not end.")
        await crawler.stop_async()
    finally:
        if stopping:
            stopping.cancel()
        logging.disable(logging.NOTSET)
        logging.getLogger().removeHandler(errors)
    if server.is_endless:
        got.errors.append("The crawl makes too many requests.")
    got.hits += server.hits[before:]
    got.stats = crawler.stats.get_stats()
    return got


async def _stop(crawler: Crawler, ended: asyncio.Event) -> None:
    await ended.wait()
    await crawler.stop_async()


def _future(crawl: Any) -> Any:
    return maybe_deferred_to_future(crawl) if isinstance(crawl, Deferred) else crawl


def _settings(case: Case, directory: Path, *, plugin: bool) -> dict[str, Any]:
    settings = {**_FIXED, **case.settings}
    settings["HTTPCACHE_DIR"] = str(directory / "cache")
    if settings.get("JOBDIR"):
        settings["JOBDIR"] = str(directory / "job")
    priorities = {each.priority for each in case.interferences if each.where not in _NO_DOWNLOAD}
    settings["DOWNLOADER_MIDDLEWARES"] = {_interfering(each): each for each in priorities}
    if any(each.where in {"input", "link", "handler"} for each in case.interferences):
        settings["SPIDER_MIDDLEWARES"] = {Picky: 500}
    if case.mixing:
        settings.setdefault("SPIDER_MIDDLEWARES", {})[Mixing] = case.mixing_at
    settings["ITEM_PIPELINES"] = {Slow: 2} if "items" in case.habits else {}
    if any(page.files for page in case.pages.values()):
        settings["ITEM_PIPELINES"][Files] = 1
        settings["FILES_STORE"] = "memory://files"
    if plugin:
        settings.update(case.plugin)
        for name in ("URLCANON_RECORD", "URLCANON_REPORT", "URLCANON_SEEN"):
            if settings.get(name):
                settings[name] = str(directory / settings[name])
        if case.places:
            settings["URLCANON_SKIP_PLACES"] = str(directory / "places")
            with closing(SkipPlaces(directory / "places")) as store:
                canonical = case.canonicalizer.canonicalize
                store.add({canonical(url): place for url, place in case.places.items()})
        settings.setdefault("ADDONS", {"scrapy_urlcanon.Addon": 500})
    return settings


def _interfering(priority: int) -> type:
    if priority not in _INTERFERING:
        _INTERFERING[priority] = type(
            f"Interfering{priority}", (Interfering,), {"priority": priority}
        )
    return _INTERFERING[priority]
