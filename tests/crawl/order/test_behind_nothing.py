"""Content behind pages that bring nothing new is found all the same."""

import tracemalloc

import pytest
from loopback import page
from scrapy import Request, Spider
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler
from sites import ONE_BY_ONE, FollowSpider
from trap_sites import words

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.lane import Turn

NOVELTY = {"URLCANON_ORDER": "novelty", **ONE_BY_ONE}
CHAIN, DEEP, FILTERS = 40, 30, 60


def deep(request):
    """Answer as a site whose articles lie behind a chain of pages without a text of their own.

    Each page of the chain links filtered views too, which have some news.
    """
    kind, _, name = request.target.removeprefix("/").partition("/")
    if kind in {"article", "filter"}:
        return page(words(f"{kind} {name}", 60 if kind == "article" else 20))
    number = int(name or 0)
    if number == CHAIN:
        return page("".join(f"<li><a href=/article/{each}>read</a>" for each in range(DEEP)))
    views = "".join(f"<li><a href=/filter/{number}-{n}>view</a>" for n in range(FILTERS // 10))
    return page(f"{views}<p><a href=/chain/{number + 1}>on</a>")


class DeepItems(FollowSpider):
    """Yields items of articles alone."""

    def parse(self, response):
        yield from response.follow_all(css="a")
        if "/article/" in response.url:
            yield {"article": response.url}


@pytest.mark.parametrize("by", ["text", "items"])
@deferred_f_from_coro_f
async def test_articles_behind_a_chain_are_all_fetched(crawl, by):
    """All articles behind a chain of empty pages are fetched, ordered by text or by items."""
    result = await crawl(deep, {**NOVELTY, "URLCANON_ORDER_BY": by}, spider=DeepItems)
    articles = [hit for hit in result.hits if hit.startswith("/article/")]
    assert sorted(articles) == sorted(f"/article/{number}" for number in range(DEEP))
    assert len(result.hits) == len({*result.hits}) == 1 + CHAIN * (1 + FILTERS // 10) + DEEP


def test_links_that_are_dropped_are_forgotten():
    """Dropped links take next to no memory while the callback of their page is at work."""
    crawler = get_crawler(Spider, {"URLCANON_ORDER": "novelty"})
    order = Crawl.of(crawler).ordered.order
    request = Request("http://a.example/")
    order.taken(request, "a", 0, order.features(request), Turn.OLDEST)
    response = HtmlResponse(request.url, body=b"<p>text", encoding="utf-8", request=request)
    order.fetched(request, response)
    output = order.output_of(response)
    tracemalloc.start()
    for number in range(5_000):
        output.add(Request(f"http://a.example/{number}"))
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # A weak reference to each would take more.
    assert used < 5_000 * 60
