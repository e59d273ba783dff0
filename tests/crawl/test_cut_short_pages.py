"""A page that was cut short is fetched by another of its URLs; a whole one is not."""

from gzip import compress

import pytest
from loopback import Fault, Response, page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider, links, site

RULES = {
    "URLCANON_RULES": {"site.example": {"drop_params": ["sid"]}},
    # First in, first out: what a test links first is fetched first.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "CONCURRENT_REQUESTS": 1,
}


def html(*urls, end="</body></html>"):
    """Return a whole HTML page that links *urls*, or with *end* = "" one that breaks off."""
    tags = "".join(f'<a href="{url}">link</a>' for url in urls)
    return page(f"<html><body>text {tags}{end}")


@pytest.mark.parametrize("sign", [{"fault": Fault.TRUNCATION}, {"status": 206}])
@deferred_f_from_coro_f
async def test_page_that_was_cut_short_is_fetched_by_another_url(crawl, sign):
    """A truncated or partial response may lack links, so that a variant is fetched too.

    Here the user accepts truncated pages (DOWNLOAD_FAIL_ON_DATALOSS = False).
    """
    pages = {
        "/": links("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": Response(headers=(("Content-Type", "text/html"),), body=b"half of it", **sign),
        "/a?sid=2": links("/behind"),
        "/behind": page("behind"),
    }
    settings = {**RULES, "DOWNLOAD_FAIL_ON_DATALOSS": False}
    result = await crawl(site(pages), settings)
    assert result.hits == ["/", "/a?sid=1", "/a?sid=2", "/behind"]


@pytest.mark.parametrize("is_whole", [True, False])
@deferred_f_from_coro_f
async def test_compressed_page_without_its_end_is_fetched_by_another_url(crawl, tmp_path, is_whole):
    """Scrapy unpacks what there is of a compressed page, without an error: a variant is fetched.

    The HTTP cache stores the page as it came, so that it is the same for the second crawl.
    """
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    packed = compress(b"%s<a href=/behind>" % b" ".join(b"%d" % n for n in range(500)))
    body = packed if is_whole else packed[: len(packed) // 2]
    pages = {
        "/": links("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": Response(headers=headers, body=body),
        "/a?sid=2": links("/behind"),
        "/behind": page("behind"),
    }
    settings = {**RULES, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    for hits in (list(pages), []):
        result = await crawl(site(pages), settings)
        assert result.hits == [each for each in hits if not is_whole or each != "/a?sid=2"]
        assert "/behind" in result.pages


@deferred_f_from_coro_f
async def test_page_that_breaks_off_is_fetched_by_another_url(crawl):
    """A page without the end tags that other pages have may lack links: a variant is fetched too.

    This is all that shows of a program that fails in the middle of a page with status 200.
    """
    pages = {
        "/": html("/a?sid=1", "/a?sid=2"),
        "/a?sid=1": html("/behind?sid=1", end=""),
        "/a?sid=2": html("/behind?sid=1", "/behind?sid=2"),
        "/behind?sid=1": html(),
    }
    result = await crawl(site(pages), RULES)
    assert result.hits == ["/", "/a?sid=1", "/behind?sid=1", "/a?sid=2"]


@deferred_f_from_coro_f
async def test_feed_that_breaks_off_is_fetched_by_another_url(crawl):
    """XML without its closing root tag is cut short, even as the first document of its host.

    A variant is fetched for it. A root that closes itself (`<feed/>`) is whole, and needs none.
    """

    def feed(text):
        return Response(headers=(("Content-Type", "application/xml"),), body=text.encode())

    class Feeds(FollowSpider):
        def parse(self, response):
            yield {"url": response.url}
            yield from response.follow_all(response.xpath("//link/text()").getall())

    items = [f"<link>{SITE}/{name}?sid={n}</link>" for n in (1, 2) for name in ("a", "none")]
    named = "<feed-source>the name of the root is the beginning of this one</feed-source>"
    pages = {
        "/?sid=1": feed(f"<?xml version='1.0'?><feed>{''.join(items[:2])}{named}"),
        "/?sid=2": feed(f"<?xml version='1.0'?><feed>{''.join(items)}{named}</feed\n> "),
        "/a?sid=1": feed("<feed><link/></feed>"),
        "/none?sid=1": feed("<feed version='2'/>"),
    }
    start = [f"{SITE}/?sid={n}" for n in (1, 2, 3)]
    result = await crawl(site(pages), RULES, start=start, spider=Feeds)
    assert sorted(result.hits) == ["/?sid=1", "/?sid=2", "/a?sid=1", "/none?sid=1"]


@deferred_f_from_coro_f
async def test_pages_without_end_tags_are_whole(crawl):
    """On a site that never writes end tags, pages without them are not taken for cut short.

    So no variant of them is fetched. The same holds of parts of pages, which have no html element.
    """
    urls = [f"/{name}?sid={n}" for n in (1, 2) for name in ("a", "b", "c", "d")]
    pages = {"/": html(*urls, end="")}
    pages |= {url: html(end="") for url in urls} | {url: page("part") for url in urls[-2:]}
    result = await crawl(site(pages), RULES)
    assert len(result.hits) == 5
    pages["/"] = html(*urls)
    result = await crawl(site(pages), RULES)
    # The first one could not be told from one that breaks off.
    assert len(result.hits) == 6
