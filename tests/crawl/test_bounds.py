"""Settings that bound memory, reading and errors in a crawl."""

import gc
from weakref import ref

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, product, shop
from declaring_shop import AUDITED, BOTH, CANONICALS, VARIANTS, declared, liar_from, respond_with
from loopback import page
from scrapy.core.scheduler import Scheduler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, links


@pytest.mark.parametrize(("pages", "times"), [(4, 2), (1_000, 1)])
@deferred_f_from_coro_f
async def test_page_that_is_forgotten_comes_again(crawl, pages, times):
    """Beyond URLCANON_REMEMBERED_PAGES pages are fetched again, and none is lost."""
    names = [f"/p{number}" for number in range(20)]
    late = [f"{name}?sid=1" for name in names]
    site = {"/": links(*names, "/late"), "/late": links(*late)}
    result = await crawl(
        lambda request: site.get(request.target) or page(request.path),
        {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0, "URLCANON_REMEMBERED_PAGES": pages},
    )
    came = [name.partition("?")[0] for name in result.pages]
    # The last ones are remembered.
    assert [came.count(name) for name in names[:15]] == [times] * 15
    assert result.figures.get("rescued", 0) == len(came) - len(names) - 2
    assert result.figures["dropped"] == len(late)


@deferred_f_from_coro_f
async def test_page_that_is_linked_again_and_again_is_not_forgotten(crawl):
    """A page that is linked often is not the first to be forgotten."""

    def answer(request):
        number = int(request.path[2:] or 0)
        return links(f"/p0?sid={number}", f"/p{number + 1}") if number < 40 else page("the end")

    settings = {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0, "URLCANON_REMEMBERED_PAGES": 8}
    result = await crawl(answer, settings, start=[f"{SITE}/p0", f"{SITE}/p1"])
    assert len(result.hits) == len(result.pages) == 41


@pytest.mark.parametrize(("rate", "found"), [(0.1, 2), (1, 5)])
@deferred_f_from_coro_f
async def test_rule_may_be_wrong_as_often_as_the_setting_says(crawl, rate, found):
    """A higher URLCANON_AUDIT_MAX_FALSE needs more different pages to suspend an entry."""
    urls = [f"/p?id={number}" for number in range(100)]
    respond = shop(urls, lambda request, _: product(request.query))
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "URLCANON_AUDIT_MAX_FALSE": rate}
    result = await crawl(respond, settings)
    assert result.figures["audit/rule/drop_params:id/site.example/another"] == found
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert result.pages == sorted(["/", *urls])


@pytest.mark.parametrize(("size", "is_read"), [(1_000, False), (100_000, True)])
@deferred_f_from_coro_f
async def test_larger_pages_are_compared_by_their_bytes(crawl, size, is_read):
    """Pages over URLCANON_AUDIT_MAX_SIZE are compared by bytes, so that tokens make them differ."""
    urls = [f"/p{number}{query}" for query in ("", "?sid=1") for number in range(10)]
    respond = shop(urls, lambda request, count: product(request.path, seed=count))
    settings = {**RIGHT, **SETTINGS, "URLCANON_AUDIT_MAX_SIZE": size}
    result = await crawl(respond, settings)
    same = result.figures.get("audit/rule/drop_params:sid/site.example/same", 0)
    assert (same > 0, "audit/unjudged" not in result.figures) == (is_read, is_read)
    assert "audit/false_merge" not in result.figures


@pytest.mark.parametrize(("size", "given_up"), [(10_000, True), (1_000_000, False)])
@deferred_f_from_coro_f
async def test_what_waits_takes_so_many_bytes(crawl, size, given_up):
    """Beyond URLCANON_PENDING_MAX_BYTES waiting variants are given up."""
    urls = [f"/p?sid={number}" for number in range(100)]
    settings = {**RIGHT, **SETTINGS, "URLCANON_PENDING_MAX_BYTES": size}
    result = await crawl(lambda request: links(*urls) if request.target == "/" else 404, settings)
    assert result.figures.get("rescue/given_up", 0) == len(urls) - result.figures["rescue/sent"] - 1
    assert (result.figures["rescue/sent"] < 20) is given_up


