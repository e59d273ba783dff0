"""An HTTP cache that holds a failure of one URL of a page, and is asked for another URL."""

import gzip
from pathlib import Path

import pytest
from audited_shop import SETTINGS as AUDITED
from audited_shop import WRONG, product, shop
from loopback import Response, page, redirect
from scrapy import Request
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, forget_queue, links, site

SETTINGS = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    "CONCURRENT_REQUESTS": 1,
    "HTTPCACHE_ENABLED": True,
}


def start():
    """Return unfiltered requests for two URLs of a page."""
    return [Request(f"{SITE}/a?sid={n}", dont_filter=True) for n in (1, 2)]


def packed(text):
    """Return a response with *text* compressed, which the cache stores as it is."""
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    return Response(200, headers, gzip.compress(text.encode()))


def empty(name):
    """Empty all stored files of that *name*."""
    for path in Path().rglob(name):
        path.write_bytes(b"")


@deferred_f_from_coro_f
async def test_failure_is_cached_for_its_own_url_only(crawl):
    """The cached failure of one URL does not answer another URL of the page."""
    for failure in (page("gone", status=404), redirect("/log-in")):
        pages = {"/a?sid=1": failure, "/a?sid=2": page("a"), "/log-in": page("who?")}
        settings = {**SETTINGS, "HTTPCACHE_DIR": f"cache{failure.status}"}
        for _ in ("cold", "warm"):
            result = await crawl(site(pages), settings, start=start())
            assert "/a?sid=2" in result.pages
        assert result.hits == []


@pytest.mark.parametrize("make", [page, packed])
@pytest.mark.parametrize("blank", ["", "<html><body></body></html>"])
@deferred_f_from_coro_f
async def test_document_with_nothing_in_it_is_cached_for_its_own_url_only(crawl, make, blank):
    """A cached empty document does not answer another URL of the page."""
    for hits in (["/a?sid=1", "/a?sid=2"], []):
        pages = {"/a?sid=1": make(blank), "/a?sid=2": make("a")}
        result = await crawl(site(pages), SETTINGS, start=start())
        assert result.hits == hits
        assert {"url": f"{SITE}/a?sid=2", "text": "a"} in result.items


@pytest.mark.parametrize("half", ["pickled_meta", "response_body"])
@deferred_f_from_coro_f
async def test_page_that_a_kill_left_half_of_is_fetched(crawl, half):
    """A page whose cache entry a kill left incomplete is fetched again.

    Scrapy writes several files for it, and would raise at an empty one, or take an empty body for
    the page.
    """
    await crawl(site({"/a": page("a")}), SETTINGS, start=[f"{SITE}/a"])
    empty(half)
    for hits in (["/a"], []):
        result = await crawl(site({"/a": page("a")}), SETTINGS, start=[f"{SITE}/a"])
        assert result.hits == hits
        assert result.items == [{"url": f"{SITE}/a", "text": "a"}]


@pytest.mark.parametrize("make", [page, packed])
@deferred_f_from_coro_f
async def test_refresh_is_cached_for_its_own_url_only(crawl, make):
    """A cached refresh that leads to a missing page does not answer another URL of the page.

    That other URL has a cache entry that has to be validated.
    """
    leading = make('<meta http-equiv="refresh" content="0; url=/gone">')
    fresh, stale = (("Cache-Control", f"max-age={age}") for age in (1000, 0))
    pages = {
        "/a?sid=1": Response(200, (*make("").headers, stale), make("a").body),
        "/a?sid=2": Response(200, (*leading.headers, fresh), leading.body),
        "/gone": page("", status=404),
    }
    settings = {**SETTINGS, "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy"}
    for _ in ("cold", "warm"):
        result = await crawl(site(pages), settings, start=start())
        assert result.pages == ["/a?sid=1"]


@deferred_f_from_coro_f
async def test_page_that_cannot_be_unpacked_is_cached_for_its_own_url_only(crawl):
    """A cached page that cannot be decompressed does not answer another URL of the page."""
    broken = Response(200, packed("").headers, b"\x1f\x8b\x08 and what is none")
    pages = {"/a?sid=1": broken, "/a?sid=2": packed("a")}
    for _ in ("cold", "warm"):
        result = await crawl(site(pages), SETTINGS, start=start())
        assert "/a?sid=2" in result.pages


