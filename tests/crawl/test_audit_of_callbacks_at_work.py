"""Pages in a callback, or on their way to one, while the audit suspends the entry."""

import asyncio

import pytest
from audited_shop import SETTINGS, product
from loopback import redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
SECOND = f"{SITE}/p?id=2"


def is_off(crawler):
    """Tell whether the entry that merges the two pages is suspended."""
    return crawler.stats.get_value("urlcanon/audit/suspended/drop_params/id")


async def until_off(crawler):
    """Wait a few seconds for the suspension."""
    for _ in range(500):
        if is_off(crawler):
            break
        await asyncio.sleep(0.01)


class TwoCallbacks(FollowSpider):
    """Has two callbacks for two merged pages; the second one finds a variant of the first page."""

    is_slow = False

    def parse(self, response):
        yield Request(f"{SITE}/p?id=1", self.first)
        yield Request(SECOND, self.second)
        yield from response.follow_all(css="a", callback=self.other)
        yield Request(f"{SITE}/wait", self.wait)

    def first(self, _):
        pass

    def other(self, _):
        pass

    async def second(self, response):
        if self.is_slow and response.url == SECOND:
            await until_off(self.crawler)
        yield {"url": response.url}

    async def wait(self, _):
        for number in range(8, 100):
            if is_off(self.crawler):
                break
            # What is dropped has the audit see what else it may fetch.
            yield Request(f"{SITE}/q?id={number}", self.other)
            await asyncio.sleep(0.05)
        yield Request(f"{SITE}/p?id=1&sid=1", self.second)


class SlowCallback(TwoCallbacks):
    """Its second callback works until the entry is suspended."""

    is_slow = True


class SlowPage:
    """A middleware that delays the second page until the entry is suspended."""

    @classmethod
    def from_crawler(cls, crawler):
        middleware = cls()
        middleware.crawler = crawler
        return middleware

    async def process_response(self, request, response):
        if request.url == SECOND and request.meta["_urlcanon"]["reason"] == "rescue":
            await until_off(self.crawler)
        return response


@pytest.mark.parametrize(
    ("spider", "middlewares"), [(SlowCallback, {}), (TwoCallbacks, {SlowPage: 543})]
)
@deferred_f_from_coro_f
async def test_callback_gets_each_page_of_an_entry_that_falls_meanwhile(crawl, spider, middlewares):
    """The callback gets the other page too when the entry falls while it has, or awaits, one.

    It has the page of the URL that it got, not that of the URL that was kept for both.
    """

    def respond(request):
        if request.target == "/":
            return links(*(f"/q?id={number}" for number in range(8)))
        return product(request.target.partition("&")[0])

    settings = {**SETTINGS, **RULES, "CONCURRENT_REQUESTS": 8, "URLCANON_AUDIT": 1}
    settings["DOWNLOADER_MIDDLEWARES"] = middlewares
    urls = []

    class Noting(spider):
        async def second(self, response):
            async for item in super().second(response):
                urls.append(item["url"])
                yield item

    await crawl(respond, settings, spider=Noting)
    assert sorted(set(urls)) == [f"{SITE}/p?id=1&sid=1", SECOND]


@deferred_f_from_coro_f
async def test_callback_that_was_redirected_gets_the_other_page_of_an_entry_that_falls(crawl):
    """A callback that a redirect led to its page gets the other one too once the entry falls.

    It has the page of the redirected URL, not that of the URL that was kept for both.
    """

    def respond(request):
        if request.target == "/":
            return links(*(f"/q?id={number}" for number in range(8)))
        if request.url == SECOND:
            return redirect(SECOND.replace("http:", "https:"))
        return product(request.target.partition("&")[0])

    settings = {**SETTINGS, **RULES, "CONCURRENT_REQUESTS": 8, "URLCANON_AUDIT": 1}
    urls = []

    class Noting(TwoCallbacks):
        async def second(self, response):
            urls.append(response.url)
            yield {"url": response.url}

    await crawl(respond, settings, spider=Noting)
    assert f"{SITE}/p?id=1&sid=1" in urls
