"""What a server answers once, or not at all, is not lost for an audit."""

from collections import Counter
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, audits, product, shop
from loopback import Response, page, redirect
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links


@pytest.mark.parametrize(
    "instead",
    [page("", status=429), page("", status=503), page("<title>Sold</title><p>It was sold to you.")],
    ids=["429", "503", "one page for all"],
)
@deferred_f_from_coro_f
async def test_page_that_is_answered_once_is_not_lost(crawl, instead):
    """What a server refuses to send again is no evidence, and the spider gets what there was."""
    asked = Counter()

    def answer(request, _):
        asked[request.target] += 1
        number = request.target.replace("/", "").replace("?id=", "")
        return product(number) if asked[request.target] == 1 else instead

    urls = [f"/{path}?id={n}" for n in range(4) for path in "abc"]
    settings = {**WRONG, **SETTINGS, "RETRY_ENABLED": False, "URLCANON_AUDIT": 1}
    result = await crawl(shop(urls, answer), settings)
    assert result.pages == sorted(["/", *urls])
    assert all(asked[url] == 1 for url in urls[3:])
    assert audits(result.figures) == {"audit/unjudged": 9}


@deferred_f_from_coro_f
async def test_variant_that_is_refused_again_and_again(crawl):
    """One that could tell of another entry too is not asked for without end."""
    asked = Counter()

    def answer(request, _):
        asked[request.target] += 1
        return page("", status=503) if request.query else product(1)

    urls = ["/p", "https://site.example/p", "/p?sid=1"]
    settings = {**RIGHT, **SETTINGS, "RETRY_ENABLED": False, "URLCANON_AUDIT": 1}
    settings["URLCANON_PRESET"] = "aggressive"
    result = await crawl(shop(urls, answer), settings)
    assert result.pages == ["/", "/p"]
    assert 1 <= asked["/p?sid=1"] <= 5


@deferred_f_from_coro_f
async def test_variant_that_is_let_through_is_not_fetched_again(crawl):
    """What an audit had of it is what the spider gets."""
    asked = Counter()

    def answer(request, _):
        asked[request.target] += 1
        # Of the first one nothing can be told, since the log-in form stands elsewhere too.
        return product(request.query if request.query != "id=1" else "id=form")

    urls = ["/a?id=form", "/b?id=form", "/c?id=form", *(f"/p?id={n}" for n in range(8))]
    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert asked["/p?id=1"] == 1
    assert f"{SITE}/p?id=1" in {item["url"] for item in result.items}


class Timing:
    """A downloader middleware that reads of a response what it noted when it was asked for."""

    def process_request(self, request):
        request.meta["begun"] = "now"

    def process_response(self, request, response):
        response.headers["Begun"] = request.meta["begun"]
        return response


class ReadingMeta(FollowSpider):
    """Has what the downloader notes of a page."""

    def parse(self, response):
        assert response.meta["download_latency"] >= 0
        yield from super().parse(response)


@deferred_f_from_coro_f
async def test_variant_that_is_let_through_has_the_meta_of_what_was_fetched(crawl):
    """A middleware, or a callback, that reads what is noted there would raise, with the page."""
    urls = [f"/p?id={n}" for n in range(30)]
    pages = shop(urls, lambda request, _: product(request.query))
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "DOWNLOADER_MIDDLEWARES": {Timing: 543}}
    result = await crawl(pages, settings, spider=ReadingMeta)
    assert result.pages == sorted(["/", *urls])


class Soft:
    """A spider middleware that takes some pages for errors."""

    def process_spider_input(self, response):
        if b"missing" in response.body:
            raise IgnoreRequest


@deferred_f_from_coro_f
async def test_what_an_errback_makes_of_a_page_of_an_audit_is_fetched(crawl):
    """It is no audit, though it has the meta of one."""
    urls = [f"/p?id={n}" for n in range(12)]

    class Recovering(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            for each in response.css("a"):
                yield response.follow(each, errback=self.recover)

        def recover(self, failure):
            url = failure.request.url.replace("/p", "/other")
            yield failure.request.replace(url=url, errback=None)

    def answer(request, _):
        is_missing = "/p" in request.target and int(request.query[3:]) % 2
        return product(f"{request.query} {'missing' if is_missing else ''}")

    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "SPIDER_MIDDLEWARES": {Soft: 543}}
    result = await crawl(shop(urls, answer), settings, spider=Recovering)
    others = [url.replace("/p", "/other") for url in urls[1::2]]
    assert result.pages == sorted(["/", *urls[::2], *others])


class Browser(Timing):
    """One that gives what it fetches an open page, as scrapy-playwright does."""

    def process_response(self, request, response):
        if request.meta.get("begun"):
            request.meta["playwright_page"] = SimpleNamespace(is_closed=lambda: True)
        return response


