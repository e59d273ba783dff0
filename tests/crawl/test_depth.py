"""``DEPTH_LIMIT``: from where the depth of a page that has several URLs counts."""

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
    """A variant at a lesser depth is not dropped for one that was reached by a long way."""
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
    """Has no link that it follows dropped."""

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a", dont_filter=True)


class UnfilteredRaising(Unfiltered):
    """Raises at each page, once it has followed its links."""

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
    """Pages that link each other are fetched as deep as the limit says, and no deeper."""
    pages = {"/": links("/a?sid=1"), "/a?sid=1": links("/b"), "/b": links("/a?sid=1", "/a?sid=2")}
    pages["/a?sid=2"] = pages["/a?sid=1"]
    settings = {**RULES, **settings, "DEPTH_LIMIT": 5, "CLOSESPIDER_PAGECOUNT": 60}
    result = await crawl(site(pages), settings, spider=spider)
    assert Counter(hit[:2] for hit in result.hits) == {"/": 1, "/a": 1 + 2 + 4, "/b": 1 + 2}


@pytest.mark.parametrize("late", [["/a?sid=1"], ["/a?sid=1", "/a?sid=3"], ["/a?sid=3", "/a?sid=1"]])
@deferred_f_from_coro_f
async def test_depth_of_a_page_that_was_had_deeper(crawl, late):
    """It is fetched again, by one URL after the other: the limit cut off what is within it."""
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
    """It is that of the first link to it, as without the plugin, and not of the one audited."""
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
