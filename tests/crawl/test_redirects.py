"""A redirect to the canonical form of its own request is followed, and not dropped as seen."""

from collections import Counter

import pytest
from loopback import page, redirect
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl.origins import land, sources_of

CACHE = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}

# Name: start URL, rules, redirects, the page that they lead to.
CASES = {
    "trailing slash added": (
        f"{SITE}/a",
        {"trailing_slash": "strip"},
        {f"{SITE}/a": "/a/"},
        f"{SITE}/a/",
    ),
    "trailing slash that is the canonical form": (
        f"{SITE}/a",
        {"trailing_slash": "add"},
        {f"{SITE}/a": "/a/"},
        f"{SITE}/a/",
    ),
    "www dropped": (
        "http://www.site.example/a",
        {"www": "strip"},
        {"http://www.site.example/a": f"{SITE}/a"},
        f"{SITE}/a",
    ),
    "www added": (
        f"{SITE}/a",
        {"www": "strip"},
        {f"{SITE}/a": "http://www.site.example/a"},
        "http://www.site.example/a",
    ),
    "http to https": (
        f"{SITE}/a",
        {"scheme": "http"},
        {f"{SITE}/a": "https://site.example/a"},
        "https://site.example/a",
    ),
    "tracking parameter stripped by the server": (
        f"{SITE}/a?utm_source=x",
        {},
        {f"{SITE}/a?utm_source=x": "/a"},
        f"{SITE}/a",
    ),
    "chain of three": (
        "http://www.site.example/a?utm_source=x",
        {"www": "strip", "scheme": "https", "trailing_slash": "strip"},
        {
            "http://www.site.example/a?utm_source=x": f"{SITE}/a?utm_source=x",
            f"{SITE}/a?utm_source=x": "https://site.example/a",
            "https://site.example/a": "/a/",
        },
        "https://site.example/a/",
    ),
    "by way of another page": (
        f"{SITE}/a",
        {"trailing_slash": "strip"},
        {f"{SITE}/a": "/cookie", f"{SITE}/cookie": "/a/"},
        f"{SITE}/a/",
    ),
}


def _redirecting(redirects, target, start):
    answers = {source: redirect(location) for source, location in redirects.items()}
    answers[target] = page("the page")
    answers[f"{SITE}/start"] = links(start)
    return site(answers)


@pytest.mark.parametrize("cache", ["off", "cold", "warm"])
@pytest.mark.parametrize("case", CASES)
@deferred_f_from_coro_f
async def test_redirect_to_own_canonical_form_is_fetched(crawl, case, cache):
    """The page behind the redirects reaches the spider, and no URL is fetched twice."""
    start, rules, redirects, target = CASES[case]
    respond = _redirecting(redirects, target, start)
    settings = {"URLCANON_RULES": {"*": rules}, **({} if cache == "off" else CACHE)}
    if cache == "warm":
        await crawl(respond, settings, start=[f"{SITE}/start"])
    result = await crawl(respond, settings, start=[f"{SITE}/start"])
    assert [item["url"] for item in result.items] == [f"{SITE}/start", target]
    expected = Counter([f"{SITE}/start", *redirects, target])
    hits = Counter(f"{SITE}{hit}" if hit.startswith("/") else hit for hit in result.hits)
    assert hits == (Counter() if cache == "warm" else expected)


@deferred_f_from_coro_f
async def test_redirect_hops_are_counted(crawl):
    """The stats count each redirect to the canonical form of its own request."""
    start, rules, redirects, target = CASES["chain of three"]
    respond = _redirecting(redirects, target, start)
    result = await crawl(respond, {"URLCANON_RULES": {"*": rules}}, start=[start])
    assert result.figures["redirect_hops"] == 3


@pytest.mark.parametrize(
    ("case", "saves"),
    [
        ("trailing slash added", 0),
        ("trailing slash that is the canonical form", 1),
        ("www added", 0),
        ("www dropped", 1),
        ("by way of another page", 0),
    ],
)
@deferred_f_from_coro_f
async def test_redirects_that_rewriting_would_save_are_counted(crawl, case, saves):
    """The stats say how many redirects URLCANON_REWRITE would save, and it saves as many."""
    start, rules, redirects, target = CASES[case]
    respond = _redirecting(redirects, target, start)
    settings = {"URLCANON_RULES": {"*": rules}}
    linked = await crawl(respond, settings, start=[f"{SITE}/start"])
    rewritten = await crawl(
        respond, {**settings, "URLCANON_REWRITE": True}, start=[f"{SITE}/start"]
    )
    assert linked.figures.get("redirect_hops/rewritable", 0) == saves
    # The start is rewritten too, and fetched as it is where that fails.
    asked, asked_less = (
        sum("start" not in hit for hit in crawled.hits) for crawled in (linked, rewritten)
    )
    assert asked - asked_less == saves


