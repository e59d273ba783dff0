"""URLCANON_STOP ends each priority of a site by itself.

Redirects and retries belong to the priority that their request had.
"""

import logging

import pytest
from loopback import Response, page
from scrapy.core.scheduler import Scheduler
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, FollowSpider
from trap_sites import words

from scrapy_urlcanon.crawl.stats import NO_NEWS
from scrapy_urlcanon.novelty.progress import Ending

SHARE = 0.05
STOPPING = {
    **ONE_BY_ONE,
    "URLCANON_ORDER": "novelty",
    "URLCANON_STOP": SHARE,
    # Else a crawl that does not end would never end.
    "CLOSESPIDER_PAGECOUNT": 500,
}
AT_ONCE = {"CONCURRENT_REQUESTS": 4, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 5_000_000}


def needed():
    """Return how many fetches without news end a site, random draws included."""
    ending = Ending(SHARE)
    fetches = 0
    while not ending.is_done("site", 0):
        ending.note("site", 0, has_news=False, is_drawn=ending.draws("site", 0))
        fetches += 1
    return fetches


NEEDED = needed()


class ItemsFirst(FollowSpider):
    """Gives items a higher priority than all else."""

    def parse(self, response):
        for request in response.follow_all(css="a"):
            yield request.replace(priority=10) if "/item/" in request.url else request


def number_of(request):
    """Return the number of the requested page."""
    return int(request.target.rpartition("/")[2] or 0)


def anchors(kind, numbers):
    """Return links to pages of this *kind*."""
    return "".join(f"<a href=/{kind}/{number}>x</a>" for number in numbers)


@pytest.mark.parametrize("items", range(NEEDED - 2, NEEDED + 3))
@deferred_f_from_coro_f
async def test_lower_priority_has_its_chance_wherever_the_higher_one_ends(crawl, items):
    """Articles of a lower priority are fetched, whichever item was the last of the higher one."""

    def respond(request):
        if "/item/" in request.target:
            return page("<p>no item")
        if "/article/" in request.target:
            return page(words(request.target, 60))
        return page(anchors("item", range(items)) + anchors("article", range(20)))

    result = await crawl(respond, STOPPING, spider=ItemsFirst)
    assert len([hit for hit in result.hits if hit.startswith("/article/")]) == 20


@deferred_f_from_coro_f
async def test_lists_and_the_items_on_them_both_end(crawl):
    """Endless lists with items of a higher priority end: neither keeps the other going."""

    def respond(request):
        number = number_of(request)
        if "/item/" in request.target:
            return page("<p>no item")
        further = anchors("list", (number + 1, number + 2))
        return page("<p>list" + further + anchors("item", range(3 * number, 3 * number + 3)))

    result = await crawl(respond, STOPPING, spider=ItemsFirst)
    assert result.stats["finish_reason"] == NO_NEWS
    assert len(result.hits) < 3 * NEEDED


def moved(request):
    """Link each day of a calendar by a URL that redirects to it."""
    number = number_of(request)
    if request.target.startswith("/go/"):
        return Response(302, (("Location", f"/day/{number}"),))
    return page("<p>nothing" + anchors("go", range(3 * number + 1, 3 * number + 4)))


def failing(request):
    """Let each third day of a calendar fail."""
    number = number_of(request)
    if number and number % 3 == 0:
        return page("failed", status=500)
    return page("<p>nothing" + anchors("day", range(3 * number + 1, 3 * number + 4)))


@pytest.mark.parametrize(("respond", "fetches"), [(moved, 2), (failing, 3)])
@deferred_f_from_coro_f
async def test_what_comes_again_is_of_the_priority_that_it_had(crawl, respond, fetches):
    """The changed priority of a redirect or retry does not reopen a site.

    Scrapy raises the one and lowers the other.
    """
    result = await crawl(respond, {**STOPPING, **AT_ONCE, "RETRY_TIMES": 2})
    assert result.stats["finish_reason"] == NO_NEWS
    assert len(result.hits) < fetches * NEEDED + 30


class Failing(FollowSpider):
    """Has a callback that raises on each page but the first, after its links."""

    def parse(self, response):
        yield from response.follow_all(css="a")
        if "/day/" in response.url:
            raise ValueError


@deferred_f_from_coro_f
async def test_pages_on_which_the_callback_fails_have_no_items(crawl):
    """Pages whose callback raises count as pages without items, and end a crawl."""

    def respond(request):
        number = number_of(request)
        return page("<p>nothing" + anchors("day", (number + 1, number + 2)))

    result = await crawl(respond, {**STOPPING, "URLCANON_ORDER_BY": "items"}, spider=Failing)
    assert result.stats["finish_reason"] == NO_NEWS
    assert len(result.hits) < NEEDED + 10


def chain_and_articles(request):
    """Link an endless chain without news first, and articles deep in another one."""
    number = number_of(request)
    if "/article/" in request.target:
        return page(words(request.target, 60) + anchors("article", (number + 1,)))
    if request.target == "/":
        return page(anchors("day", range(1, 9)) + anchors("article", (1,)))
    return page("<p>nothing" + anchors("day", (2 * number, 2 * number + 1)))


@deferred_f_from_coro_f
async def test_depth_has_no_say_in_the_order(crawl, caplog):
    """DEPTH_PRIORITY changes nothing in an ordered crawl, and a warning says so."""
    settings = {**STOPPING, "CLOSESPIDER_PAGECOUNT": 150}
    plain = await crawl(chain_and_articles, settings)
    assert plain.stats["finish_reason"] == "closespider_pagecount"
    for priority in (1, -1):
        caplog.clear()
        deep = await crawl(chain_and_articles, {**settings, "DEPTH_PRIORITY": priority})
        assert deep.hits == plain.hits
        (said,) = [
            record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING
        ]
        assert said.startswith("DEPTH_PRIORITY has no effect: URLCANON_ORDER decides")


class OwnScheduler(Scheduler):
    """A scheduler of the user."""


@pytest.mark.parametrize(
    ("settings", "depth"),
    [
        ({"SCHEDULER": OwnScheduler}, 0),
        ({"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}, 1),
        ({"URLCANON_ORDER": None}, 1),
    ],
)
@deferred_f_from_coro_f
async def test_depth_counts_where_the_order_is_not_at_work(crawl, settings, depth):
    """DEPTH_PRIORITY stays in force if another queue or scheduler keeps the order from working."""
    settings = {**ONE_BY_ONE, "URLCANON_ORDER": "novelty", "DEPTH_PRIORITY": 1, **settings}
    result = await crawl(lambda _: page("text"), settings)
    assert result.crawler.settings.getint("DEPTH_PRIORITY") == depth
