"""A job that is killed after any record of its journal loses no page for any callback."""

import asyncio
from gc import collect
from pathlib import Path
from shutil import copytree
from urllib.parse import urlsplit

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.trackref import iter_all
from sites import ONE_BY_ONE, SITE, FollowSpider, RetryingSpider, links, site

from scrapy_urlcanon.crawl.job.journal import Journal, Kind

RULES = {"URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}}}
JOB = {**RULES, "JOBDIR": "job", "CONCURRENT_REQUESTS": 2}
FILE = Path("job/urlcanon.journal")
PAGES = {
    # The start page is fetched in each run.
    "/": links("/hub"),
    "/hub": links(
        "/a?sid=1", "/a?sid=2", "/a?sid=3", "/b?sid=1", "/old?sid=1", "/c?sid=x", "/c", "/g?sid=1"
    ),
    # The first URLs are dead, and so is the canonical one.
    "/a?sid=3": links("/d?sid=2", "/d?sid=1", "/hub", "/b?sid=x"),
    "/b?sid=1": links("/c?sid=1", "/a?sid=1"),
    "/b?sid=x": page("b"),
    "/old?sid=1": redirect("/e?sid=1"),
    "/e?sid=1": links("/f?sid=1", "/f?sid=2", "/old?sid=2"),
    "/old?sid=2": page("old"),
    "/f?sid=2": page("f"),
    "/c": page("c"),
    "/g?sid=1": page("g"),
    "/c?sid=x": page("c"),
    "/d": page("d"),
    "/d?sid=1": page("d"),
}


class TwoCallbacks(FollowSpider):
    """Follows links with `sid=x` with another callback, and begins unfiltered."""

    def _start(self, urls):
        async def start():
            for url in urls:
                yield Request(url, dont_filter=True)

        return start

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        self.errors.append(("parse", path_of(response.url)))
        for url in response.css("a::attr(href)").getall():
            yield response.follow(url, self.parse_other if "sid=x" in url else self.parse)

    def parse_other(self, response):
        self.errors.append(("parse_other", path_of(response.url)))


def path_of(url):
    """Return the path of *url*."""
    return urlsplit(url).path


def had(records):
    """Return the pairs of callback and page that *records* say were done."""
    pages = {each.fingerprint: path_of(each.request["url"]) for each in records if each.request}
    for each in records:
        if each.page and each.fingerprint in pages:
            pages[each.page] = pages[each.fingerprint]
    return {
        (each.callback.rpartition(".")[2], pages.get(each.page or each.fingerprint))
        for each in records
        if each.kind is Kind.FETCHED
    }


def written(records):
    """Write a journal of *records* alone, as a kill leaves it."""
    FILE.unlink()
    journal = Journal(FILE)
    journal.open(records[0].fingerprint)
    for each in records[1:]:
        if each.request:
            # Each crawl has a server of its own.
            each.request.get("meta", {}).pop("proxy", None)
        journal.add(each)
    journal.close()


def cuts(path=FILE):
    """Yield the records of the journal at *path* up to each of them, without the end of the run."""
    journal = Journal(path)
    journal.scan(lambda _: None)
    records = list(journal)
    assert records[-1].kind is Kind.CLOSED
    return [records[:end] for end in range(1, len(records))]


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({}, 6),
        ({"URLCANON_REWRITE": True}, 2),
        ({"URLCANON_AUDIT": 1}, 7),
        ({"RETRY_TIMES": 1, "RETRY_HTTP_CODES": [404]}, 8),
        ({"URLCANON_REWRITE": True, "URLCANON_DECLARED_CANONICAL": True}, 5),
    ],
    ids=["plain", "rewrite", "audit", "retries", "declared"],
)
@deferred_f_from_coro_f
async def test_kill_after_any_record(crawl, options, step, all_of_them):
    """After a kill at any record, each callback gets each page before or after it."""
    settings = {**JOB, **options}
    first = await crawl(site(PAGES), settings, spider=TwoCallbacks)
    expected = set(first.crawler.spider.errors)
    assert len(expected) == 12
    for records in cuts()[:: 1 if all_of_them else step]:
        written(records)
        result = await crawl(site(PAGES), settings, spider=TwoCallbacks)
        lost = expected - had(records) - set(result.crawler.spider.errors)
        assert lost == set(), records


