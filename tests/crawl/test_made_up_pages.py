"""What a middleware answers after a failed download is not the page; what it requests is."""

import re
from dataclasses import replace
from urllib.parse import quote, unquote

import pytest
from audited_shop import RIGHT, WRONG, FirstPage, product, shop
from loopback import Fault, Response, page
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.http import Response as ScrapyResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.learn.readers.store import read_store

SETTINGS = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}
API = "http://api.example/?url="
FAILING = dict.fromkeys(("/a?sid=1", "/a?sid=2"), Response(fault=Fault.RESET))
PAGES = site({"/": links(*FAILING, "/a?sid=3"), **FAILING, "/a?sid=3": page("a")})


class Apologize:
    """A user's downloader middleware that answers failures with a page of its own."""

    def process_exception(self, request, exception):
        del exception
        return HtmlResponse(request.url, body=b"sorry")


class TryAgain:
    """A middleware that returns the request that failed, to be sent again."""

    def process_exception(self, request, exception):
        del exception
        request.dont_filter = True
        return request


@deferred_f_from_coro_f
async def test_variant_that_brings_the_page_is_fetched(crawl):
    """A page that a middleware made up does not count: a variant is fetched.

    With a warm HTTP cache too. The made-up page is not recorded as one of the site's.
    """
    settings = {
        **SETTINGS,
        "DOWNLOADER_MIDDLEWARES": {Apologize: 600},
        "HTTPCACHE_ENABLED": True,
        "URLCANON_RECORD": "o.sqlite",
    }
    for hits in (["/", *FAILING, "/a?sid=3"], [*FAILING]):
        result = await crawl(PAGES, settings)
        assert result.hits == hits
        assert [item["text"] for item in result.items][1:] == ["sorry", "sorry", "a"]
    assert {each.url for each in read_store("o.sqlite")} == {f"{SITE}/", f"{SITE}/a?sid=3"}


@deferred_f_from_coro_f
async def test_next_run_fetches_the_page(crawl):
    """A made-up page is not remembered in URLCANON_SEEN: the next run fetches the URL again."""
    settings = {
        **SETTINGS,
        "DOWNLOADER_MIDDLEWARES": {Apologize: 600},
        "URLCANON_SEEN": "seen.db",
    }
    for _ in range(2):
        result = await crawl(PAGES, settings, start=[f"{SITE}/a?sid=1"])
        assert result.hits == ["/a?sid=1"]


@deferred_f_from_coro_f
async def test_request_that_failed_and_is_sent_again_brings_the_page(crawl):
    """If a middleware sends the failed request again and that brings the page, that is all."""
    answers = [page("a"), Response(fault=Fault.RESET)]
    pages = site({"/": links("/a?sid=1", "/a?sid=2")})
    result = await crawl(
        lambda request: answers.pop() if "sid" in request.url else pages(request),
        {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {TryAgain: 600}},
    )
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1"]


class AsksAnotherServer:
    """Has pages fetched by a proxy service, as middlewares of such services do."""

    def process_request(self, request):
        if request.url.startswith(API):
            return None
        meta = {**request.meta, "page": request.url}
        return request.replace(url=f"{API}{quote(request.url, safe='')}", meta=meta)

    def process_response(self, request, response):
        return response.replace(url=request.meta["page"])


class SendsToAnotherServer(AsksAnotherServer):
    """Has pages fetched by a service that takes the URL in a POST."""

    def process_request(self, request):
        asked = super().process_request(request)
        return asked and asked.replace(method="POST", body=request.url)


@pytest.mark.parametrize("service", [AsksAnotherServer, SendsToAnotherServer])
@deferred_f_from_coro_f
async def test_page_that_another_server_fetched_counts(crawl, service):
    """A page that a service fetched counts, and its variants are dropped.

    If the service does not have it, another URL of the page is fetched.
    """
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/b?sid=1", "/b?sid=2")}
    pages |= {url: page(url) for url in ("/a?sid=1", "/a?sid=2", "/b?sid=2")}

    def respond(request):
        target = unquote(request.url.removeprefix(API)).removeprefix(SITE)
        return pages.get(target) or page("missing", status=404)

    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {service: 543}}
    result = await crawl(respond, settings)
    assert result.pages == ["/", "/a?sid=1", "/b?sid=2"]
    asked = [unquote(url.removeprefix(API)).removeprefix(SITE) for url in result.hits]
    assert asked == ["/", "/a?sid=1", "/b?sid=1", "/b?sid=2"]


class TellsNoUrl(AsksAnotherServer):
    """Leaves the URL of the service in the response."""

    def process_response(self, request, response):
        del request
        return response


@pytest.mark.parametrize("service", [AsksAnotherServer, SendsToAnotherServer, TellsNoUrl])
@deferred_f_from_coro_f
async def test_page_that_another_server_is_asked_for_by_one_url_for_two_callbacks(crawl, service):
    """Two callbacks get a page that a service is asked for by one URL.

    The second request to the service must not be dropped as a duplicate of the first.
    """
    got = []

    class Two(FollowSpider):
        def parse(self, response):
            del response
            for callback in (self.parse_one, self.parse_other):
                yield from (Request(f"{SITE}/a?sid={sid}", callback) for sid in (1, 2))

        def parse_one(self, response):
            del response
            got.append("one")

        def parse_other(self, response):
            del response
            got.append("other")

    def respond(request):
        target = unquote(request.url.removeprefix(API)).removeprefix(SITE)
        return page("missing", status=404) if target == "/a?sid=1" else page(target)

    await crawl(respond, {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {service: 543}}, spider=Two)
    assert sorted(got) == ["one", "other"]


