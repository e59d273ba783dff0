"""Sites on which there is little or nothing to learn: the ordered crawl still fetches all of it."""

import logging
from itertools import count
from random import Random

import pytest
from loopback import Response, page
from scrapy.http import HtmlResponse, Request
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import SITE, FollowSpider
from trap_sites import words

from scrapy_urlcanon.crawl.order.links import Links, trust

PLAIN = {"CONCURRENT_REQUESTS": 1, "RETRY_ENABLED": False}
NOVELTY = {**PLAIN, "URLCANON_ORDER": "novelty"}
PAGES = 50
VISITS = count()


def anchors(number):
    """Return the links of page *number*: three pages further on, and one back."""
    further = [n for n in range(3 * number + 1, 3 * number + 4) if n < PAGES]
    return "".join(f'<a href="/page/{n}?from={number % 2}">x</a>' for n in (*further, number // 2))


def binary(number):
    if number == 0:
        return page("".join(f'<a href="/page/{n}">x</a>' for n in range(1, PAGES)))
    body = Random(number % 7).randbytes(500)
    return Response(200, (("Content-Type", "image/png"),), body)


KINDS = {
    "binary": binary,
    "all alike": lambda number: page(f"one text{anchors(number)}"),
    "changing": lambda number: page(words(f"visit {next(VISITS)}", 40) + anchors(number)),
    "no text": lambda number: page(f'<img src="/{number}.png">{anchors(number)}'),
    "broken": lambda number: page(
        '<head><link rel=canonical href="http://[/"></head><p>\0<p' + anchors(number)
    ),
    "comment first": lambda number: page(f"<!-- {number} --><html>{anchors(number)}{number}"),
    "errors": lambda number: page(anchors(number), status=500 if number % 2 else 200),
}


def responder(kind):
    """Return the server of a site of this *kind*."""
    return lambda request: KINDS[kind](int(request.path.rpartition("/")[2] or 0))


@pytest.mark.parametrize("kind", KINDS)
@deferred_f_from_coro_f
async def test_crawl_of_what_says_nothing_ends_complete(crawl, caplog, kind):
    """The ordered crawl fetches what a crawl without the order does, and logs no error."""
    respond = responder(kind)

    class Patient(FollowSpider):
        handle_httpstatus_list = (500,)

        def parse(self, response):
            if isinstance(response, HtmlResponse):
                yield from super().parse(response)

    without = await crawl(respond, PLAIN, spider=Patient)
    ordered = await crawl(respond, NOVELTY, spider=Patient)
    assert sorted(ordered.hits) == sorted(without.hits)
    assert ordered.stats["finish_reason"] == "finished"
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@deferred_f_from_coro_f
async def test_where_every_visit_shows_another_text_the_order_is_breadth_first(crawl, caplog):
    """If each visit shows another text, the crawl says so and goes breadth first."""

    def respond(request):
        number = int(request.path.rpartition("/")[2] or 0)
        further = (n for n in range(10 * number + 1, 10 * number + 11) if n < 700)
        # Now and then a page is shorter, so that one is expected to bring less than another.
        text = words(f"visit {next(VISITS)}", 10 if number % 3 else 80)
        return page(text + "".join(f'<a href="/{"ab"[n % 2]}/{n}"></a>' for n in further))

    result = await crawl(respond, NOVELTY)
    numbers = [int(hit.rpartition("/")[2] or 0) for hit in result.hits]
    assert sorted(numbers) == [*range(700)]
    linked = {number: (numbers.index((number - 1) // 10), number) for number in numbers[400:]}
    # After the first 350 it is sure of that.
    assert numbers[400:] == sorted(numbers[400:], key=linked.get)
    assert any("Every page is new" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("value", [lambda *_: 1 / 0, lambda *_: None, lambda *_: float("nan")])
@deferred_f_from_coro_f
async def test_worth_that_is_no_number_is_logged_once_and_counts_nothing(crawl, caplog, value):
    """A callable in URLCANON_ORDER_BY that fails loses no page, and is logged once."""
    settings = {**NOVELTY, "URLCANON_ORDER_BY": value}
    result = await crawl(
        lambda r: KINDS["all alike"](int(r.path.rpartition("/")[2] or 0)), settings
    )
    assert {hit.partition("?")[0] for hit in result.hits} == {
        "/",
        *(f"/page/{n}" for n in range(PAGES)),
    }
    said = [r for r in caplog.records if "URLCANON_ORDER_BY" in r.getMessage()]
    assert [record.levelno for record in said] == [logging.ERROR]


def html(body):
    """Return a response with this *body*."""
    url = f"{SITE}/page"
    return HtmlResponse(url, body=body.encode(), request=Request(url), encoding="utf-8")


def test_comment_before_the_document_hides_nothing():
    """A comment before <html> hides neither nofollow links nor what the page declares."""
    body = (
        "<html><head><meta name=robots content=noindex></head>"
        "<body><p><a href=/x rel=nofollow>x</a>"
    )
    plain, commented = html(body), html(f"<!-- made by hand -->\n{body}")
    link = f"{SITE}/x"
    assert "nofollow" in Links(commented).context(link)
    assert Links(commented).context(link) == Links(plain).context(link)
    assert trust(commented) == trust(plain) < 1


@pytest.mark.parametrize("url", ["http://[/", "//[", "http://a b/\x01", "/other"])
def test_declared_url_of_any_form_is_another_one(url):
    """An invalid declared URL counts as one of another page."""
    assert trust(html(f"<html><head><link rel=canonical href='{url}'></head>")) < 1