@pytest.mark.parametrize("cache", ["off", "cold", "warm"])
@deferred_f_from_coro_f
async def test_redirect_loop_ends(crawl, cache):
    """A loop of URLs with one canonical form ends after at most two fetches of each."""
    respond = site(
        {"/start": links("/a", "/b"), "/a": redirect("/a/"), "/a/": redirect("/a"), "/b": page("b")}
    )
    settings = {
        "URLCANON_RULES": {"*": {"trailing_slash": "strip"}},
        **({} if cache == "off" else CACHE),
    }
    if cache == "warm":
        await crawl(respond, settings, start=[f"{SITE}/start"])
    result = await crawl(respond, settings, start=[f"{SITE}/start"])
    assert result.pages == ["/b", "/start"]
    assert result.stats["finish_reason"] == "finished"
    assert Counter(result.hits).get("/a", 0) <= 2
    assert Counter(result.hits).get("/a/", 0) <= 1
    assert result.stats.get("downloader/response_status_count/301", 0) <= 3


@pytest.mark.parametrize("cache", ["off", "cold", "warm"])
@deferred_f_from_coro_f
async def test_meta_refresh_to_own_canonical_form_is_fetched(crawl, cache):
    """A meta refresh to the canonical form of its own request is followed too."""
    refresh = page('<html><head><meta http-equiv="refresh" content="0; url=/a/"></head></html>')
    respond = site({"/start": links("/a"), "/a": refresh, "/a/": page("the page")})
    settings = {
        "URLCANON_RULES": {"*": {"trailing_slash": "strip"}},
        **({} if cache == "off" else CACHE),
    }
    if cache == "warm":
        await crawl(respond, settings, start=[f"{SITE}/start"])
    result = await crawl(respond, settings, start=[f"{SITE}/start"])
    assert result.pages == ["/a/", "/start"]


@deferred_f_from_coro_f
async def test_variants_of_a_redirected_page_are_dropped(crawl):
    """After a redirect brought a page, its other URLs are dropped."""
    respond = site(
        {"/start": links("/a"), "/a": redirect("/a/"), "/a/": links("/a/", "/a?utm_source=x")}
    )
    settings = {"URLCANON_RULES": {"*": {"trailing_slash": "strip"}}}
    result = await crawl(respond, settings, start=[f"{SITE}/start"])
    assert result.hits == ["/start", "/a", "/a/"]
    assert result.figures["dropped"] == 2


@deferred_f_from_coro_f
async def test_redirect_to_a_page_seen_elsewhere_is_dropped(crawl):
    """A redirect to another page that was fetched before is dropped, as in Scrapy."""
    respond = site(
        {"/start": links("/b"), "/b": links("/old"), "/old": redirect("/b?utm_source=old")}
    )
    result = await crawl(respond, start=[f"{SITE}/start"])
    assert result.hits == ["/start", "/b", "/old"]


def redirected(request, url):
    """Return the request that Scrapy makes of *request* when it is redirected to *url*."""
    urls = [*request.meta.get("redirect_urls", []), request.url]
    return request.replace(url=url, meta={**request.meta, "redirect_urls": urls})


def test_what_redirected_to_a_request_whose_meta_is_a_copy():
    """Redirects in a meta that a spider copied to a new request are not that request's own."""
    first = redirected(redirected(Request(f"{SITE}/a"), f"{SITE}/b"), f"{SITE}/c")
    land(first)
    assert sources_of(first) == [f"{SITE}/a", f"{SITE}/b"]
    of_spider = Request(f"{SITE}/d", meta=first.meta)
    assert not sources_of(of_spider)
    land(of_spider)
    assert not sources_of(of_spider)
    again = redirected(Request(f"{SITE}/e", meta=of_spider.meta), f"{SITE}/f")
    assert sources_of(again) == [f"{SITE}/e"]
    land(again)
    assert sources_of(again) == [f"{SITE}/e"]
    assert not sources_of(Request(f"{SITE}/a", meta=again.meta))


@pytest.mark.parametrize(
    ("target", "hits"), [("/other", 2), ("https://www.site.example/a/?sid={}", 1)]
)
@deferred_f_from_coro_f
async def test_page_that_redirects_elsewhere_is_asked_for_twice(crawl, target, hits):
    """If two URLs of a page redirect elsewhere, the others are dropped.

    If the first redirects to https, that is the page, and no second URL is tried.
    """
    variants = [f"/a?sid={n}" for n in range(9)]
    answers = {
        f"{SITE}/": links(*variants),
        f"{SITE}/other": page("Another page"),
        **{SITE + url: redirect(target.format(n)) for n, url in enumerate(variants)},
        **{target.format(n): page("The page") for n in range(9) if "https" in target},
    }
    result = await crawl(site(answers), {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}})
    assert sum(url.startswith("/a?sid") for url in result.hits) == hits