@deferred_f_from_coro_f
async def test_what_another_page_was_stored_as_is_fetched_once_its_rule_was_taken_back(crawl):
    """After a wrong rule is removed its canonical URL is fetched, not read from the cache.

    The cache holds under its key what another URL showed.
    """
    pages = {
        "/": links("/a?sid=1", "/a", "/a?sid=2"),
        "/a?sid=1": page("a of 1"),
        "/a?sid=2": page("a of 2"),
        "/a": page("a of all"),
    }
    await crawl(site(pages), SETTINGS)
    for hits in (["/a", "/a?sid=1", "/a?sid=2"], []):
        result = await crawl(site(pages), {**SETTINGS, "URLCANON_RULES": {}})
        assert sorted(result.hits) == hits
        assert result.pages == sorted(pages)


class Led:
    """Changes the URL of a response, as a browser does that a script sent elsewhere."""

    def process_response(self, request, response):
        return response.replace(url=f"{SITE}/led") if "/a?" in request.url else response


@pytest.mark.parametrize("meta", [{}, {"urlcanon": False}])
@deferred_f_from_coro_f
async def test_page_that_a_browser_was_led_to_is_cached(crawl, meta):
    """A page whose response has another URL than its request is cached, and read again."""
    settings = {**SETTINGS, "DOWNLOADER_MIDDLEWARES": {Led: 950}}
    for hits in (["/a?sid=1"], []):
        request = Request(f"{SITE}/a?sid=1", meta=meta)
        result = await crawl(site({"/a?sid=1": page("a")}), settings, start=[request])
        assert result.hits == hits
        assert result.pages == ["/led"]


@deferred_f_from_coro_f
async def test_page_with_a_fragment_is_cached(crawl):
    """A page requested with a fragment is cached, though its response has a URL without it."""
    settings = {**SETTINGS, "URLCANON_RULES": {"site.example": {"fragment": "keep"}}}
    for hits in (["/a"], []):
        result = await crawl(site({"/a": page("a")}), settings, start=[f"{SITE}/a#one"])
        assert result.hits == hits
        assert [item["text"] for item in result.items] == ["a"]


@pytest.mark.parametrize("dont_filter", [False, True])
@pytest.mark.parametrize("place", [0, 3, 5])
@deferred_f_from_coro_f
async def test_page_for_which_another_was_cached_is_fetched_once_the_entry_fell(
    crawl, place, dont_filter
):
    """Each page is fetched once a wrong entry falls, whichever URL was cached before."""
    urls = [f"/p?id={n}" for n in range(6)]
    urls.insert(place, "/p")
    respond = shop(urls, lambda request, _: product(f"{request.query}."))
    settings = {**SETTINGS, **WRONG, **AUDITED}
    for order in (urls, urls[::-1]):
        requests = [Request(SITE + url, dont_filter=dont_filter) for url in order]
        result = await crawl(respond, settings, start=requests)
        assert {*result.pages} == {*urls}


class OwnServer:
    """Makes each run ask its own server, not that of the run which stored the request."""

    def process_request(self, request):
        for key in ("proxy", "_scheme_proxy"):
            request.meta.pop(key, None)


class Closing(FollowSpider):
    """Ends the crawl at the first page that comes from the cache."""

    dont_filter = False

    def parse(self, response):
        yield {"url": response.url, "text": response.text}
        yield from response.follow_all(css="a", dont_filter=self.dont_filter)
        if "cached" in response.flags:
            raise CloseSpider


class ClosingUnfiltered(Closing):
    """Makes all its requests unfiltered."""

    dont_filter = True


@pytest.mark.parametrize("spider", [Closing, ClosingUnfiltered])
@pytest.mark.parametrize("ending", ["in order", "by a kill", "under other rules"])
@deferred_f_from_coro_f
async def test_page_for_which_another_was_cached_is_fetched_in_the_next_run_of_a_job(
    crawl, ending, spider
):
    """The next run of a job fetches a page whose request was answered with another one's cache.

    Only the journal says whose page that was.
    """
    pages = {"/": ["/p?id=1"], "/later": [f"/p?id={n}" for n in range(2, 8)]}

    def respond(request):
        linked = pages.get(request.target)
        return links(*linked) if linked else product(f"{request.query}.")

    settings = {**SETTINGS, **WRONG, **AUDITED}
    await crawl(respond, settings, start=[f"{SITE}/p?id=0"])
    settings["JOBDIR"] = "job"
    settings["SCHEDULER_DISK_QUEUE"] = "scrapy.squeues.PickleFifoDiskQueue"
    settings["DOWNLOADER_MIDDLEWARES"] = {OwnServer: 749}
    # Where the run ends in order it leaves the audit of that page to the next one.
    audited = {"URLCANON_AUDIT": 1e-9 if ending == "in order" else 0}
    first = await crawl(respond, settings | audited, spider=spider)
    assert first.pages == ["/", "/p?id=0"]
    if ending == "by a kill":
        forget_queue()
    elif ending == "under other rules":
        del settings["URLCANON_RULES"]
    second = await crawl(respond, settings, start=[f"{SITE}/later"])
    assert {"/p?id=1", *pages["/later"]} <= {*second.pages}