@pytest.mark.parametrize("is_killed", [False, True])
@deferred_f_from_coro_f
async def test_what_one_run_dropped_the_next_one_lets_through(crawl, is_killed):
    """A suspension in the next run lets through what the last one dropped."""
    settings = {**JOB, "URLCANON_RULES": {"site.example": {"drop_params": ["id"]}}}
    settings |= {"URLCANON_AUDIT": 1e-9, "CONCURRENT_REQUESTS": 1}
    p, q = ([f"/{name}?id={number}" for number in range(8)] for name in "pq")
    pages = {url: page(f"<p>It is about {url[-1] * 9}, and {url[1]}.") for url in p + q}
    first = await crawl(site({**pages, "/": links(*p[:2]), p[1]: page("", status=503)}), settings)
    assert first.pages == ["/", p[0]]
    if is_killed:
        written(cuts()[-1])
    start = [Request(f"{SITE}/more", dont_filter=True)]
    second = await crawl(site({**pages, "/more": links(*q)}), settings, start=start)
    assert set(second.pages) == {"/more", p[1], *q}


class Sending(FollowSpider):
    """Gets a page by sending its form, whose answer is for another callback."""

    def parse(self, response):
        yield from response.follow_all(css="a")
        if "form" in response.text:
            yield response.request.replace(method="POST", body=b"a=1", callback=self.shown)

    def shown(self, response):
        yield {"url": response.url, "text": response.text}


@deferred_f_from_coro_f
async def test_second_step_that_fails_in_the_next_run(crawl):
    """If the second request fails in the next run, one more URL of the page is fetched."""
    urls = [f"/a?sid={number}" for number in range(3)]

    def respond(request):
        if request.target == "/":
            return links(*urls)
        if request.method == "GET":
            return page("form")
        return page("", status=404) if request.target == urls[0] else page("a")

    settings = {**JOB, "CONCURRENT_REQUESTS": 1}
    first = await crawl(respond, settings, spider=Sending)
    assert first.hits == ["/", urls[0], urls[0], urls[1], urls[1]]
    records = cuts()[-1]
    sent = [each.kind is Kind.ASKED for each in records].index(True)
    asked_again = [n for n, each in enumerate(records) if each.kind is Kind.ASKED][1]
    for end in range(sent + 2, asked_again):
        written(records[:end])
        result = await crawl(respond, settings, spider=Sending, start=())
        assert result.hits[-2:] == [urls[1], urls[1]]


