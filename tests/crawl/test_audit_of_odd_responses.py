"""The audit of responses of any size, type and encoding, and of those that are cut short."""

import pytest
from audited_shop import RIGHT, SETTINGS, FirstPage, audits, product, shop
from loopback import Fault, Response
from scrapy.utils.defer import deferred_f_from_coro_f

ODD = {
    "10 MB": Response(
        headers=(("Content-Type", "text/html"),), body=b"<p>as many words as a line has" * 330_000
    ),
    "100 MB": Response(headers=(("Content-Type", "text/html"),), body=b"<p>x" * 25_000_000),
    "not text": Response(headers=(("Content-Type", "image/png"),), body=bytes(range(256)) * 100),
    "wrong encoding": Response(
        headers=(("Content-Type", "text/html; charset=utf-16"),), body=b"\xff\x00\xd8odd" * 99
    ),
    "unknown encoding": Response(
        headers=(("Content-Type", "text/html; charset=x-none"),), body=b"caf\xe9"
    ),
    "null bytes": Response(headers=(("Content-Type", "text/html"),), body=b"\0" * 1000),
    "deeply nested": Response(headers=(("Content-Type", "text/html"),), body=b"<b>" * 100_000),
    "XML": Response(headers=(("Content-Type", "text/xml"),), body=b"<a>text</a>"),
    "JSON": Response(headers=(("Content-Type", "application/json"),), body=b'{"a": [1, 2'),
}
LONG = pytest.param("100 MB", marks=pytest.mark.long)


@pytest.mark.parametrize("name", [*(name for name in ODD if name != LONG.values[0]), LONG])
@deferred_f_from_coro_f
async def test_odd_responses_are_compared(crawl, name):
    """Responses of any size, type or encoding with equal bytes are one page, without an error."""
    respond = shop([f"/p?sid={n}" for n in range(3)], lambda _request, _count: ODD[name])
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=FirstPage)
    assert result.pages == ["/", "/p?sid=0"]
    assert audits(result.figures) == {"audited": 2}
    assert "log_count/ERROR" not in result.stats


@pytest.mark.parametrize("name", ["10 MB", LONG])
@deferred_f_from_coro_f
async def test_what_cannot_be_judged_is_passed_on_and_counted(crawl, name):
    """If bytes differ and all text that is read is equal, the spider gets both responses."""
    odd = ODD[name]
    other = Response(headers=odd.headers, body=odd.body + b"x")
    respond = shop(
        [f"/p?sid={n}" for n in range(2)],
        lambda request, _: odd if request.query == "sid=0" else other,
    )
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=FirstPage)
    assert result.pages == ["/", "/p?sid=0", "/p?sid=1"]
    assert audits(result.figures) == {"audit/unjudged": 1}


@deferred_f_from_coro_f
async def test_truncated_variant_is_counted(crawl):
    """A truncated variant is compared with nothing, and counted as unjudged."""
    half = Response(body=b"half of it", fault=Fault.TRUNCATION)
    respond = shop(
        [f"/p?sid={n}" for n in range(2)],
        lambda request, _: product(1) if request.query == "sid=0" else half,
    )
    result = await crawl(respond, {**RIGHT, **SETTINGS})
    assert result.pages == ["/", "/p?sid=0"]
    assert audits(result.figures) == {"audit/unjudged": 1}