class Sending(FollowSpider):
    """Sends a form to two URLs, to the first of them last."""

    asked = (
        Request(f"{SITE}/p?id=0", method="POST", priority=-9),
        Request(f"{SITE}/p", method="POST"),
        *(Request(f"{SITE}/p?id={number}") for number in range(1, 7)),
        *(Request(f"{SITE}/{number}", priority=-1) for number in range(6)),
    )

    def parse(self, response):
        yield {"url": response.url}
        if response.url == f"{SITE}/":
            yield from self.asked


@deferred_f_from_coro_f
async def test_request_that_waited_when_the_entry_fell_is_answered_with_its_own_page(crawl):
    """A request queued before the entry fell is not answered with the page of the canonical URL.

    Its fingerprint is the key under which that page is stored by then.
    """
    respond = shop((), lambda request, _: product(request.query))
    result = await crawl(respond, {**SETTINGS, **WRONG, **AUDITED}, spider=Sending)
    assert {*result.pages} == {"/", *(each.url.removeprefix(SITE) for each in Sending.asked)}


class Downloading(FollowSpider):
    """Downloads the pages with the engine."""

    async def parse(self, response):
        del response
        for number in range(3):
            request = Request(f"{SITE}/p?id={number}")
            page = await self.crawler.engine.download_async(request)
            yield {"url": request.url, "text": page.css("title::text").get()}


@deferred_f_from_coro_f
async def test_what_a_callback_downloads_is_answered_with_what_its_own_url_showed(crawl):
    """`engine.download_async` gets the page of its own URL from the cache, whatever rules merge.

    No audit sees such requests, so that nothing would find a wrong rule.
    """
    respond = shop((), lambda request, _: product(request.query))
    for is_cold in (True, False):
        result = await crawl(respond, {**SETTINGS, **WRONG}, spider=Downloading)
        assert len(result.hits) == 4 * is_cold
        assert [item["text"] for item in result.items] == [f"Product id={n}" for n in range(3)]


class TwoCallbacks(FollowSpider):
    """Requests a page by two URLs, each for a callback of its own."""

    def parse(self, response):
        yield {"url": response.url}
        yield Request(f"{SITE}/a?sid=1", self.parse_item)
        yield Request(f"{SITE}/last", self.parse_last, priority=-1)

    def parse_last(self, response):
        yield {"url": response.url}
        yield Request(f"{SITE}/a", self.parse_reviews)

    def parse_item(self, response):
        self.crawler.stats.inc_value(f"item of {response.url}")

    def parse_reviews(self, response):
        self.crawler.stats.inc_value(f"reviews of {response.url}")


@pytest.mark.parametrize("audit", [0, 1e-9])
@deferred_f_from_coro_f
async def test_url_by_which_a_page_was_cached_brings_it_to_another_callback(crawl, audit):
    """A second callback gets a page by the URL under which it was cached.

    The first callback's request was for another URL, and was answered with that entry.
    """
    settings = {**SETTINGS, "URLCANON_AUDIT": audit}
    respond = site(dict.fromkeys(("/", "/a", "/last"), page("a")))
    await crawl(respond, settings, start=[f"{SITE}/a"])
    result = await crawl(respond, settings, spider=TwoCallbacks)
    assert result.crawler.stats.get_value(f"item of {SITE}/a") == 1
    assert result.crawler.stats.get_value(f"reviews of {SITE}/a") == 1


