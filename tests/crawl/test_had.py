"""A page counts as fetched for the callback that got its content, and for no other callback."""

from functools import partial
from typing import ClassVar

import pytest
from loopback import Response, page, redirect
from scrapy import Request
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.linkextractors import LinkExtractor
from scrapy.pipelines.files import FilesPipeline
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    # First in, first out: what a test links first is fetched first.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}

NOTHING = {
    "an empty page": Response(headers=(("Content-Type", "text/html"),)),
    "blanks": page(" \n"),
    "an empty document": page("<!DOCTYPE html><html lang=en><head></head><body>\n</body></html>"),
    "204": Response(204),
    "300": Response(300, body=b"choose"),
    "304": Response(304),
    "302 without a location": Response(302, body=b"<p>moved"),
    "302 to nowhere": Response(302, (("Location", "http://["),), b"<p>moved"),
}


@pytest.mark.parametrize("name", NOTHING)
@deferred_f_from_coro_f
async def test_what_brings_the_callback_nothing_is_no_page(crawl, name):
    """An empty page, or a 3xx without a target, is no content: a variant of it is fetched."""
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": NOTHING[name], "/a?sid=2": page("a")}
    result = await crawl(site(pages), RULES)
    assert "/a?sid=2" in result.pages
    assert result.figures["rescued"] == 1


@deferred_f_from_coro_f
async def test_error_that_the_spider_handles(crawl):
    """If the callback handles a 404 of one URL, a second is fetched, and no third.

    The error may be of that URL alone. After two of them the page is taken to be missing.
    """
    gone = [f"/b?sid={n}" for n in range(4)]
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3", *gone), "/a?sid=2": page("a")}

    class Handling(FollowSpider):
        handle_httpstatus_list = (404,)

    result = await crawl(site(pages), RULES, spider=Handling)
    assert sorted(result.pages) == ["/", "/a?sid=1", "/a?sid=2", *gone[:2]]


@pytest.mark.parametrize(
    ("status", "options"),
    [(503, {}), (404, {"URLCANON_REWRITE": True})],
    ids=["outage", "canonical URL that no page links"],
)
@deferred_f_from_coro_f
async def test_error_that_says_nothing_of_the_page(crawl, status, options):
    """Further variants are fetched after an outage, or a 404 of a canonical URL that no page links.

    HTTPERROR_ALLOW_ALL gives these errors to the callback, which must not count as having the page.
    """
    urls = ["/a?sid=1", "/a?sid=2", "/a?sid=3"]
    pages = dict.fromkeys(["/a", *urls], page("none", status=status))
    pages |= {"/": links(*urls), "/a?sid=3": page("a")}
    settings = {**RULES, **options, "HTTPERROR_ALLOW_ALL": True}
    result = await crawl(site(pages), settings)
    assert "/a?sid=3" in result.hits


@pytest.mark.parametrize("handled", [False, True])
@deferred_f_from_coro_f
async def test_redirect_that_is_not_followed_is_no_page(crawl, handled):
    """With REDIRECT_ENABLED off a redirect brings no page, even if the spider handles it.

    So a variant is fetched.
    """
    pages = {"/": links("/a?sid=1", "/a?sid=2"), "/a?sid=1": redirect("/b"), "/a?sid=2": page("a")}

    class Spider(FollowSpider):
        handle_httpstatus_list = (301,) if handled else ()

    result = await crawl(site(pages), {**RULES, "REDIRECT_ENABLED": False}, spider=Spider)
    assert result.pages == ["/", *(["/a?sid=1"] if handled else []), "/a?sid=2"]


@deferred_f_from_coro_f
async def test_refresh_that_is_not_followed_is_no_page(crawl):
    """With METAREFRESH_ENABLED off, one more URL of a page that refreshes to another is fetched.

    No third one, and none of a page that refreshes itself: that is content.
    """
    refresh = '<meta http-equiv="refresh" content="0; url=%s">'
    gone = {f"/b?sid={n}": page(refresh % f"/b?sid={n + 1}") for n in range(4)}
    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3", *gone, "/c?sid=1", "/c?sid=2")}
    pages |= {"/a?sid=1": page(refresh % "/a?sid=2"), "/a?sid=2": page("a"), **gone}
    pages |= {"/c?sid=1": page(refresh % "/c?sid=1")}
    result = await crawl(site(pages), {**RULES, "METAREFRESH_ENABLED": False})
    expected = ["/", "/a?sid=1", "/a?sid=2", "/b?sid=0", "/b?sid=1", "/c?sid=1"]
    assert sorted(result.pages) == expected


