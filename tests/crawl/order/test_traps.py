"""Crawls of sites with traps: the content comes before what says nothing new."""

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider
from trap_sites import SITES

NOVELTY = {"URLCANON_ORDER": "novelty", "CONCURRENT_REQUESTS_PER_DOMAIN": 4}
BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
}


SMALL = {
    "articles": 60,
    "years": range(2000, 2004),
    "filters": {"colour": tuple("rgbw"), "size": tuple("sml"), "brand": tuple("xyz")},
    "empty": 50,
}


def small(name):
    """Return the site of this *name* with 60 articles."""
    kind = SITES[name]
    return type(kind.__name__, (kind,), SMALL)()


def respond_with(site):
    """Return a server of *site*."""

    def respond(request):
        text = site(request.url)
        return page("missing", status=404) if text is None else page(text)

    return respond


async def found(crawl, site, settings, fetches):
    """Return how many pages of content a crawl of *site* reaches in so many *fetches*."""
    result = await crawl(
        respond_with(site), {**settings, "CLOSESPIDER_PAGECOUNT": fetches}, start=[f"{site.host}/"]
    )
    return len(site.content & {f"{site.host}{hit}" for hit in result.hits[:fetches]})


@pytest.mark.parametrize(
    ("name", "fetches"),
    [("finder", 110), ("shop", 110), ("variants", 110), ("calendar", 120)],
)
@deferred_f_from_coro_f
async def test_content_comes_before_the_trap(crawl, name, fetches):
    """What is new is reached, and more of it than in the order of the links."""
    site = small(name)
    reached = await found(crawl, site, NOVELTY, fetches)
    assert reached >= 0.75 * len(site.content)
    assert reached > await found(crawl, site, BREADTH_FIRST, fetches)


@pytest.mark.parametrize("name", ["late", "shop"])
@deferred_f_from_coro_f
async def test_crawl_to_the_end_fetches_what_it_fetches_without_the_order(crawl, name):
    """The order drops nothing, whatever is expected of it."""
    site = small(name)
    without = await crawl(respond_with(site), {}, start=[f"{site.host}/"])
    ordered = await crawl(respond_with(site), NOVELTY, start=[f"{site.host}/"])
    assert sorted(ordered.hits) == sorted(without.hits)


@deferred_f_from_coro_f
async def test_priorities_of_the_spider_keep_their_order(crawl):
    """What the spider puts first comes first, however little is expected of it."""

    class Prioritizing(FollowSpider):
        def parse(self, response):
            yield {"url": response.url}
            if response.url == f"{SITE}/":
                for number in range(40):
                    yield response.follow(f"/low/{number}", priority=-1)
                    yield response.follow(f"/high/{number}", priority=1)

    result = await crawl(
        lambda request: page(request.url if "/low/" in request.url else "nothing"),
        {**NOVELTY, "CONCURRENT_REQUESTS": 1},
        spider=Prioritizing,
    )
    kinds = [hit.split("/")[1] for hit in result.hits[1:]]
    assert kinds == ["high"] * 40 + ["low"] * 40


@pytest.mark.parametrize("before", [{}, NOVELTY])
@deferred_f_from_coro_f
async def test_job_goes_on_where_it_was_stopped(crawl, before, tmp_path):
    """Everything is fetched once, whether the job began with the order or without it."""
    site = small("shop")
    job = {"JOBDIR": str(tmp_path / "job")}
    first = await crawl(
        respond_with(site),
        {**before, **job, "CLOSESPIDER_PAGECOUNT": 40},
        start=[f"{site.host}/"],
    )
    second = await crawl(respond_with(site), {**NOVELTY, **job}, start=[])
    whole = await crawl(respond_with(site), {}, start=[f"{site.host}/"])
    assert sorted({*first.hits, *second.hits}) == sorted(whole.hits)
    assert len(first.hits) + len(second.hits) == len(whole.hits)