@pytest.mark.parametrize("service", [AsksAnotherServer, SendsToAnotherServer])
@pytest.mark.parametrize("rules", [RIGHT, WRONG])
@deferred_f_from_coro_f
async def test_pages_of_another_server_are_audited_as_if_the_site_was_asked(crawl, service, rules):
    """With a service the audit fetches as many pages as without, and no page is lost.

    The URL that is kept under the wrong rule fails, so that a variant takes its place.
    """
    urls = [f"/p?id={number}&sid={sid}" for number in range(12) for sid in (1, 2)]
    number_of = re.compile(r"id=(\d+)")

    def answer(request, visit):
        number = int(number_of.search(request.target)[1])
        return product(number, seed=visit) if number else page("missing", status=404)

    counts = []
    for middlewares in ({}, {service: 543}):
        pages = shop(urls, answer)

        def respond(request, pages=pages):
            asked = unquote(request.url.removeprefix(API)).removeprefix(SITE)
            return pages(replace(request, target=asked))

        settings = {**SETTINGS, **rules, "URLCANON_AUDIT": 1, "DOWNLOADER_MIDDLEWARES": middlewares}
        result = await crawl(respond, settings, spider=FirstPage)
        got = {int(number) for url in result.pages for number in number_of.findall(url)}
        assert got == {*range(1, 12)}
        counts.append(len(result.hits))
    assert counts[0] == counts[1]


@deferred_f_from_coro_f
async def test_failure_of_a_page_that_another_server_is_asked_for_is_heard_of_at_once(crawl):
    """If the service fails, a variant is fetched soon, and not at the end of the crawl."""
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/1"), "/a?sid=2": page("a")}
    pages |= {f"/{n}": links(f"/{n + 1}") for n in range(1, 30)}

    def respond(request):
        target = unquote(request.url.removeprefix(API)).removeprefix(SITE)
        return pages.get(target) or page("missing", status=404)

    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {AsksAnotherServer: 543}}
    result = await crawl(respond, settings)
    asked = [unquote(url.removeprefix(API)).removeprefix(SITE) for url in result.hits]
    # It is the fifth or sixth, by the release of Scrapy.
    assert asked.index("/a?sid=2") < asked.index("/5")


@deferred_f_from_coro_f
async def test_form_that_another_server_is_asked_to_send_is_not_the_page_of_its_url(crawl):
    """The answer to a form that a service sends is not the page at its URL.

    If that page fails, another of its URLs is fetched.
    """

    class Sending(FollowSpider):
        def parse(self, response):
            yield {"url": response.url}
            if response.url == f"{SITE}/":
                yield response.follow("/a?sid=1", method="POST", body=b"q=1")
                yield from response.follow_all(["/a?sid=1", "/a?sid=2"])

    def respond(request):
        target = unquote(request.url.removeprefix(API)).removeprefix(SITE)
        is_missing = request.method == "GET" and target == "/a?sid=1"
        return page("missing", status=404) if is_missing else page(f"{request.method} {target}")

    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {AsksAnotherServer: 543}}
    settings["SCHEDULER_MEMORY_QUEUE"] = "scrapy.squeues.LifoMemoryQueue"
    result = await crawl(respond, settings, spider=Sending)
    assert result.pages == ["/", "/a?sid=1", "/a?sid=2"]


class Browsing:
    """Changes the URL of a response as a browser does that follows redirects itself."""

    def process_response(self, request, response):
        del request
        target = response.css("#target::text").get()
        return response.replace(url=response.urljoin(target)) if target else response


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("/other", ["/a?sid=1", "/a?sid=2"]),
        ("/other?sid=3", ["/a?sid=1", "/a?sid=2"]),
        ("/a?sid=2#top", ["/a?sid=1"]),
        ("/a/?sid=1", ["/a?sid=1"]),
        ("https://www.site.example/a?sid=1", ["/a?sid=1"]),
    ],
)
@deferred_f_from_coro_f
async def test_url_that_a_browser_is_redirected_from(crawl, target, asked):
    """If a browser ended at another page, a second URL is fetched; if it did so again, no third.

    If it ended at another form of the same URL, that is the page.
    """
    led = page(f"<p id=target>{target}")
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3"), "/a?sid=1": led, "/a?sid=2": led}
    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {Browsing: 900}}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", *asked]


class DataResponse(ScrapyResponse):
    """The dummy that scrapy-poet passes to callbacks that take data instead of a page."""


class WithoutAPage:
    """A middleware that answers with that dummy, and fails for one URL."""

    kind = DataResponse

    def process_request(self, request):
        if "/a" not in request.url:
            return None
        if "sid=1" in request.url:
            raise OSError
        return self.kind(request.url)


class WithNothing(WithoutAPage):
    """A middleware that answers with an empty page."""

    kind = ScrapyResponse


@pytest.mark.parametrize(
    ("middleware", "gets"), [(WithoutAPage, ["/a?sid=2"]), (WithNothing, ["/a?sid=2", "/a?sid=3"])]
)
@deferred_f_from_coro_f
async def test_response_that_stands_for_data_is_a_page(crawl, middleware, gets):
    """A dummy response of a class of its own counts as the page, though it is empty.

    No other URL of the page is fetched. A plain empty response does not count.
    """

    class Taking(FollowSpider):
        def parse(self, response):
            if "/a" in response.url:
                yield {"url": response.url, "text": ""}
            else:
                yield from super().parse(response)

    pages = site({"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3")})
    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {middleware: 543}}
    result = await crawl(pages, settings, spider=Taking)
    assert result.pages == ["/", *gets]
