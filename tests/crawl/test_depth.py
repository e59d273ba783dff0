"""DEPTH_LIMIT: the depth of a page with several URLs is that of its nearest link."""

from collections import Counter

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links, site

RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    # First in, first out: what a test links first is fetched first.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


@deferred_f_from_coro_f
async def test_depth_counts_from_where_a_page_is_linked_nearest(crawl):
    """A variant at a lower depth is fetched, since the limit may have cut off the page's links."""
    pages = {
        "/": links("/1", "/a?sid=1"),
        "/1": links("/2"),
        "/2": links("/a?sid=2"),
        "/a?sid=1": links("/beyond"),
        "/a?sid=2": links("/beyond"),
        "/beyond": links("/end"),
        "/end": page("end"),
    }
    deep_first = {"SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.LifoMemoryQueue"}
    for order in ({}, deep_first):
        result = await crawl(site(pages), {**RULES, **order, "DEPTH_LIMIT": 3})
        assert {"/beyond", "/end"} <= set(result.pages)


class Unfiltered(FollowSpider):
    """Makes all its requests unfiltered."""

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a", dont_filter=True)


class UnfilteredRaising(Unfiltered):
    """Raises at each page, after following its links."""

    def parse(self, response):
        yield from super().parse(response)
        raise ValueError


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        (FollowSpider, {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}),
        (Unfiltered, {}),
        (UnfilteredRaising, {}),
    ],
)
@deferred_f_from_coro_f
async def test_depth_limit_ends_a_crawl_that_drops_nothing(crawl, spider, settings):
    """DEPTH_LIMIT ends a crawl of pages that link each other, though nothing is filtered."""
    pages = {"/": links("/a?sid=1"), "/a?sid=1": links("/b"), "/b": links("/a?sid=1", "/a?sid=2")}
    pages["/a?sid=2"] = pages["/a?sid=1"]
    settings = {**RULES, **settings, "DEPTH_LIMIT": 5, "CLOSESPIDER_PAGECOUNT": 60}
    result = await crawl(site(pages), settings, spider=spider)
    assert Counter(hit[:2] for hit in result.hits) == {"/": 1, "/a": 1 + 2 + 4, "/b": 1 + 2}


@pytest.mark.parametrize("late", [["/a?sid=1"], ["/a?sid=1", "/a?sid=3"], ["/a?sid=3", "/a?sid=1"]])
@deferred_f_from_coro_f
async def test_page_that_was_fetched_deeper_is_fetched_again(crawl, late):
    """A page that was fetched deeper is fetched again, by further URLs if the first fails."""
    pages = {
        "/": links("/late", "/1"),
        "/1": links("/2"),
        "/2": links("/a?sid=2"),
        "/late": links(*late),
        "/a?sid=1": links("/beyond"),
        "/a?sid=3": page("gone", status=404),
        "/a?sid=2": links("/beyond"),
        "/beyond": page("beyond"),
    }
    deep_first = {
        "CONCURRENT_REQUESTS": 1,
        # Nothing is fetched before what a page links is scheduled.
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.LifoMemoryQueue",
    }
    result = await crawl(site(pages), {**RULES, **deep_first, "DEPTH_LIMIT": 3})
    assert result.hits[:4] == ["/", "/1", "/2", "/a?sid=2"]
    assert "/beyond" in result.pages


@pytest.mark.parametrize("rewrite", [False, True])
@deferred_f_from_coro_f
async def test_depth_of_another_page_that_an_audit_finds(crawl, rewrite):
    """A page that an audit found has the depth of its first link, as without the plugin."""
    text = "<p>" + " ".join(f"word{n}" for n in range(30))

    def linking(name, *urls):
        anchors = "".join(f'<a href="{url}">link</a>' for url in urls)
        return page(f"<title>{name}</title><h1>{name}</h1>{text.replace('w', name)}</p>{anchors}")

    pages = {
        "/": links("/a?id=1", "/a?id=2", "/a?id=3"),
        "/a": linking("first", "/a?id=2", "/a?id=3"),
        "/a?id=1": linking("first", "/a?id=2", "/a?id=3"),
        "/a?id=2": linking("second", "/b"),
        "/a?id=3": linking("third", "/c"),
        "/b": page("b"),
        "/c": page("c"),
    }
    settings = {
        **RULES,
        "URLCANON_RULES": {"site.example": {"drop_params": ["id"]}},
        "URLCANON_REWRITE": rewrite,
        "URLCANON_AUDIT": 1,
        "DEPTH_LIMIT": 2,
    }
    result = await crawl(site(pages), settings)
    assert {"/b", "/c"} <= {*result.pages}