@deferred_f_from_coro_f
async def test_variant_that_is_to_have_a_page_of_a_browser_is_fetched_for_it(crawl):
    """That of the audit was closed."""
    urls = [f"/p?id={n}" for n in range(30)]

    class Taking(FollowSpider):
        def parse(self, response):
            page = response.meta["playwright_page"]
            yield {"url": response.url, "text": str(page.is_closed())}
            for each in response.css("a"):
                yield response.follow(each, meta={"playwright_include_page": True})

    pages = shop(urls, lambda request, _: product(request.query))
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "DOWNLOADER_MIDDLEWARES": {Browser: 543}}
    result = await crawl(pages, settings, spider=Taking)
    assert result.pages == sorted(["/", *urls])


@deferred_f_from_coro_f
async def test_page_that_is_answered_once_comes_from_the_url_that_was(crawl):
    """Of its URLs the one that an audit had an answer for stands for it, whatever came first."""
    asked = Counter()

    def answer(request, _):
        number = request.query.partition("&")[0]
        asked[number] += 1
        if number == "id=1" and asked[number] > 1:
            return page(chr(ord("a") + asked[number]) * 9)
        found = product(number)
        # This one is audited at once; /p?id=1 was dropped before it, and waits.
        also = b'<a href="/p?id=1&amp;sid=1">link</a>' * (number == "id=0")
        return Response(headers=found.headers, body=found.body + also)

    urls = [f"/p?id={n}" for n in (0, *range(2, 8), 1)]
    settings = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
    result = await crawl(shop(urls, answer), {**settings, **SETTINGS})
    assert any("numberid=1 " in item["text"] for item in result.items)


@deferred_f_from_coro_f
async def test_third_page_that_is_answered_once_is_not_lost(crawl):
    """What is fetched to tell two entries apart may be a page that the spider has not got."""
    asked = Counter()
    names = ("apples", "bees", "cats", "dogs", "emus", "foxes", "gnus", "hens")

    def answer(request, _):
        query = dict(parse_qsl(request.query))
        name = names[int(query.get("id", 0))] + " in boxes" * ("v" in query)
        asked[name] += 1
        if name == "bees" and asked[name] > 1:
            return page(chr(ord("a") + asked[name]) * 9)
        found = product(name)
        # The only link to it, on a page that comes once the entry is off.
        also = b'<a href="/p?id=1&amp;sid=1">link</a>' * (name == "hens")
        return Response(headers=found.headers, body=found.body + also)

    urls = ["/p?id=0", "/p?id=1&v=2", *(f"/p?id={n}" for n in range(2, 8))]
    settings = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "v", "sid"]}}}
    result = await crawl(shop(urls, answer), {**settings, **SETTINGS})
    assert any("numberbees is" in item["text"] for item in result.items)


@deferred_f_from_coro_f
async def test_page_that_failed_comes_once_the_rule_falls_that_had_another_one_fetched(crawl):
    """What came in its place is another page, and so is what waited for it."""
    # So that nothing is left to be told of what drops the other parameter.
    proved = [f"/b{query}" for query in ("", "?sid=1", "?sid=2", "?sid=3")]
    failing = ["/a?sid=1", "/a?sid=2&id=7", "/a?sid=3"]
    urls = [*proved, *failing, *(f"/p?id={n}" for n in range(9))]
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}

    def answer(request, _):
        told = [part for part in request.query.split("&") if part.startswith("id")]
        return page("", status=404) if request.target == "/a?sid=1" else product("".join(told))

    result = await crawl(shop(urls, answer), {**rules, **SETTINGS})
    assert result.figures["audit/suspended/drop_params/id"] == 1
    assert "/a?sid=3" in result.pages


@deferred_f_from_coro_f
async def test_variant_is_compared_with_what_came_in_place_of_a_page_that_failed(crawl):
    """The URL that stood for the page when it was dropped fails again, and tells nothing."""
    urls = ["/a?id=1", "/a?id=1&sid=2", "/a?id=3", "/a?id=3&sid=4"]
    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}

    def answer(request, _):
        if request.target == "/a?id=1":
            return page("", status=404)
        return product(request.query.partition("&")[0])

    result = await crawl(shop(urls, answer), {**rules, **SETTINGS, "URLCANON_AUDIT": 1})
    texts = " ".join(item["text"] for item in result.items)
    assert "numberid=1 is" in texts
    assert "numberid=3 is" in texts


def once(asked):
    """Return what answers with the product the first time, and with an error from then on.

    :param asked: counts how often each URL was asked for.
    """

    def answer(request, _):
        asked[request.target] += 1
        return product(1) if asked[request.target] == 1 else page("", status=404)

    return answer