@pytest.mark.parametrize("later", [False, True])
@deferred_f_from_coro_f
async def test_page_that_redirects_elsewhere_is_asked_for_once_in_any_order(crawl, later):
    """A redirecting URL with its parameters in another order is not tried as a second URL."""
    orders = [f"/a?{query}" for query in ("x=1&y=2&z=3", "y=2&x=1&z=3", "z=3&y=2&x=1")]
    answers = {
        f"{SITE}/": links(*orders[: 1 if later else 3], "/1"),
        f"{SITE}/1": links("/2"),
        f"{SITE}/2": links("/3"),
        f"{SITE}/3": links(*orders),
        f"{SITE}/other": page("Another page"),
        **{SITE + url: redirect("/other") for url in orders},
    }
    result = await crawl(site(answers), {})
    assert sum(url.startswith("/a?") for url in result.hits) == 1


@deferred_f_from_coro_f
async def test_page_that_redirects_to_what_answers_with_an_error_is_asked_for_once_more(crawl):
    """If a redirect leads to a 404 that the spider handles, another URL of the page is fetched.

    Even if the target differs in a slash alone.
    """

    class Handling(FollowSpider):
        handle_httpstatus_list = (404,)

        def parse(self, response):
            if response.status == 200:
                yield from super().parse(response)

    pages = {
        "/": links("/a/", "/1"),
        **{f"/{n}": links(f"/{n + 1}") for n in range(1, 4)},
        "/4": links("/a", "/5"),
        "/a": redirect("/a/"),
        "/5": links("/6"),
        "/6": links("/a?sid=3"),
        "/a?sid=3": page("It is here."),
    }
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    result = await crawl(site(pages), rules, spider=Handling)
    assert "/a?sid=3" in result.hits


@deferred_f_from_coro_f
async def test_redirect_to_a_page_of_another_callback_is_followed_once(crawl):
    """A redirect to a page that another callback has is followed, and counts as one URL.

    If it counted twice the last URL, which has the page, would be dropped.
    """

    class Two(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/":
                yield Request(f"{SITE}/other?sid=1", self.parse_other)
            else:
                yield from super().parse(response)

        def parse_other(self, response):
            yield from response.follow_all(["/a?sid=2", "/a?sid=1", "/a"])

    pages = {
        "/": links("/other"),
        "/other?sid=1": page("Another page"),
        "/other": page("Another page"),
        "/a?sid=2": redirect("/other"),
        "/a?sid=1": page(""),
        "/a": page("It is here."),
    }
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    result = await crawl(site(pages), rules, spider=Two)
    assert result.hits[-3:] == ["/other", "/a?sid=1", "/a"]


@deferred_f_from_coro_f
async def test_two_callbacks_get_what_the_same_url_redirects_to(crawl):
    """Two callbacks whose URLs redirect to one page both get it, after other URLs of it failed."""
    got = []

    class Two(FollowSpider):
        def parse(self, response):
            for callback in (self.parse_one, self.parse_other):
                yield from response.follow_all(["/a?sid=1", "/a?sid=2"], callback)

        def parse_one(self, response):
            got.append(("one", response.url))

        def parse_other(self, response):
            got.append(("other", response.url))

    pages = {"/": page("/"), "/a?sid=2": redirect("/b"), "/b": page("It is here.")}
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}}
    result = await crawl(site(pages), {**rules, **ONE_BY_ONE}, spider=Two)
    assert sorted(got) == [("one", f"{SITE}/b"), ("other", f"{SITE}/b")]
    assert result.hits.count("/b") == 2


@deferred_f_from_coro_f
async def test_url_that_is_linked_again_while_what_it_leads_to_is_on_its_way(crawl):
    """A second link to a redirecting URL does not count as a second URL that redirects.

    Else the next URL, which has the page, would be dropped.
    """

    class InOrder(FollowSpider):
        def parse(self, response):
            for each in super().parse(response):
                is_first = response.url == f"{SITE}/" and isinstance(each, Request)
                yield each.replace(priority=-len(each.url)) if is_first else each

    pages = {
        "/": links("/a", "/bb", "/other"),
        "/a": redirect("/other"),
        "/bb": links("/a", "/a?sid=1"),
        "/other": page("Another page"),
        "/a?sid=1": page("It is here."),
    }
    settings = {"URLCANON_RULES": {"*": {"drop_params": ["sid"]}}, "URLCANON_REWRITE": True}
    result = await crawl(site(pages), {**settings, **ONE_BY_ONE}, spider=InOrder)
    assert result.hits == ["/", "/a", "/bb", "/other", "/a?sid=1"]
