"""Endless pages made of the words of other pages have an end, though each of their lines is new."""

from random import Random

import pytest
from loopback import page
from scrapy import signals
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FollowSpider
from trap_sites import words

from scrapy_urlcanon.crawl.stats import NO_NEWS

ARTICLES = [[words(f"article {n} {line}", 12) for line in range(8)] for n in range(40)]
LISTS = [words(f"list {n}", 6).split() for n in range(30)]


def shuffled(random):
    """Return the sentences of an article in another order, as one line."""
    lines = random.choice(ARTICLES)
    return " ".join(random.sample(lines, len(lines)))


def compared(random):
    """Return two articles side by side, sentence by sentence."""
    return "<br>".join(map(" ".join, zip(*random.sample(ARTICLES, 2), strict=True)))


def found(random):
    """Return snippets of several articles, as a search shows them."""
    texts = [" ".join(lines).split() for lines in random.sample(ARTICLES, 8)]
    begins = [random.randrange(60) for _ in texts]
    return "<br>".join(
        " ".join(text[begin : begin + random.randint(9, 15)])
        for text, begin in zip(texts, begins, strict=True)
    )


def filled(random):
    """Return a sentence with words from lists filled in."""
    return " ".join(f"the {random.choice(each)}" for each in LISTS)


@pytest.mark.parametrize("text", [shuffled, compared, found, filled])
@deferred_f_from_coro_f
async def test_what_is_put_together_of_known_words_ends(crawl, text):
    """A crawl of such pages ends, and has fetched all articles."""

    def respond(request):
        kind, _, number = request.target.strip("/").partition("/")
        if kind == "article":
            return page("".join(f"<p>{line}" for line in ARTICLES[int(number)]))
        links = "".join(f"<a href=/article/{n}>more</a>" for n in range(40)) if not kind else ""
        begin = 2 * int(number or 0)
        links += "".join(f"<a href=/mixed/{n}>other</a>" for n in (begin + 1, begin + 2))
        return page(f"<p>{text(Random(number))}</p>{links}")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05, "CLOSESPIDER_PAGECOUNT": 900}
    result = await crawl(respond, settings)
    assert {f"/article/{n}" for n in range(40)} <= {*result.hits}
    assert result.stats["finish_reason"] == NO_NEWS


@deferred_f_from_coro_f
async def test_records_of_known_words_are_fetched(crawl):
    """Records with names of their own are all fetched, though their values are known words."""

    def respond(request):
        _, _, number = request.target.strip("/").partition("/")
        random = Random(number)
        records = "".join(f"<a href=/record/{n}>more</a>" for n in range(300)) if not number else ""
        values = " ".join(random.choice(each) for each in LISTS)
        return page(f"<h1>{words(number, 2)}</h1><p>{values}</p>{records}")

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.05}
    result = await crawl(respond, settings)
    assert len({*result.hits}) == 301


@pytest.mark.parametrize("text", [shuffled, compared, found])
@deferred_f_from_coro_f
async def test_what_is_put_together_comes_after_what_says_something_else(crawl, text):
    """Pages that recombine known words come after what waits beside them.

    Older Scrapy hands on what a callback yields many fetches later where a server answers at
    once. What the order knows of then is what counts, rather than what a page has linked. Depth
    and breadth first have 16 articles after 250 fetches, and 202 or more of 237 such pages early.
    """
    book = "".join(f"<p>{line}" for lines in ARTICLES for line in lines)

    def respond(request):
        kind, _, number = request.target.strip("/").partition("/")
        begin = 6 * int(number or 0)
        others = "".join(f"<a href=/mixed/{begin + n}>other</a>" for n in range(1, 7))
        if kind == "article":
            return page(
                "".join(f"<p>{words(f'{number} {line}', 12)}" for line in range(8)) + others
            )
        if kind == "mixed":
            return page(f"<p>{text(Random(number))}{others}")
        first = int(number or 0)
        links = "".join(f"<a href=/article/{first + n}>more</a>" for n in range(8))
        links += f"<a href=/list/{first + 8}>next</a>" if first < 72 else ""
        return page((links if kind else book + links) + others)

    waiting = set()
    early = []

    class Watching(FollowSpider):
        @classmethod
        def from_crawler(cls, crawler, *args, **kwargs):
            spider = super().from_crawler(crawler, *args, **kwargs)
            crawler.signals.connect(spider.scheduled, signals.request_scheduled)
            crawler.signals.connect(spider.sent, signals.request_reached_downloader)
            return spider

        def scheduled(self, request):
            if "/mixed/" not in request.url:
                waiting.add(request.url)

        def sent(self, request):
            waiting.discard(request.url)
            if "/mixed/" in request.url:
                early.append(bool(waiting))

    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": 0.01, "CLOSESPIDER_PAGECOUNT": 250}
    result = await crawl(respond, settings, spider=Watching)
    assert sum(early) < len(early) / 3
    assert len({hit for hit in result.hits if hit.startswith("/article/")}) > 2 * 16