@deferred_f_from_coro_f
async def test_error_that_the_spider_handles_is_no_page_in_the_next_run(crawl):
    """After a 404 that the spider handled, the next run fetches another URL of the page."""

    class Handling(FollowSpider):
        handle_httpstatus_list = (404,)

    pages = {"/": links("/a?sid=1")}
    await crawl(site(pages), JOB, spider=Handling)
    assert [each.kind for each in cuts()[-1]].count(Kind.LED) == 1
    pages = {"/": links("/a?sid=2", "/a?sid=3"), "/a?sid=2": page("a")}
    start = [Request(f"{SITE}/", dont_filter=True)]
    result = await crawl(site(pages), JOB, spider=Handling, start=start)
    assert result.pages == ["/", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_page_that_a_callback_retries_is_not_done(crawl):
    """A page that a callback retries is not done, even if it was linked twice."""
    settings = {**JOB, "CONCURRENT_REQUESTS": 1, "RETRY_TIMES": 2}
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    pages = {"/": links("/hub", "/a"), "/hub": links("/a")}
    await crawl(site({**pages, "/a": page("captcha")}), settings, spider=RetryingSpider)
    records = cuts()[-1]
    (page_of, *_) = [
        each.fingerprint for each in records if each.request and each.request["url"] == f"{SITE}/a"
    ]
    outcomes = [
        number
        for number, each in enumerate(records)
        if each.kind in {Kind.FETCHED, Kind.LED} and each.fingerprint == page_of
    ]
    assert [records[each].kind for each in outcomes] == [Kind.LED, Kind.LED, Kind.FETCHED]
    written(records[: outcomes[0] + 1])
    result = await crawl(
        site({**pages, "/a": page("a")}), settings, spider=RetryingSpider, start=()
    )
    assert "/a" in result.pages
    written(records[: outcomes[0] + 1])
    start = [Request(f"{SITE}/", dont_filter=True)]
    pages = {"/": links("/a?sid=1"), "/a?sid=1": page("a")}
    result = await crawl(site(pages), settings, spider=RetryingSpider, start=start)
    assert "/a?sid=1" in result.pages


@pytest.mark.parametrize("error", [None, DropItem("old"), ValueError("wrong")])
@deferred_f_from_coro_f
async def test_page_whose_item_is_in_a_pipeline_is_not_done(crawl, error):
    """After a kill while an item of a page is in a pipeline the page is fetched again."""

    class Pipeline:
        async def process_item(self, item):
            if item["url"] == f"{SITE}/a":
                await asyncio.sleep(0.1)
                copytree("job", "killed")
                if error:
                    raise error
            return item

    pages = {"/": links("/a"), "/a": links("/b"), "/b": page("b")}
    settings = {**JOB, "ITEM_PIPELINES": {Pipeline: 1}}
    await crawl(site(pages), settings)
    killed = await crawl(site(pages), {**JOB, "JOBDIR": "killed"})
    # With Scrapy 2.15 a page may still wait for its callback that the one before it links.
    assert {"/a"} <= {*killed.hits} <= {"/a", "/b"}
    assert len(killed.hits) == len({*killed.hits})
    ended = await crawl(site(pages), JOB)
    assert ended.hits == []


class Unfiltered(FollowSpider):
    """Requests a page, and at last the same URL unfiltered."""

    last = Request(f"{SITE}/a?sid=2", dont_filter=True, priority=-1)

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        if response.url == f"{SITE}/":
            yield self.last
            yield from self.before()

    def before(self):
        yield from map(Request, (f"{SITE}/a?sid=1", f"{SITE}/a?sid=2", f"{SITE}/b"))


class SendingToo(Unfiltered):
    """Sends a form to that URL before, and one that redirects."""

    def before(self):
        for url in (f"{SITE}/a?sid=2", f"{SITE}/form"):
            yield Request(url, method="POST", body="x", dont_filter=True)


@pytest.mark.parametrize(("spider", "share"), [(Unfiltered, 1), (SendingToo, 0)])
@deferred_f_from_coro_f
async def test_what_nothing_filters_is_distinguished_from_what_else_ended(crawl, spider, share):
    """An unfiltered request is not done because a form, or the retry of an audit, has ended."""
    busy = {"/a?sid=2"}

    def respond(request):
        if request.method == "GET" and request.target in busy:
            busy.remove(request.target)
            return page("busy", status=503)
        if request.target == "/form":
            return redirect("/b")
        return page(f"{request.method} {request.path}")

    settings = {**JOB, **ONE_BY_ONE, "URLCANON_AUDIT": share, "RETRY_TIMES": 1}
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    await crawl(respond, settings, spider=spider)
    *_, records = cuts()
    last = max(n for n, each in enumerate(records) if each.kind is Kind.BEGUN)
    written(records[:last])
    second = await crawl(respond, settings | {"URLCANON_AUDIT": 0}, start=(), spider=spider)
    assert [item["text"] for item in second.items] == ["GET /a"]


@deferred_f_from_coro_f
async def test_page_that_is_done_is_kept_by_nobody(crawl):
    """A finished response is freed, even if its request's meta refers to it."""

    class Holding(FollowSpider):
        def parse(self, response):
            response.meta["cached_response"] = response
            yield from super().parse(response)

    pages = {"/": links("/held"), "/held": page("a")}
    result = await crawl(site(pages), JOB, spider=Holding)
    collect()
    assert result.hits == ["/", "/held"]
    assert not [response for response in iter_all("HtmlResponse") if "/held" in response.url]


class Numbered(Request):
    """A request class that sets a number if none is given."""

    attributes = (*Request.attributes, "number", "lane")

    def __init__(self, *args, number, lane=7, **kwargs):
        self.number = number
        self.lane = lane
        super().__init__(*args, **kwargs)


@deferred_f_from_coro_f
async def test_request_of_a_subclass_comes_back_with_all_of_its_values(crawl):
    """Attributes of a request subclass are restored, with values of 0 or empty too."""
    had = []

    class Asking(FollowSpider):
        def parse(self, response):
            yield response.follow("/first", self.page, priority=9)
            for sid in (1, 2):
                url = f"{SITE}/a?sid={sid}"
                yield Numbered(url, number=0, lane=0, callback=self.page)

        def page(self, response):
            if "sid" in response.url:
                had.append((response.url, response.request.number, response.request.lane))

    settings = {**JOB, "CONCURRENT_REQUESTS": 1}
    pages = {"/": page("start"), "/first": page("first"), "/a?sid=2": page("a")}
    stopped = {**settings, "CLOSESPIDER_PAGECOUNT": 2}
    await crawl(site(pages), stopped, spider=Asking, start=[Request(f"{SITE}/", dont_filter=True)])
    assert had == []
    await crawl(site(pages), settings, spider=Asking, start=[])
    assert had == [(f"{SITE}/a?sid=2", 0, 0)]