@pytest.mark.parametrize(
    "bound", [{}, {"URLCANON_PENDING_MAX_BYTES": 5_000}, {"URLCANON_AUDIT_MAX_PENDING": 3}]
)
@deferred_f_from_coro_f
async def test_what_was_dropped_for_a_declared_canonical_is_bounded(crawl, bound):
    """Drops for declared canonicals beyond the bounds are forgotten, and counted."""
    site = respond_with(liar_from(10), BOTH, VARIANTS, CANONICALS, CANONICALS)
    result = await crawl(site, {**AUDITED, **bound})
    figures = declared(result.figures)
    assert figures["released"] > 0
    assert (figures.get("forgotten", 0) > 0) is bool(bound)


@pytest.mark.parametrize(("lines", "is_enough"), [(10, False), (10_000, True)])
@deferred_f_from_coro_f
async def test_lines_beyond_the_setting_are_new_again(crawl, lines, is_enough):
    """With too low a URLCANON_ORDER_LINES the lines of all pages count as new each time."""
    frame = "".join(f"<p>This is line{number}, as on all pages" for number in range(50))
    urls = [f"/p{number}" for number in range(20)]
    settings = {"URLCANON_ORDER": "novelty", "URLCANON_ORDER_LINES": lines}
    result = await crawl(
        lambda request: links(*urls) if request.target == "/" else page(frame), settings
    )
    assert (result.figures["novelty/words"] < 50 * 7 + 50) is is_enough


@deferred_f_from_coro_f
async def test_entries_with_the_most_drops_have_stats(crawl):
    """At most a hundred entries have a stat, those with the most drops."""
    names = [f"x{number}" for number in range(110)]
    once = [f"/p?{name}=1" for name in names]
    result = await crawl(
        lambda request: links("/p", *once, "/p?x7=2") if request.target == "/" else page("p"),
        {"URLCANON_RULES": {"*": {"drop_params": names}}},
    )
    found = {name: n for name, n in result.figures.items() if name.startswith("dropped/entry/")}
    assert len(found) == 100
    assert result.figures["dropped/variant"] == 111


class OwnFilter(RFPDupeFilter):
    """A duplicate filter of the user."""

    def request_seen(self, request):
        return super().request_seen(request)


class OwnScheduler(Scheduler):
    """A scheduler of the user."""

    def enqueue_request(self, request):
        return super().enqueue_request(request)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "URLCANON_AUDIT": 1,
            "URLCANON_CLEAN_PARAM": True,
            "URLCANON_DECLARED_CANONICAL": True,
            "URLCANON_ORDER": "novelty",
            "URLCANON_RECORD": "seen.sqlite",
            "URLCANON_REPORT": "report.html",
            "URLCANON_SEEN": "had.sqlite",
            "URLCANON_STOP": 0.01,
        },
        {"JOBDIR": "job", "URLCANON_AUDIT": 1},
        {"DUPEFILTER_CLASS": OwnFilter},
        {"SCHEDULER": OwnScheduler},
    ],
    ids=["alone", "all", "job", "filter", "scheduler"],
)
@deferred_f_from_coro_f
async def test_nothing_is_kept_of_crawl_that_is_over(crawl, settings):
    """A finished crawl is garbage: nothing global refers to it."""
    urls = [f"/p{number}{query}" for query in ("", "?sid=1") for number in range(10)]
    result = await crawl(
        shop(urls, lambda request, _: product(request.path)), {**RIGHT, **settings}
    )
    assert result.figures["dropped"] == 10
    crawler = ref(result.crawler)
    del result
    gc.collect()
    assert crawler() is None


@deferred_f_from_coro_f
async def test_what_one_entry_drops_pushes_out_nothing_of_another_one(crawl):
    """Session ids in all links leave room for what a wrong entry drops, and that comes."""
    pages = [f"/p?id={n}" for n in range(12)]
    result = await crawl(
        lambda request: (
            links(*pages, *(f"/q?sid={n}" for n in range(60)))
            if request.target == "/"
            else product(request.query if request.path == "/p" else 0)
        ),
        {
            **SETTINGS,
            "URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}},
            "URLCANON_AUDIT_MAX_PENDING": 24,
        },
    )
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert {*pages} <= {*result.pages}
