"""A page counts as fetched only when its callback has ended, since it may still raise."""

import asyncio
from shutil import copytree
from types import SimpleNamespace

import pytest
from counting import counting
from loopback import page, redirect
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import ONE_BY_ONE, SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.dropped.drop import Drop
from scrapy_urlcanon.crawl.recovery import page_requests

SID = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}, **ONE_BY_ONE}
SLOW = {**SID, "CONCURRENT_REQUESTS": 8}


class Handling:
    """A spider middleware that handles the exceptions of callbacks."""

    def process_spider_exception(self, response, exception):
        del response, exception
        return []


class Raising(FollowSpider):
    """Raises at the first URL of a page, after others of it were dropped."""

    async def parse(self, response):
        if "sid=1" in response.url:
            await asyncio.sleep(0.5)
            raise ValueError("the session is over")
        for each in super().parse(response):
            yield each


class RaisingLate(FollowSpider):
    """Yields items that take their time before it raises."""

    def parse(self, response):
        if "sid=1" in response.url:
            yield from ({"number": number} for number in range(20))
            raise ValueError("the session is over")
        yield from super().parse(response)


class SlowPipeline:
    """Takes a while for each item."""

    async def process_item(self, item):
        if "number" in item:
            await asyncio.sleep(0.02)
        return item


PAGES = {
    "/": links("/a?sid=1", "/list"),
    "/list": links("/a?sid=2"),
    "/a?sid=2": links("/behind"),
    "/behind": page("behind"),
}


def respond(request):
    """Answer all URLs of a page alike."""
    return site({**PAGES, "/a?sid=1": PAGES["/a?sid=2"]})(request)


def fetched(result):
    """Return the pages of which the spider yielded an item."""
    return [item["url"].removeprefix(SITE) for item in result.items if "url" in item]


@pytest.mark.parametrize("spider", [Raising, RaisingLate])
@pytest.mark.parametrize("middlewares", [{}, {Handling: 543}], ids=["raised", "handled"])
@deferred_f_from_coro_f
async def test_variant_that_is_dropped_meanwhile_takes_the_place(crawl, spider, middlewares):
    """If the callback raises, a variant that was dropped meanwhile is fetched.

    Whether the exception is logged, or handled by a middleware.
    """
    settings = {
        **SLOW,
        "SPIDER_MIDDLEWARES": middlewares,
        "ITEM_PIPELINES": {SlowPipeline: 1},
        "CONCURRENT_ITEMS": 1,
    }
    result = await crawl(respond, settings, spider=spider)
    assert sorted(fetched(result)) == ["/", "/a?sid=2", "/behind", "/list"]
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_variant_that_is_dropped_meanwhile_is_forgotten_where_nothing_is_raised(crawl):
    """If a slow callback succeeds, variants dropped meanwhile are not fetched."""

    class Slow(FollowSpider):
        async def parse(self, response):
            if "sid" in response.url:
                await asyncio.sleep(0.3)
            for each in super().parse(response):
                yield each

    result = await crawl(respond, SLOW, spider=Slow)
    assert sorted(result.hits) == ["/", "/a?sid=1", "/behind", "/list"]


@deferred_f_from_coro_f
async def test_page_whose_exception_is_handled_is_not_seen(crawl):
    """URLCANON_SEEN does not note a page whose callback raised, though it was handled."""
    settings = {
        **SID,
        "URLCANON_SEEN": "seen.db",
        "URLCANON_SEEN_BY": "response",
        "SPIDER_MIDDLEWARES": {Handling: 543},
    }
    only = site({"/a?sid=1": PAGES["/a?sid=2"], "/behind": PAGES["/behind"]})
    start = [f"{SITE}/a?sid=1"]
    await crawl(only, settings, spider=RaisingLate, start=start)
    again = await crawl(only, settings, start=start)
    assert again.hits == ["/a?sid=1", "/behind"]


@pytest.mark.parametrize("middlewares", [{}, {Handling: 543}], ids=["raised", "handled"])
@deferred_f_from_coro_f
async def test_page_whose_callback_raised_in_an_earlier_run_of_the_job(crawl, middlewares):
    """If the callback raised in an earlier run of the job, a variant is fetched."""
    settings = {**SID, "JOBDIR": "job", "SPIDER_MIDDLEWARES": middlewares}
    await crawl(respond, settings, spider=Raising, start=[Request(f"{SITE}/a?sid=1")])
    start = [Request(f"{SITE}/list")]
    result = await crawl(respond, settings, spider=Raising, start=start)
    assert sorted(fetched(result)) == ["/a?sid=2", "/behind", "/list"]


