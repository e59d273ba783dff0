"""Crawls a site in memory, and returns the outcome."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from benchmarks.verdicts import readings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from scrapy.http import Response

_LINK = re.compile(r'<a[^>]* href="([^"]*)"')
PLUGIN = {"ADDONS": {"scrapy_urlcanon.Addon": 500}}
IN_MEMORY: Mapping[str, Any] = {
    "EXTENSIONS_BASE": {},
    "COOKIES_ENABLED": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOADER_STATS": False,
    "URLLENGTH_LIMIT": 0,
    # Scrapy makes so many tasks for each response.
    "CONCURRENT_ITEMS": 1,
    "COMPRESSION_ENABLED": False,
    "REFERER_ENABLED": False,
    "METAREFRESH_ENABLED": False,
}
FIRST_IN_FIRST_OUT = {
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "DEPTH_PRIORITY": 1,
}


class Respondent(Protocol):
    """A site."""

    def respond(self, request: Request) -> Response:
        """Answer *request*."""


@dataclass
class Server:
    """Answers for a site, up to a bound, and records the requests."""

    site: Respondent
    limit: int
    """The number of fetches after which there is no answer, since the crawl is endless."""
    hits: list[str] = field(default_factory=list)
    found: dict[readings.Suspended, int] = field(default_factory=dict)
    """The entries that the crawl has suspended, and after how many fetches."""
    is_endless: bool = False

    def respond(self, request: Request, stats: Mapping[str, Any]) -> Response:
        """Answer *request*, and look for new suspensions."""
        self.look(stats)
        if len(self.hits) >= self.limit:
            self.is_endless = True
            raise IgnoreRequest
        self.hits.append(request.url)
        return self.site.respond(request)

    def look(self, stats: Mapping[str, Any]) -> None:
        """Record what is suspended by now."""
        for each in readings.suspended(stats):
            self.found.setdefault(each, len(self.hits))


class Handler(BaseDownloadHandler):
    """Fetches from the server of the spider."""

    async def download_request(self, request: Request) -> Response:
        """Return the response of the site."""
        spider: Any = self.crawler.spider
        return spider.server.respond(request, self.crawler.stats.get_stats())


IN_MEMORY = {**IN_MEMORY, "DOWNLOAD_HANDLERS_BASE": {"http": Handler, "https": Handler}}


class Cookies:
    """Sends back all cookies; Scrapy's own middleware would download public suffixes."""

    def __init__(self) -> None:
        self._jar: set[bytes] = set()

    def process_request(self, request: Request) -> None:
        if not request.meta.get("dont_merge_cookies"):
            request.headers["Cookie"] = b"; ".join(sorted(self._jar))

    def process_response(self, request: Request, response: Response) -> Response:
        if not request.meta.get("dont_merge_cookies"):
            cookies = response.headers.getlist("Set-Cookie")
            self._jar.update(cookie.partition(b";")[0] for cookie in cookies)
        return response


class FollowSpider(Spider):
    """Follows every link, and records the pages that it got."""

    name = "moving"
    server: Server
    home: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.got: set[str] = set()

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.home)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        del kwargs
        self.got.update(response.flags)
        for url in _LINK.findall(response.text):
            yield Request(url)


@dataclass
class Crawled:
    """The outcome of a crawl."""

    server: Server
    got: set[str]
    stats: Mapping[str, Any]
    warnings: list[logging.LogRecord]


async def run(
    spider: type[Spider], server: Server, settings: Mapping[str, Any], **arguments: Any
) -> Crawled:
    """Crawl the site of *server* with *spider*."""
    crawler = Crawler(spider, {**IN_MEMORY, **settings})
    # The log of a crawl is the log of this process: what it says has its own handler.
    scrapy_logger = logging.getLogger("scrapy")
    level, scrapy_logger.level = scrapy_logger.level, logging.CRITICAL
    try:
        with readings.Warnings() as warnings:
            crawl = crawler.crawl(server=server, **arguments)
            await (maybe_deferred_to_future(crawl) if isinstance(crawl, Deferred) else crawl)
    finally:
        scrapy_logger.level = level
    stats = crawler.stats.get_stats()
    server.look(stats)
    return Crawled(server, getattr(crawler.spider, "got", set()), stats, warnings)