class ByHand(FollowSpider):
    """A spider that handles redirects and follows them itself."""

    handle_httpstatus_list = (301, 302)

    def parse(self, response):
        if response.status == 200:
            yield from super().parse(response)
        elif response.headers["Location"] != b"http://[":
            yield response.follow(response.headers["Location"].decode())


@pytest.mark.parametrize("options", [{}, {"URLCANON_REWRITE": True}], ids=["", "rewrite"])
@deferred_f_from_coro_f
async def test_redirect_that_the_spider_follows_itself(crawl, options):
    """A spider that follows redirects itself gets every hop, though all are URLs of one page."""
    hops = {"/a?sid=1": "/a?sid=2", "/a?sid=2": "/a/?sid=3", "/a/?sid=3": "/a/"}
    rules = {"URLCANON_RULES": {"*": {"drop_params": ["sid"], "trailing_slash": "strip"}}}
    pages = {url: redirect(to, status=302) for url, to in hops.items()}
    pages |= {"/": links("/a?sid=1"), "/a": redirect("/a?sid=1"), "/a/": links("/b")}
    result = await crawl(
        site({**pages, "/b": page("b")}), {**RULES, **rules, **options}, spider=ByHand
    )
    assert result.pages == ["/", "/a/", "/b"]


@pytest.mark.parametrize("queue", ["Fifo", "Lifo"])
@pytest.mark.parametrize("options", [{}, {"URLCANON_REWRITE": True}], ids=["", "rewrite"])
@deferred_f_from_coro_f
async def test_url_that_led_elsewhere_and_is_linked_again_is_no_second_one(crawl, options, queue):
    """Links back to a URL whose redirects led to the page fetch nothing again."""
    hops = {"/a": "/a?x=", "/a?x=": "/a?page=1"}
    pages = {url: redirect(to, status=302) for url, to in hops.items()}
    pages |= {"/": links("/a", "/b"), "/b": links("/a", "/a#top"), "/a?page=1": page("a")}
    settings = {
        "URLCANON_RULES": {"*": {"default_params": {"page": "1"}}},
        "SCHEDULER_MEMORY_QUEUE": f"scrapy.squeues.{queue}MemoryQueue",
        "CONCURRENT_REQUESTS": 1,
    }
    result = await crawl(site(pages), {**settings, **options}, spider=ByHand)
    assert sorted(result.hits) == ["/", "/a", "/a?page=1", "/a?x=", "/b"]
    assert sorted(result.pages) == ["/", "/a?page=1", "/b"]


@deferred_f_from_coro_f
async def test_redirects_to_nowhere_that_the_spider_handles(crawl):
    """Redirects without a target bring no page, however many URLs have one: all are tried."""
    dead = {f"/a?sid={n}": Response(302) for n in range(3)}
    pages = {"/": links(*dead, "/a?sid=3"), **dead, "/a?sid=3": page("a")}

    class Handling(FollowSpider):
        handle_httpstatus_list = (302,)

        def parse(self, response):
            return super().parse(response) if response.status == 200 else ()

    result = await crawl(site(pages), RULES, spider=Handling)
    assert result.pages == ["/", "/a?sid=3"]


@pytest.mark.parametrize("where", ["/a?sid=1", "/a?sid=2", "http://["])
@deferred_f_from_coro_f
async def test_redirect_to_the_page_itself_that_the_spider_follows_ends(crawl, where):
    """Loops, and redirects to no valid URL, end, and a further variant gives the page."""
    pages = {"/": links("/a?sid=1", "/a?sid=3"), "/a?sid=1": redirect(where)}
    pages |= {"/a?sid=2": redirect("/a?sid=1"), "/a?sid=3": page("a")}
    result = await crawl(site(pages), RULES, spider=ByHand)
    assert result.pages == ["/", "/a?sid=3"]