@deferred_f_from_coro_f
async def test_page_of_another_callback_is_answered_to_that_one(crawl):
    """What is fetched for a second callback is not audited beside that: it would come twice."""
    asked, got = Counter(), []

    class Two(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield Request(f"{SITE}/p?id=1")
                yield Request(f"{SITE}/later")
            elif response.url == f"{SITE}/later":
                yield Request(f"{SITE}/p?id=1&sid=2", self.parse_again)

        def parse_again(self, response):
            got.append(response.url.removeprefix(SITE))

    result = await crawl(
        shop([], once(asked)), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1}, spider=Two
    )
    assert (result.pages, got) == (["/", "/later", "/p?id=1"], ["/p?id=1&sid=2"])
    assert max(asked.values()) == 1


@deferred_f_from_coro_f
async def test_page_that_another_callback_waits_for_is_answered_to_that_one(crawl):
    """Though the page is had: by a request that is not filtered, before the one that stands for it.

    What is dropped for that one is fetched for its own callback once that one has ended.
    """
    asked, got = Counter(), []

    class Two(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield Request(f"{SITE}/p?id=1", priority=-1)
                yield Request(f"{SITE}/p?id=1&sid=2", self.parse_again)
                yield Request(f"{SITE}/p?id=1&sid=3", dont_filter=True)
                yield Request(f"{SITE}/q")

        def parse_again(self, response):
            got.append(response.url.removeprefix(SITE))

    result = await crawl(
        shop([], once(asked)), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1}, spider=Two
    )
    assert (result.pages, got) == (["/", "/p?id=1", "/p?id=1&sid=3", "/q"], ["/p?id=1&sid=2"])


class RaiseAtTheFirst:
    """A downloader middleware that refuses what one URL answers from its second time on."""

    def __init__(self):
        self.seen = 0

    def process_response(self, request, response):
        is_it = request.url.endswith("/p?id=0")
        self.seen += is_it
        if is_it and self.seen > 1:
            raise IgnoreRequest
        return response


@deferred_f_from_coro_f
async def test_response_that_a_middleware_keeps_ends_its_audit(crawl):
    """Nobody says that it does not come. The spider gets what it was to be compared with."""
    urls = ["/p?id=0", "/p?id=1"]
    settings = {**WRONG, **SETTINGS, "DOWNLOADER_MIDDLEWARES": {RaiseAtTheFirst: 500}}
    settings["URLCANON_AUDIT"] = 1
    respond = shop(urls, lambda request, _: product(request.target.replace("/", "")))
    result = await crawl(respond, settings)
    assert result.pages == sorted(["/", *urls])


@deferred_f_from_coro_f
async def test_kept_page_that_is_redirected_to_itself_by_now(crawl):
    """The duplicate filter drops it, which ends its audit too, and the spider gets the other."""
    asked = Counter()

    def answer(request, _):
        asked[request.target] += 1
        if request.target == "/p?id=0" and asked[request.target] > 1:
            return redirect("/p?id=0")
        return product(request.target.replace("/", ""))

    urls = ["/p?id=0", "/p?id=1", *(f"/q?id={n}" for n in range(8))]
    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.pages == sorted(["/", *urls])


@deferred_f_from_coro_f
async def test_variant_that_is_let_through_in_doubt_does_not_stand_for_its_page(crawl):
    """What it shows would have its other URLs found one page with what merged it."""
    asked = Counter()

    def answer(request, _):
        if request.path != "/p":
            # Until then the audit is over.
            later = f"{request.target}l"
            return links(later) if len(later) < 20 else links("/p?id=2&sid=1", "/p?id=2&sid=2")
        number = request.query.partition("&")[0]
        asked[number] += 1
        is_gone = number == "id=1" and asked[number] > 1
        return page("", status=503) if is_gone else product(number)

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": ["id", "sid"]}}}
    settings = {**rules, **SETTINGS, "RETRY_ENABLED": False, "URLCANON_AUDIT": 1}
    result = await crawl(shop(["/p?id=1", "/p?id=2", "/l"], answer), settings)
    assert result.figures["audit/rule/drop_params:id/site.example/same"] == 0
    assert "/p?id=2" in result.pages


@pytest.mark.parametrize("name", ["ref", "size"])
@deferred_f_from_coro_f
async def test_page_that_an_audit_passed_on_is_had_once_its_entry_is_off(crawl, name):
    """No variant of it is fetched in its place, and none that another wrong entry merged twice."""
    urls = [f"/p?id={n}" for n in range(8)]

    def answer(request, _):
        more = [f"{request.target}&{name}={n}" for n in (1, 2)] if request.target in urls else []
        shown = product(request.query.partition("&ref")[0])
        return page(shown.body.decode() + links(*more).body.decode())

    entries = {"drop_params": ["id", name]}
    settings = {**SETTINGS, "URLCANON_RULES": {"site.example": entries}}
    result = await crawl(shop(urls, answer), settings)
    sizes = [f"{url}&size={n}" for url in urls for n in (1, 2)] if name == "size" else []
    assert sorted(item["url"] for item in result.items) == sorted(
        [f"{SITE}/", *(f"{SITE}{url}" for url in (*urls, *sizes))]
    )
    assert "rescued" not in result.figures
