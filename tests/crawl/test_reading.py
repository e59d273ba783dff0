"""How pages are read during a crawl."""

import gc
import threading
from weakref import ref

import pytest
from loopback import Response, page
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

from scrapy_urlcanon.crawl import reading
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.pages.page import MAX_BODY, Page

PAGE = "<title>T</title><p>one<p>two <b>three</b><img src=/a.jpg>"


def response(html, **kwargs):
    return HtmlResponse(f"{SITE}/", body=html.encode(), encoding="utf-8", **kwargs)


@pytest.mark.parametrize("html", [PAGE, "", " ", "<!-- x -->", "\0<p>\ud7ff", "<p>" * 5000 + "x"])
def test_tree_of_the_spider_says_what_the_text_says(html):
    """A page read from parsel's document is the same as one read from its text."""
    got = response(html)
    assert page_of(got).digest == Page(got.url, got.body, html).digest
    assert page_of(got).title == Page(got.url, got.body, html).title
    if html == PAGE:
        assert got._cached_selector is got.selector


def test_page_does_not_outlive_its_response():
    """What was read of a response is freed with it."""
    got = response(PAGE)
    _ = page_of(got).digest
    found = ref(page_of(got))
    del got
    gc.collect()
    assert found() is None


class Keeping(FollowSpider):
    """Keeps every response."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.got = []

    def parse(self, response):
        self.got.append(response)
        yield from super().parse(response)


class KeepingLater(Keeping):
    """Keeps every response, in a coroutine."""

    async def parse(self, response):
        for each in super().parse(response):
            yield each


@pytest.mark.parametrize("spider", [Keeping, KeepingLater])
@deferred_f_from_coro_f
async def test_what_was_read_is_forgotten_once_the_callback_is_done(crawl, spider):
    """What was read is freed after the callback, even if the response is kept.

    Else the garbage collector would go through its lines again and again.
    """
    settings = {"URLCANON_AUDIT": 1, "URLCANON_ORDER": "novelty"}
    result = await crawl(
        lambda _: page("<a href=/a>a</a><a href=/b>b</a>"), settings, spider=spider
    )
    got = result.crawler.spider.got
    assert len(got) == 3
    assert not {*got} & {*reading._pages}
    assert page_of(got[0]).has_text


def test_end_of_a_very_large_page_is_not_read():
    """Only the first 4 MiB of a page are read."""
    one, other = (page_of(response("<p>a</p>" * (MAX_BODY // 8) + rest)) for rest in ("b", "c"))
    assert one.digest == other.digest


class UrlSpider(FollowSpider):
    """Does not read its pages."""

    def parse(self, response):
        yield {"url": response.url}


@deferred_f_from_coro_f
async def test_page_comes_to_the_spider_whatever_charset_it_names(crawl):
    """A charset that is a Python codec without text does not keep a page from the spider."""
    answers = [
        Response(headers=(("Content-Type", kind),), body=body)
        for kind, body in (
            ("application/json; charset=undefined", b'{"a": "b"}'),
            ("text/plain; charset=hex", b"hello"),
            ("text/xml; charset=idna", b"<a>hello</a>"),
            ("text/html; charset=unicode_escape", rb"<title>A \ud800</title><p>hello"),
        )
    ]
    urls = [f"{SITE}/{number}" for number in range(len(answers))]
    # Each page with a variant, which the audit compares.
    variants = [f"{url}?sid=1" for url in urls]
    respond = site(
        {**dict(zip(urls, answers, strict=True)), **dict(zip(variants, answers, strict=True))}
    )
    settings = {
        "URLCANON_RECORD": "observations.sqlite",
        "URLCANON_ORDER": "novelty",
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_AUDIT": 1.0,
        "URLCANON_RULES": {"*": {"drop_params": ["sid"]}},
    }
    start = [*urls, *variants]
    result = await crawl(respond, settings, start=start, spider=UrlSpider)
    assert {item["url"] for item in result.items} == set(urls)


class LinkingSpider(UrlSpider):
    """Knows where pages lead without reading them."""

    def parse(self, response):
        yield from super().parse(response)
        if "/next/" not in response.url:
            yield Request(response.url.replace(SITE, f"{SITE}/next"))


@pytest.mark.parametrize("charset", ["undefined", "hex", "idna", "punycode", "utf-8"])
@pytest.mark.parametrize("order", [None, "novelty"])
@deferred_f_from_coro_f
async def test_html_that_is_no_text_or_leads_to_no_url_comes_to_the_spider(crawl, charset, order):
    """HTML with such a charset, or an invalid refresh, reaches the spider."""
    answer = Response(
        headers=(("Content-Type", f"text/html; charset={charset}"),),
        body=b'\xff<meta http-equiv="refresh" content="0; url=http://["><p>hello',
    )
    settings = {
        "METAREFRESH_ENABLED": False,
        "URLCANON_ORDER": order,
        "URLCANON_RECORD": "observations.sqlite",
        "URLCANON_DECLARED_CANONICAL": True,
        "URLCANON_REPORT": "report.json",
    }
    urls = [f"{SITE}/a", f"{SITE}/next/a"]
    respond = site(dict.fromkeys(urls, answer))
    result = await crawl(respond, settings, start=urls[:1], spider=LinkingSpider)
    assert [item["url"] for item in result.items] == urls
    assert "log_count/ERROR" not in result.stats


@deferred_f_from_coro_f
async def test_large_page_is_read_beside_the_event_loop(crawl, monkeypatch, tmp_path):
    """A large page is read in a thread, so that it does not block the crawl."""
    threads = []
    read_ahead = reading.read_ahead

    def noting(got):
        threads.append(threading.current_thread())
        read_ahead(got)

    monkeypatch.setattr("scrapy_urlcanon.crawl.reading.read_ahead", noting)
    respond = site({f"{SITE}/": links("/b"), f"{SITE}/b": page("<p>some text</p>" * 20_000)})
    result = await crawl(respond, {"URLCANON_RECORD": str(tmp_path / "o.sqlite")})
    assert len(result.pages) == 2
    assert [thread is threading.main_thread() for thread in threads] == [False]
    assert result.figures["recorded"] == 2