@deferred_f_from_coro_f
async def test_start_request_settles_nothing_for_the_rules_of_a_crawl_spider(crawl):
    """A page fetched as a start request is fetched again for the callback of a CrawlSpider's rule.

    That callback has not got it, and waits for no variant of its own either.
    """
    got = []

    class Rules(CrawlSpider):
        name = "rules"
        rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

        def __init__(self, start=(), *args, **kwargs):
            self.start_urls = start
            super().__init__(*args, **kwargs)

        def parse_item(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": links("/f?utm_source=x", "/g"), "/g": links("/f"), "/f": page("f")}
    start = [f"{SITE}/f", f"{SITE}/"]
    await crawl(site(pages), RULES, start=start, spider=Rules)
    assert sorted(got) == ["/f", "/g"]


@deferred_f_from_coro_f
async def test_second_callback_gets_its_page(crawl):
    """A variant for another callback is fetched: that callback has not got the page.

    A second variant for the same callback is dropped.
    """
    got = []

    class Two(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield response.follow("/a?sid=1")
                yield response.follow("/a?sid=2", self.parse_item)
                yield response.follow("/later")
            elif response.url == f"{SITE}/later":
                yield response.follow("/a?sid=3", self.parse_item)
                yield response.follow("/a?sid=4", self.third)

        def parse_item(self, response):
            got.append(response.url.removeprefix(SITE))

        def third(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": page("home"), "/later": page("later")}
    pages |= {f"/a?sid={n}": page("a") for n in range(5)}
    result = await crawl(site(pages), RULES, spider=Two)
    assert result.pages == ["/", "/a?sid=1", "/later"]
    assert got == ["/a?sid=2", "/a?sid=4"]


def logged_in(callback):
    """Decorate *callback* without functools.wraps, so that its name is lost."""

    def wrapper(self, response):
        return callback(self, response)

    return wrapper


class Callbacks(FollowSpider):
    """Requests two URLs of one page, for two callbacks that a subclass makes."""

    callbacks = None
    got = ()

    def parse(self, response):
        yield {"url": response.url, "text": ""}
        for number, callback in enumerate(type(self).callbacks(self)):
            yield response.follow(f"/a?sid={number}", callback)

    def one(self, response, **_):
        self.got.append(("one", response.url.removeprefix(SITE)))

    def other(self, response, **_):
        self.got.append(("other", response.url.removeprefix(SITE)))

    wrapped_one = logged_in(one)
    wrapped_other = logged_in(other)


def measured(callback):
    """Wrap *callback* in a lambda, as extensions do that measure callbacks."""
    return lambda response: callback(response)  # noqa: PLW0108


def through(callback, response):
    callback(response)


CALLBACKS = {
    "partial": lambda self: [partial(self.one, a=1), partial(self.other, a=1)],
    "wrapped": lambda self: [measured(self.one), measured(self.other)],
    "wrapped twice": lambda self: [measured(measured(each)) for each in (self.one, self.other)],
    "wrapped in a partial": lambda self: [
        partial(through, each) for each in (self.one, self.other)
    ],
    "default": lambda self: [lambda r, to=each: to(r) for each in (self.one, self.other)],
    "lambda": lambda self: [lambda r: self.one(r), lambda r: self.other(r)],  # noqa: PLW0108
    "decorated": lambda self: [self.wrapped_one, self.wrapped_other],
}


@pytest.mark.parametrize("kind", CALLBACKS)
@deferred_f_from_coro_f
async def test_second_callback_of_any_kind_gets_its_page(crawl, kind):
    """Two callbacks differ even if they are partials, lambdas or decorated: each gets the page."""

    class Spider(Callbacks):
        callbacks = CALLBACKS[kind]
        got: ClassVar = []

    pages = {"/": page("home"), "/a?sid=0": page("a"), "/a?sid=1": page("a")}
    await crawl(site(pages), RULES, spider=Spider)
    assert sorted(Spider.got) == [("one", "/a?sid=0"), ("other", "/a?sid=1")]


@deferred_f_from_coro_f
async def test_start_page_of_a_crawl_spider_is_not_for_its_parse(crawl):
    """A request without a callback that a CrawlSpider starts with is not for its `parse`.

    So a variant that names `parse` is fetched.
    """
    got = []

    class Starting(CrawlSpider):
        name = "starting"

        def __init__(self, start=(), *args, **kwargs):
            self.start_urls = start
            super().__init__(*args, **kwargs)

        def parse_start_url(self, response):
            yield response.follow("/a?sid=0")
            yield response.follow("/a?sid=1", self.parse)

        def parse(self, response):
            got.append(response.url.removeprefix(SITE))

    pages = {"/": page("home"), **{f"/a?sid={n}": page("a") for n in range(2)}}
    await crawl(site(pages), RULES, spider=Starting)
    assert got == ["/a?sid=1"]


@deferred_f_from_coro_f
async def test_callback_bound_to_other_arguments_is_the_same(crawl):
    """Callbacks that differ in bound arguments alone are one, as with other `cb_kwargs`.

    Else each link to a page would fetch it again.
    """

    class Spider(Callbacks):
        got: ClassVar = []

        def callbacks(self):
            bound = [partial(self.one, a=number) for number in range(2)]
            bound += [lambda r, n=number: self.other(r, n=n) for number in range(2)]
            # One that wraps what it made before says no more of what it is for.
            return [*bound, measured(bound[0]), measured(measured(bound[1]))]

    pages = {"/": page("home"), **{f"/a?sid={n}": page("a") for n in range(6)}}
    await crawl(site(pages), RULES, spider=Spider)
    assert sorted(Spider.got) == [("one", "/a?sid=0"), ("one", "/a?sid=4"), ("other", "/a?sid=2")]


@deferred_f_from_coro_f
async def test_callback_that_raises_gets_the_next_variant(crawl):
    """A callback that raised may have missed links of the page: it is given the next variant."""

    class Raising(FollowSpider):
        def parse(self, response):
            if response.url == f"{SITE}/a?sid=1":
                raise ValueError
            return super().parse(response)

    pages = {"/": links("/a?sid=1", "/a?sid=2", "/a?sid=3")}
    pages |= {f"/a?sid={n}": page("a") for n in (1, 2, 3)}
    result = await crawl(site(pages), RULES, spider=Raising)
    assert result.pages == ["/", "/a?sid=2"]
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_rescue_that_redirects_to_another_variant_of_what_failed(crawl):
    """A rescue may redirect to a variant of a URL that failed too: that one is fetched."""
    pages = {
        "/": links("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": redirect("/b?sid=1"),
        "/a?sid=2": redirect("/b?sid=2"),
        "/b?sid=2": page("b"),
    }
    result = await crawl(site(pages), RULES)
    assert result.pages == ["/", "/b?sid=2"]


@deferred_f_from_coro_f
async def test_download_within_a_callback_settles_nothing(crawl):
    """A page that a callback fetched with `engine.download_async` reached no other callback.

    The same URL, linked after a variant that fails, is fetched.
    """
    got = []

    class Inline(FollowSpider):
        def parse(self, response):
            yield {"url": response.url, "text": ""}
            if response.url == f"{SITE}/":
                yield response.follow("/inline", self.parse_inline)

        async def parse_inline(self, response):
            got.append((await self.crawler.engine.download_async(Request(f"{SITE}/a"))).url)
            for url in ("/a?sid=1", "/a"):
                yield response.follow(url)

    pages = {"/": page("home"), "/inline": page("inline"), "/a": page("a")}
    result = await crawl(site(pages), RULES, spider=Inline)
    assert got == [f"{SITE}/a"]
    assert result.pages == ["/", "/a"]


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
        **RULES,
        "DOWNLOADER_MIDDLEWARES": {AsksForAnotherUrl: 545},
        "HTTPCACHE_ENABLED": True,
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


@deferred_f_from_coro_f
async def test_rewriting_does_not_lead_out_of_the_allowed_domains(crawl):
    """URLCANON_REWRITE does not rewrite a URL to a host outside `allowed_domains`.

    The offsite middleware would drop the request, and the page would be lost.
    """

    class Www(FollowSpider):
        allowed_domains = ("www.site.example",)

    pages = {f"http://www.site.example{path}": links("/b") for path in ("/", "/b")}
    settings = {"URLCANON_RULES": {"*": {"www": "strip"}}, "URLCANON_REWRITE": True}
    result = await crawl(site(pages), settings, start=["http://www.site.example/"], spider=Www)
    assert result.pages == ["http://www.site.example/", "http://www.site.example/b"]


class MemoryFiles(FilesPipeline):
    """A files pipeline that notes which item got which file."""

    got: ClassVar[list] = []

    def get_media_requests(self, item, _info):
        return [Request(item["file"])] if item.get("file") else []

    def item_completed(self, results, item, _info):
        if item.get("file"):
            self.got.append((item["file"].removeprefix(SITE), [ok for ok, _ in results]))
        return item


@pytest.mark.parametrize("cache", [False, True])
@deferred_f_from_coro_f
async def test_files_of_items_go_by_no_rule(crawl, cache):
    """Requests of a files pipeline are not merged: each item gets the file of its own URL."""
    MemoryFiles.got.clear()

    class Items(FollowSpider):
        def parse(self, response):
            for url in ("/f.png?utm_source=x", "/f.png", "/g.png?sid=1", "/g.png?sid=2"):
                yield {"url": response.url, "text": "", "file": f"{SITE}{url}"}

    pages = {"/": page("home"), "/f.png": page("f")}
    pages |= {f"/g.png?sid={n}": page(f"g{n}") for n in (1, 2)}
    settings = {**RULES, "ITEM_PIPELINES": {MemoryFiles: 1}, "FILES_STORE": "files"}
    settings |= {"HTTPCACHE_ENABLED": cache, "HTTPCACHE_DIR": "cache"}
    result = await crawl(site(pages), settings, spider=Items)
    assert sorted(MemoryFiles.got) == [
        ("/f.png", [True]),
        ("/f.png?utm_source=x", [False]),
        ("/g.png?sid=1", [True]),
        ("/g.png?sid=2", [True]),
    ]
    assert {"/g.png?sid=1", "/g.png?sid=2"} <= set(result.hits)
