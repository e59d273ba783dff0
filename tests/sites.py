"""Sites to crawl, spiders that crawl them, and the outcome of a crawl."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopback import page
from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import DontCloseSpider

from scrapy_urlcanon.crawl.stats import PREFIX, Stat

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SITE = "http://site.example"
ALONE = {"TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False}
"""Settings without the servers that Scrapy starts beside a crawl, which take as long as it."""
# Scrapy 2.15 fetches on while a page waits for its callback, unless that bounds it.
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1}
"""Settings with which no request is chosen before the last page was processed."""


class FollowSpider(Spider):
    """Follows every link and yields the URL of every page."""

    name = "follow"

    def __init__(self, start=(f"{SITE}/",), *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start = self._start(start)
        self.errors = []

    def _start(self, urls):
        async def start():
            for url in urls:
                yield url if isinstance(url, Request) else Request(url)

        return start

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a")


class FedSpider(FollowSpider):
    """Requests one more page each time that it is idle."""

    fed: tuple[str, ...]

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.left = [f"{SITE}{url}" for url in cls.fed]
        crawler.signals.connect(spider.feed, signals.spider_idle)
        return spider

    def feed(self):
        if self.left:
            self.crawler.engine.crawl(Request(self.left.pop()))
            raise DontCloseSpider


class ItemSpider(FollowSpider):
    """Yields an item for each page that is one."""

    def parse(self, response):
        if "/item/" in response.url:
            yield {"name": response.css("h1::text").get()}
        yield from response.follow_all(css="a")


class RetryingSpider(FollowSpider):
    """Requests a page again if it asks for a captcha."""

    def parse(self, response):
        if "captcha" in response.text:
            yield get_retry_request(response.request, spider=self)
        else:
            yield from super().parse(response)


class ClosedScheduler(Scheduler):
    """A scheduler that does not show its dupefilter."""

    @property
    def df(self):
        raise AttributeError

    @df.setter
    def df(self, dupefilter):
        self._df = dupefilter

    def open(self, spider):
        self.spider = spider
        self.mqs = self._mq()
        self.dqs = None
        return self._df.open()

    def close(self, reason):
        return self._df.close(reason)

    def enqueue_request(self, request):
        if not request.dont_filter and self._df.request_seen(request):
            return False
        self._mqpush(request)
        return True


@dataclass
class Crawl:
    """The outcome of a crawl."""

    hits: list[str]
    """The requested URLs in order, without the prefix of the site."""
    items: list[dict[str, Any]]
    stats: dict[str, Any]
    crawler: Crawler

    def __post_init__(self):
        names = [name for name in self.stats if name.startswith(PREFIX)]
        assert [name for name in names if not known_stats().fullmatch(name)] == []

    @property
    def pages(self):
        """The URLs of the responses that the spider got, sorted."""
        return sorted(item["url"].removeprefix(SITE) for item in self.items)

    @property
    def figures(self):
        """The stats of the plugin, without their prefix."""
        return {k.removeprefix(PREFIX): v for k, v in self.stats.items() if k.startswith(PREFIX)}


@cache
def known_stats():
    """Return a pattern of the stats of the plugin."""
    names = (re.sub(r"\\{\w+\\}", ".+", re.escape(stat.value)) for stat in Stat)
    return re.compile(f"{PREFIX}(?:{'|'.join(names)})")


def urls_in(path):
    """Return the URLs of this site in a file of requests."""
    return [json.loads(line)["url"].removeprefix(SITE) for line in path.read_text().splitlines()]


def links(*urls):
    """Return a page that links *urls*."""
    return page("".join(f'<a href="{url}">link</a>' for url in urls))


def site(pages, *, missing=404):
    """Return a site: a function that answers with *pages*, by URL or by target."""

    def respond(request):
        target = request.target
        return pages.get(request.url) or pages.get(target) or page("missing", status=missing)

    return respond


def forget_queue():
    """Empty the state of the queue in the folder ``job``, as after a kill."""
    Path("job/requests.queue/active.json").write_text("", encoding="utf-8")
