"""Pages that a server sends only once, or not at all, are not lost by being audited."""

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

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
from scrapy_urlcanon.crawl.dropped.drop import Drop


@pytest.mark.parametrize(
    "instead",
    [page("", status=429), page("", status=503), page("<title>Sold</title><p>It was sold to you.")],
    ids=["429", "503", "one page for all"],
)
@deferred_f_from_coro_f
async def test_page_that_is_answered_once_is_not_lost(crawl, instead):
    """If the server refuses the second fetch, the spider gets what the audit fetched first.

    The refusal is no evidence against the rule.
    """
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
    """A variant that always fails is not fetched again for each entry that its audit may judge."""
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


def test_refused_url_is_fetched_for_three_audits():
    """One that was not refused is fetched for one audit only."""
    url, entry = "http://a.example/?sid=1", RuleEntry("drop_params", "sid")
    drop = Drop(Request(url), "http://a.example/", b"", frozenset([entry]), "a.example")
    for outcomes in ([True, True, True], [True, False], [False]):
        sample = AuditSample(Canonicalizer(), 0.01, 0.1)
        record = sample.records.record(entry, "a.example")
        for is_refused in outcomes:
            assert sample.is_due(record, drop)
            sample.note_audited(url, is_refused=is_refused)
        assert not sample.is_due(record, drop)


@pytest.mark.parametrize(
    ("variant", "audited"),
    [
        (lambda _: page("", status=429), 4),
        (lambda _: product("/r"), 10),
        # Then the page that it is compared with shows itself again.
        (lambda visit: page(f"<p>{'x' * visit}"), 10),
    ],
    ids=["nothing", "its page", "another page each time"],
)
@deferred_f_from_coro_f
async def test_audits_that_are_all_refused(crawl, variant, audited):
    """An entry is audited ten times in vain, and fewer times if no page ever shows itself again."""
    pages = [f"/p{number}" for number in range(20)]

    def answer(request, visit):
        if request.query == "sid=1":
            return variant(visit)
        return page("", status=429) if request.query else product(request.path)

    urls = ["/r", "/r?sid=1", *pages, *(f"{path}?ref=1" for path in pages)]
    settings = {**SETTINGS, "URLCANON_RULES": {"site.example": {"drop_params": ["sid", "ref"]}}}
    result = await crawl(shop(urls, answer), {**settings, "RETRY_ENABLED": False})
    assert sum(hit.endswith("?ref=1") for hit in result.hits) == audited


@deferred_f_from_coro_f
async def test_variant_that_is_let_through_is_not_fetched_again(crawl):
    """A variant that an audit fetched reaches the spider without a second fetch."""
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
    """A downloader middleware that reads in process_response what process_request noted in meta."""

    def process_request(self, request):
        request.meta["begun"] = "now"

    def process_response(self, request, response):
        response.headers["Begun"] = request.meta["begun"]
        return response


class ReadingMeta(FollowSpider):
    """A spider that reads what the downloader notes in meta."""

    def parse(self, response):
        assert response.meta["download_latency"] >= 0
        yield from super().parse(response)


@deferred_f_from_coro_f
async def test_variant_that_is_let_through_has_the_meta_of_what_was_fetched(crawl):
    """A variant that an audit fetched keeps its meta when it reaches the spider.

    Without it a middleware or callback that reads it would raise, and the page would be lost.
    """
    urls = [f"/p?id={n}" for n in range(30)]
    pages = shop(urls, lambda request, _: product(request.query))
    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 1, "DOWNLOADER_MIDDLEWARES": {Timing: 543}}
    result = await crawl(pages, settings, spider=ReadingMeta)
    assert result.pages == sorted(["/", *urls])


class Soft:
    """A spider middleware that takes some pages for errors, and drops them."""

    def process_spider_input(self, response):
        if b"missing" in response.body:
            raise IgnoreRequest


@deferred_f_from_coro_f
async def test_what_an_errback_makes_of_a_page_of_an_audit_is_fetched(crawl):
    """A request that an errback makes of an audited one is fetched, though it has its meta."""
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
    """A middleware that puts a page of a browser in meta, as scrapy-playwright does."""

    def process_response(self, request, response):
        if request.meta.get("begun"):
            request.meta["playwright_page"] = SimpleNamespace(is_closed=lambda: True)
        return response


@deferred_f_from_coro_f
async def test_variant_that_is_to_have_a_page_of_a_browser_is_fetched_for_it(crawl):
    """A variant whose request wants an open page of a browser is fetched again for the spider.

    The one that the audit had is closed by then.
    """
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
    """If several variants show one page, the spider gets the one that an audit has fetched.

    The first that was dropped would be fetched anew, and the server sends the page only once.
    """
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
    """A page fetched to tell two entries apart reaches the spider if it is new.

    The server sends it only once, and its link comes late.
    """
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
async def test_page_that_failed_comes_once_the_wrong_rule_falls(crawl):
    """A page that failed is fetched by another of its URLs once the wrong rule is off.

    A variant that was fetched in its place turned out to be another page.
    """
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
    """After a rescue, variants are compared with the rescued page.

    The URL that was kept at first fails again, so that nothing could be compared with it.
    """
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
    """Return a function that answers each URL once with the product, and then with errors."""

    def answer(request, _):
        asked[request.target] += 1
        return product(1) if asked[request.target] == 1 else page("", status=404)

    return answer


@deferred_f_from_coro_f
async def test_page_of_another_callback_is_answered_to_that_one(crawl):
    """A variant that is fetched for a second callback is not audited besides.

    The server sends it only once: the audit would use up the only answer.
    """
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
    """A variant that waits for another callback is not audited.

    Here a request that is not filtered brings the page before the kept request does. The variant is
    fetched for its own callback once that request has ended.
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
    """A downloader middleware that refuses one URL from its second response on."""

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
    """If a middleware refuses the second fetch of the kept page, the variant is let through.

    Scrapy reports no such refusal: the audit would wait for the response for ever.
    """
    urls = ["/p?id=0", "/p?id=1"]
    settings = {**WRONG, **SETTINGS, "DOWNLOADER_MIDDLEWARES": {RaiseAtTheFirst: 500}}
    settings["URLCANON_AUDIT"] = 1
    respond = shop(urls, lambda request, _: product(request.target.replace("/", "")))
    result = await crawl(respond, settings)
    assert result.pages == sorted(["/", *urls])


@deferred_f_from_coro_f
async def test_kept_page_that_is_redirected_to_itself_by_now(crawl):
    """If the second fetch of the kept page redirects to itself, the variant is let through.

    The duplicate filter drops the redirect, which must end the audit.
    """
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
    """A variant let through without a verdict is not what later variants are compared with.

    Those would show the same, and would be evidence for the wrong entry.
    """
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
async def test_page_that_an_audit_passed_on_is_not_fetched_again_once_its_entry_is_off(crawl, name):
    """Pages that an audit let through are not fetched again by a variant when the entry falls.

    Their variants under another wrong entry are fetched once each.
    """
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
