"""URLCANON_RECORD_START: whether start requests count as seen."""

import asyncio

import pytest
from audited_shop import SETTINGS, WRONG, product
from loopback import page, redirect
from profiles.pages import body
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, ClosedScheduler, FollowSpider, links, site

ON = {"URLCANON_RECORD_START": True, "URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}


class StartUrls(FollowSpider):
    """Has start_urls, whose requests Scrapy makes unfiltered."""

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
    """By default a link to the start page is fetched, as by Scrapy."""
    result = await crawl(site(HOME), {**ON, "URLCANON_RECORD_START": False}, spider=StartUrls)
    assert len(result.hits) == 3


@deferred_f_from_coro_f
async def test_page_that_the_start_request_was_redirected_to(crawl):
    """The target of a redirected start request counts as seen too."""
    pages = {"/": redirect("/home"), "/home": links("/home", "/", "/a"), "/a": links("/home")}
    result = await crawl(site(pages), ON, spider=StartUrls)
    assert result.hits == ["/", "/home", "/a"]


@pytest.mark.parametrize("dont_filter", [True, False])
@deferred_f_from_coro_f
async def test_start_requests_are_filtered_as_before(crawl, dont_filter):
    """Start requests themselves are filtered as before: several for one URL stay several."""
    start = [Request(f"{SITE}/a", dont_filter=dont_filter, meta={"cookiejar": n}) for n in range(3)]
    result = await crawl(site({"/a": page("a")}), ON, start=start)
    assert len(result.hits) == (3 if dont_filter else 1)


@deferred_f_from_coro_f
async def test_scheduler_without_a_dupefilter_is_warned_of(crawl, caplog):
    """If there is no duplicate filter to record in, a warning says so once."""
    start = (f"{SITE}/", f"{SITE}/a")
    result = await crawl(
        site(HOME), {**ON, "SCHEDULER": ClosedScheduler}, spider=StartUrls, start=start
    )
    assert sorted(set(result.hits)) == ["/", "/a"]
    warnings = [r.getMessage() for r in caplog.records if r.name.startswith("scrapy_urlcanon")]
    assert len([w for w in warnings if "URLCANON_RECORD_START" in w]) == 1


class LongStart(FollowSpider):
    """Has start requests to come for as long as another program feeds it."""

    allowed_domains = ("site.example",)

    def _start(self, urls):
        async def start():
            yield Request(urls[0])
            for _ in range(200):
                if self.crawler.stats.get_value("item_scraped_count") == 2:
                    break
                await asyncio.sleep(0.005)
            yield Request(urls[1])

        return start


VARIANTS = links("/a?sid=1", "/a?sid=2")
FORUM = page(
    body(
        '<a href="https://www.phpbb.com/">phpBB</a><a href="viewtopic.php?p=5">a post</a>'
        '<link href="./styles/prosilver/theme/stylesheet.css" rel="stylesheet">',
        'id="phpbb" class="nojs"',
    )
)


@pytest.mark.parametrize(
    "pages",
    [
        {"/": VARIANTS, "/a?sid=1": page("gone", status=404), "/a?sid=2": page("a")},
        {"/": VARIANTS, "/a?sid=1": redirect("http://else.example/"), "/a?sid=2": page("a")},
        {"/": FORUM, "/viewtopic.php?p=5": page("a post")},
    ],
    ids=["of an error", "of a redirect that is refused", "for the topic of a post"],
)
@deferred_f_from_coro_f
async def test_variant_waits_for_no_start_request(crawl, pages):
    """A variant is fetched when nothing else is left, though start requests are still to come."""
    rules = {"URLCANON_RULES": ON["URLCANON_RULES"]}
    result = await crawl(site(pages), rules, start=(f"{SITE}/", f"{SITE}/last"), spider=LongStart)
    assert result.hits == [*pages, "/last"]


@deferred_f_from_coro_f
async def test_variant_is_remembered_where_what_stands_for_its_page_is_to_come(crawl):
    """A variant waits for the kept request, though a start request for the page failed before."""
    urls = [f"/{name}?id={n}" for name in "pq" for n in range(1, 6)]

    def respond(request):
        if request.path == "/":
            return links(*urls)
        return page("gone", status=404) if request.query == "id=0" else product(request.target)

    start = [Request(f"{SITE}/p?id=0", dont_filter=True), f"{SITE}/"]
    result = await crawl(respond, {**WRONG, **SETTINGS}, start=start)
    assert {"/", *urls} == {*result.pages}