@pytest.mark.parametrize("before", [{"URLCANON_ENABLED": False}, {"URLCANON_RULES": {}}])
@pytest.mark.parametrize("storage", ["FilesystemCacheStorage", "DbmCacheStorage"])
@deferred_f_from_coro_f
async def test_what_was_cached_without_rules_answers_its_own_url(crawl, caplog, storage, before):
    """What a crawl without rules cached answers its own URL in a crawl with rules.

    With `HTTPCACHE_IGNORE_MISSING` nothing else would come. A page whose first URL failed is
    answered by another one. A redirect to a URL that Scrapy takes for the same is not its own
    answer.
    """
    urls = ("/a?sid=1", "/a?sid=2", "/b?sid=1", "/b?sid=2", "/c?x=1&a=2")
    pages = {
        "/": links(*urls),
        "/a?sid=1": page("gone", status=404),
        "/a?sid=2": page("a"),
        "/b?sid=1": page("b"),
        "/b?sid=2": page("b"),
        "/c?x=1&a=2": redirect("/c?a=2&x=1"),
        "/c?a=2&x=1": page("c"),
    }
    settings = {**SETTINGS, "HTTPCACHE_STORAGE": f"scrapy.extensions.httpcache.{storage}"}
    await crawl(site(pages), {**settings, **before})
    offline = {**settings, "HTTPCACHE_IGNORE_MISSING": True}
    result = await crawl(site(pages), offline)
    assert result.hits == []
    found = ["/", "/a?sid=2", "/b?sid=1"]
    if "URLCANON_ENABLED" not in before:
        # It had followed the redirect.
        assert sorted(result.pages) == [*found, "/c?a=2&x=1"]
        return
    assert sorted(result.pages) == found
    # And the next time, when the rules are those that the cache was last used with.
    assert sorted((await crawl(site(pages), offline)).pages) == found
    assert [each for each in caplog.messages if "HTTP cache" in each] == []
    result = await crawl(site(pages), settings)
    assert result.hits == ["/c?a=2&x=1"]
    assert sorted(result.pages) == [*found, "/c?a=2&x=1"]


@deferred_f_from_coro_f
async def test_audit_is_not_answered_with_what_was_cached_without_us(crawl):
    """An audit is not answered with what a crawl without the plugin cached.

    A visitor counter would look like content, since each of its fetches would show the same.
    """
    count = 0

    def respond(request):
        nonlocal count
        count += 1
        urls = "".join(f'<a href="/{n}?sid={sid}">.</a>' for n in range(6) for sid in (1, 2))
        text = f"<p>This is {request.path}.</p><p>Visitor {count}</p>"
        return page(urls if request.path == "/" else text)

    await crawl(respond, {**SETTINGS, "URLCANON_ENABLED": False})
    result = await crawl(respond, {**SETTINGS, "URLCANON_AUDIT": 1.0})
    assert result.figures["audited"] >= 3
    assert result.figures.get("audit/false_merge", 0) == 0


class AsksForAnotherUrl:
    """A middleware that takes a page for a ban, and requests another URL of the page."""

    @classmethod
    def from_crawler(cls, crawler):
        middleware = cls()
        middleware.crawler = crawler
        return middleware

    def process_response(self, request, response):
        if b"banned" not in response.body:
            return response
        if "retry" in request.url:
            request = get_retry_request(request, spider=self.crawler.spider)
        return request.replace(url=f"{request.url}2", dont_filter=True)


@pytest.mark.parametrize("url", ["/a?sid=", "/retry?sid="])
@pytest.mark.parametrize("policy", ["DummyPolicy", "RFC2616Policy"])
@deferred_f_from_coro_f
async def test_ban_is_not_cached_for_what_is_asked_for_instead(crawl, policy, url):
    """A banned response is not stored in the HTTP cache under the URL that is requested instead.

    Else the next crawl would read the ban from the cache.
    """
    pages = {"/": links(url), url: page("banned"), f"{url}2": page("a")}
    settings = {
        **SETTINGS,
        "DOWNLOADER_MIDDLEWARES": {AsksForAnotherUrl: 545},
        "HTTPCACHE_POLICY": f"scrapy.extensions.httpcache.{policy}",
        "HTTPCACHE_DIR": "cache",
        "RETRY_TIMES": 2,
        "CLOSESPIDER_PAGECOUNT": 9,
    }
    for hits in [["/", url, f"{url}2"], []]:
        result = await crawl(site(pages), settings)
        assert result.pages == ["/", f"{url}2"]
        if policy == "DummyPolicy":
            assert result.hits == hits