class KilledPipeline:
    """Copies the job, as a kill would leave it, during the first of many items."""

    def process_item(self, item):
        if item.get("number") == 0:
            copytree("job", "killed")
        return item


@pytest.mark.parametrize("middlewares", [{}, {Handling: 543}], ids=["raised", "handled"])
@deferred_f_from_coro_f
async def test_page_whose_callback_raised_is_not_done_before_its_items_are(crawl, middlewares):
    """A kill while items of a callback that raised are processed has its page fetched again."""
    settings = {
        **SID,
        "JOBDIR": "job",
        "ITEM_PIPELINES": {KilledPipeline: 1},
        "SPIDER_MIDDLEWARES": middlewares,
    }
    start = [Request(f"{SITE}/a?sid=1")]
    await crawl(respond, settings, spider=RaisingLate, start=start)
    result = await crawl(respond, {**settings, "JOBDIR": "killed"}, start=())
    assert result.hits == ["/a?sid=1", "/behind"]


@deferred_f_from_coro_f
async def test_page_that_one_request_led_from_and_another_brings(crawl):
    """If the callback of the request that brought the page raises, a third URL is fetched.

    The end of an earlier request, which redirected elsewhere, says nothing of the page.
    """
    brought, ended = asyncio.Event(), asyncio.Event()

    class Led(FollowSpider):
        async def parse(self, response):
            if response.url.endswith("/end"):
                ended.set()
            for each in super().parse(response):
                yield each
            if response.url.endswith("/other"):
                await brought.wait()
                yield response.follow("/next")
            if "sid=2" in response.url:
                brought.set()
                await ended.wait()
                raise ValueError("the session is over")

    pages = {
        "/": links("/a?sid=1"),
        "/a?sid=1": redirect("/other"),
        "/other": links("/a?sid=2"),
        "/a?sid=2": links("/a?sid=3"),
        "/next": links("/next/one"),
        "/next/one": links("/end"),
        "/end": page("end"),
    }
    result = await crawl(
        site(pages), {**SLOW, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 5_000_000}, spider=Led
    )
    assert "/a?sid=3" in result.hits


@deferred_f_from_coro_f
async def test_page_of_many_that_the_spider_is_at_work_on_is_rescued(crawl, monkeypatch):
    """Of many pages in callbacks the one whose callback raised is rescued."""
    monkeypatch.setattr(page_requests.PageRequests._sweep, "__defaults__", (1,))
    others = [f"/{number}" for number in range(8)]
    pages = {"/": links("/a?sid=1", *others, "/a?sid=2"), **dict.fromkeys(others, page("other"))}
    settings = {**SLOW, "ITEM_PIPELINES": {SlowPipeline: 1}}
    result = await crawl(
        site({**PAGES, "/a?sid=1": links("/behind"), **pages}), settings, spider=RaisingLate
    )
    assert {"/a?sid=2", "/behind", *others} <= {*fetched(result)}


def test_cost_of_a_drop_does_not_grow_with_what_the_spider_is_at_work_on():
    """A drop costs as much with 400 pages in callbacks as with 100."""
    crawler = get_crawler(FollowSpider, {"ADDONS": {"scrapy_urlcanon.Addon": 500}, **SID})
    active = set()
    crawler.engine = SimpleNamespace(scraper=SimpleNamespace(slot=SimpleNamespace(active=active)))
    requests, cost = Crawl.of(crawler).requests, []
    # Python 3.13 counts less of what is traced for the first time.
    for count in (100, 200, 400):
        while len(active) < count:
            request = Request(f"{SITE}/{len(active)}")
            active.add(request)
            requests.scraped(Response(request.url, request=request))
        dropped = Request(f"{SITE}/{count}?sid=1")
        with counting(instructions=True) as counter:
            requests.dropped(Drop(dropped, f"{SITE}/{count}", b"", frozenset(), "site.example"))
        cost.append(counter.instructions)
    assert cost[2] < 1.1 * cost[1]
