"""Crawls once, in a process of its own, and prints what was downloaded, as JSON."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from asyncio import ensure_future, sleep
from dataclasses import asdict, dataclass, field
from html import unescape
from pickle import dumps, loads
from resource import RUSAGE_SELF, getrusage
from subprocess import PIPE, run
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit
from zlib import compress, decompress

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from benchmarks.novelty import shapes, sites
from benchmarks.novelty.news import News

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

COMMON: Mapping[str, Any] = {
    # News and texts are read from what comes over the wire.
    "COMPRESSION_ENABLED": False,
    "CONCURRENT_REQUESTS": 4,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "COOKIES_ENABLED": False,
    "DEPTH_LIMIT": 0,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "URLLENGTH_LIMIT": 4000,
}
BREADTH_FIRST: Mapping[str, Any] = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
_LINK = re.compile(r'<a href="([^"]*)"')
SHAPE = "shape of a "
"""The prefix of the kinds of generated sites with a common shape; others are traps."""
PLUGIN: Mapping[str, Any] = {"ADDONS": {"scrapy_urlcanon.Addon": 500}}


@dataclass(frozen=True)
class Task:
    """One crawl."""

    starts: tuple[str, ...]
    limit: int
    """The number of fetches after which it ends."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    sites: tuple[tuple[str, int], ...] = ()
    """Generated sites, each a kind and a seed; empty for a running program."""
    responses: str = ""
    """The file with the responses of earlier crawls, to which those of this one are added."""


@dataclass
class Crawled:
    """The outcome of a crawl."""

    news: list[int]
    """The words of news of each fetch, in the order of the fetches."""
    urls: list[str]
    content: list[int]
    """For generated sites, the number of pages of content reached after each fetch."""
    cpu: float
    seconds: float
    peak: int
    """The peak memory in KiB."""
    stats: Mapping[str, Any]


def crawl(task: Task) -> Crawled:
    """Crawl in a process of its own."""
    done = run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.novelty.crawling"],
        input=json.dumps(asdict(task)).encode(),
        stdout=PIPE,
        check=True,
    )
    return Crawled(**json.loads(done.stdout))


class Responses:
    """The responses of a program. Each URL is requested once, so all orders see the same pages."""

    def __init__(self, file: str) -> None:
        self._database = sqlite3.connect(file or ":memory:")
        self._database.execute("create table if not exists response (url primary key, it)")

    def at(self, url: str) -> Response | None:
        """Return the response to *url*."""
        query = "select it from response where url = ?"
        # Of a fragment the program was not asked, and a response does not have it.
        row = self._database.execute(query, (urldefrag(url).url,)).fetchone()
        return loads(decompress(row[0])) if row else None

    def keep(self, response: Response) -> None:
        """Store the response to a URL."""
        bare = type(response)(
            response.url, response.status, dict(response.headers), body=response.body
        )
        row = urldefrag(response.url).url, compress(dumps(bare), 1)
        with self._database:
            self._database.execute("insert or replace into response values (?, ?)", row)


class Wire(HTTP11DownloadHandler):
    """Fetches from a program or a generated site, up to a bound, and measures the responses."""

    lazy = False
    crawled: Crawled
    """The outcome that is filled in. It is no setting, since Scrapy may copy settings."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        task: Task = crawler.settings["TASK"]
        self._task = task
        self._is_closing = False
        self._responses = Responses(task.responses)
        self._sites = {site.host: site for site in generated(task)}
        self._news = News()
        self._count = 0
        self._pages: set[str] = set()

    async def download_request(self, request: Request) -> Response:
        if self._count >= self._task.limit:
            if not self._is_closing:
                self._is_closing = True
                # The spider is known here, and Scrapy waits for what is on its way.
                self._closing = ensure_future(
                    self._crawler.engine.close_spider_async(reason="limit")
                )
            raise IgnoreRequest
        self._count += 1
        response = await self._fetch(request)
        crawled = self.crawled
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        crawled.news.append(self._news.of(response.body, kind))
        crawled.urls.append(request.url)
        crawled.content.append(len(self._pages))
        return response

    async def _fetch(self, request: Request) -> Response:
        if self._sites:
            await sleep(0)
            host = urlsplit(request.url).hostname or ""
            answer = self._sites[host].respond(request.url)
            if answer.content:
                self._pages.add(f"{host} {answer.content}")
            return HtmlResponse(
                request.url,
                answer.status,
                {"Content-Type": "text/html"},
                answer.html.encode(),
                encoding="utf-8",
            )
        response = self._responses.at(request.url)
        if response is None:
            response = await super().download_request(request)
            self._responses.keep(response)
        else:
            # So that as many are on their way as with a program that has to think.
            await sleep(0.004)
        return response


class FollowSpider(Spider):
    """Follows all links within the hosts where it starts."""

    name = "follow"

    def __init__(self, task: Task, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._task = task
        self._hosts = {urlsplit(url).netloc for url in task.starts}
        self._extractor = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        for url in self._task.starts:
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        del kwargs
        if isinstance(response, HtmlResponse):
            for url in self._links(response):
                if url.startswith("http:") and urlsplit(url).netloc in self._hosts:
                    yield Request(url)

    def _links(self, response: HtmlResponse) -> list[str]:
        if self._task.sites and self._task.sites[0][0] != "wide":
            # They have no others, and a page of 400 links is read sooner so.
            return [response.urljoin(url) for url in unescaped_links(response.text)]
        return [link.url for link in self._extractor.extract_links(response)]


def unescaped_links(html: str) -> list[str]:
    """Return the links of a page of a generated site."""
    return [unescape(url) for url in _LINK.findall(html)]


def generated(task: Task) -> list[sites.Site]:
    """Return the generated sites of a task."""
    if len(task.sites) > 1:
        return sites.hosts(*task.sites[0], len(task.sites))
    return [
        # A shop is there of either sort.
        shapes.site(kind.removeprefix(SHAPE), seed)
        if kind.startswith(SHAPE)
        else sites.KINDS[kind](seed)
        for kind, seed in task.sites
    ]


def main() -> None:
    given = json.loads(sys.stdin.read())
    task = Task(**{**given, "sites": tuple(map(tuple, given["sites"]))})
    crawled = Crawled([], [], [], 0, 0, 0, {})
    settings = {
        **COMMON,
        **task.settings,
        "DOWNLOAD_HANDLERS": {"http": Wire, "https": None},
        "TASK": task,
    }
    Wire.crawled = crawled
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(FollowSpider)
    begun, used = monotonic(), process_time()
    process.crawl(crawler, task=task)
    process.start()
    crawled.seconds, crawled.cpu = monotonic() - begun, process_time() - used
    crawled.peak = getrusage(RUSAGE_SELF).ru_maxrss
    crawled.stats = {
        key: value
        for key, value in crawler.stats.get_stats().items()
        if isinstance(value, int | float | str)
    }
    print(json.dumps(asdict(crawled)))


if __name__ == "__main__":
    main()
