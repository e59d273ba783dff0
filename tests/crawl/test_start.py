"""Whether a start request counts as seen."""

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, ClosedScheduler, FollowSpider, links, site

ON = {"URLCANON_RECORD_START": True, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}


class StartUrls(FollowSpider):
    """Leaves the start requests to Scrapy, which gives them dont_filter."""

    def __init__(self, start, *args, **kwargs):
        super().__init__(start, *args, **kwargs)
        self.start_urls = list(start)
        del self.start


HOME = {"/": links("/", "/?sid=1", "/a"), "/a": links("/", "/?sid=2")}


@deferred_f_from_coro_f
async def test_recorded_start_page_is_fetched_once(crawl):
    """With URLCANON_RECORD_START a link to the start page, or to a variant of it, is dropped."""
    result = await crawl(site(HOME), ON, spider=StartUrls)
    assert result.hits == ["/", "/a"]


@deferred_f_from_coro_f
async def test_off_by_default(crawl):
    """By default a link to the start page is fetched, as Scrapy does: its callback may differ."""
    result = await crawl(site(HOME), {**ON, "URLCANON_RECORD_START": False}, spider=StartUrls)
    assert len(result.hits) == 3


@deferred_f_from_coro_f
async def test_page_that_the_start_request_was_redirected_to(crawl):
    """The page behind the redirect of a start request counts as seen too."""
    pages = {"/": redirect("/home"), "/home": links("/home", "/", "/a"), "/a": links("/home")}
    result = await crawl(site(pages), ON, spider=StartUrls)
    assert result.hits == ["/", "/home", "/a"]


@pytest.mark.parametrize("dont_filter", [True, False])
@deferred_f_from_coro_f
async def test_start_requests_are_filtered_as_before(crawl, dont_filter):
    """Recording drops no start request: one URL for several cookie jars stays several."""
    start = [Request(f"{SITE}/a", dont_filter=dont_filter, meta={"cookiejar": n}) for n in range(3)]
    result = await crawl(site({"/a": page("a")}), ON, start=start)
    assert len(result.hits) == (3 if dont_filter else 1)


@deferred_f_from_coro_f
async def test_scheduler_without_a_dupefilter_is_said(crawl, caplog):
    """Where there is no dupefilter to record in, a warning says so once, and all goes on."""
    start = (f"{SITE}/", f"{SITE}/a")
    result = await crawl(
        site(HOME), {**ON, "SCHEDULER": ClosedScheduler}, spider=StartUrls, start=start
    )
    assert sorted(set(result.hits)) == ["/", "/a"]
    warnings = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert len([w for w in warnings if "URLCANON_RECORD_START" in w]) == 1
