"""What a middleware answers with where a download failed is not the page; what it asks for is."""

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
    """A downloader middleware of the spider's project."""

    def process_exception(self, request, exception):
        del exception
        return HtmlResponse(request.url, body=b"sorry")


class TryAgain:
    """One that returns the very request that failed."""

    def process_exception(self, request, exception):
        del exception
        request.dont_filter = True
        return request


@deferred_f_from_coro_f
async def test_variant_that_brings_the_page_is_fetched(crawl):
    """With a warm HTTP cache too; and what no site sent is not recorded as seen there."""
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
    """No earlier run has got it."""
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
    """It is the same object; no variant is fetched besides."""
    answers = [page("a"), Response(fault=Fault.RESET)]
    pages = site({"/": links("/a?sid=1", "/a?sid=2")})
    result = await crawl(
        lambda request: answers.pop() if "sid" in request.url else pages(request),
        {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {TryAgain: 600}},
    )
    assert result.hits == ["/", "/a?sid=1", "/a?sid=1"]


class AsksAnotherServer:
    """Has pages fetched by a server that sells them, as the middlewares for those do."""

    def process_request(self, request):
        if request.url.startswith(API):
            return None
        meta = {**request.meta, "page": request.url}
        return request.replace(url=f"{API}{quote(request.url, safe='')}", meta=meta)

    def process_response(self, request, response):
        return response.replace(url=request.meta["page"])


class SendsToAnotherServer(AsksAnotherServer):
    """Sends that server what it asks for, as to one that has browsers show pages."""

    def process_request(self, request):
        asked = super().process_request(request)
        return asked and asked.replace(method="POST", body=request.url)


@pytest.mark.parametrize("service", [AsksAnotherServer, SendsToAnotherServer])
@deferred_f_from_coro_f
async def test_page_that_another_server_is_asked_for_is_had(crawl, service):
    """Its variants are duplicates; where that server has it not, another URL of it is asked for."""
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
    """Gives the response to the spider as that server sent it."""

    def process_response(self, request, response):
        del request
        return response


@pytest.mark.parametrize("service", [AsksAnotherServer, SendsToAnotherServer, TellsNoUrl])
@deferred_f_from_coro_f
async def test_page_that_another_server_is_asked_for_by_one_url_for_two_callbacks(crawl, service):
    """The second is no duplicate: without the plugin that URL was for one callback alone."""
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
    """As many are fetched as of the site itself, and all pages come under a wrong rule too.

    The URL that stands for them under that one fails, so that a rescue takes its place.
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
    """The next variant does not wait until nothing else is left to fetch."""
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
    """What it brings is no content of that page, whose other URL is asked for where it fails."""

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
    """Has a page fetched by what follows redirects itself, as a browser does."""

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
    """Where it showed another page, another URL of its own may show it; only once, if that too."""
    led = page(f"<p id=target>{target}")
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3"), "/a?sid=1": led, "/a?sid=2": led}
    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {Browsing: 900}}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", *asked]


class DataResponse(ScrapyResponse):
    """What a package answers with where a callback takes data that need no page."""


class WithoutAPage:
    """A downloader middleware that has the data of a page, and none of a URL that has none."""

    kind = DataResponse

    def process_request(self, request):
        if "/a" not in request.url:
            return None
        if "sid=1" in request.url:
            raise OSError
        return self.kind(request.url)


class WithNothing(WithoutAPage):
    """One that answers with an empty page."""

    kind = ScrapyResponse


@pytest.mark.parametrize(
    ("middleware", "gets"), [(WithoutAPage, ["/a?sid=2"]), (WithNothing, ["/a?sid=2", "/a?sid=3"])]
)
@deferred_f_from_coro_f
async def test_response_that_stands_for_data_is_a_page(crawl, middleware, gets):
    """Its class says so: it has no body and no headers. No other URL of the page is asked for."""

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
