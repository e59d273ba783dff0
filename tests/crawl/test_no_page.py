"""What brings its callback no content is no page: another URL of the page is fetched."""

import pytest
from loopback import Response, page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider, links, site

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
