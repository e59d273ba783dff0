"""Audits of data in one line (JSON, JSONP, XML), of which a part changes at each visit."""

import json
from random import Random

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, FirstPage, audits, shop
from loopback import Response
from scrapy.utils.defer import deferred_f_from_coro_f

NAMES = [Random(number).randbytes(4).hex() for number in range(60)]


def product(number, count):
    """Return the data of a product, with fields that change at each visit."""
    return {
        "request": f"{count * 7919:x} of {NAMES[count % 50]}",
        "name": f"The {NAMES[number]} shoes",
        "texts": [f"{NAMES[number - n]} and {NAMES[number - 2 * n]}" for n in range(1, 9)],
        "price": number * 7 + 10,
        "made": f"2026-01-01 at {count} s",
    }


def as_json(fields, kind="application/json"):
    """Return *fields* as a JSON object."""
    body = json.dumps(fields).encode()
    return Response(headers=(("Content-Type", kind),), body=body)


def as_html(fields):
    """Return *fields* as JSON that is declared to be HTML, as many programs send it."""
    return as_json(fields, "text/html")


def as_jsonp(fields):
    """Return *fields* in a JSONP call whose function name is another each time."""
    call = f"jQuery3_{int(fields['request'].split()[0], 16)}({json.dumps(fields)});"
    return Response(headers=(("Content-Type", "text/javascript"),), body=call.encode())


def as_xml(fields):
    """Return *fields* as XML, with an element for each member of a list."""
    members = (
        (name, each)
        for name, value in fields.items()
        for each in (value if isinstance(value, list) else [value])
    )
    body = "".join(f"<{name}>{each}</{name}>" for name, each in members)
    return Response(
        headers=(("Content-Type", "application/xml"),), body=f"<shop>{body}</shop>".encode()
    )


@pytest.mark.parametrize("as_data", [as_json, as_html, as_jsonp, as_xml])
@deferred_f_from_coro_f
async def test_wrong_rule_over_data_that_moves(crawl, as_data):
    """A wrong rule is found, although each response has fields that change at each visit."""
    urls = [f"/p?id={n}" for n in range(60)]

    def answer(request, count):
        return as_data(product(int(request.query[3:]), count))

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS}, spider=FirstPage)
    assert result.pages == sorted(["/", *urls])
    assert len(result.hits) <= 61 + 9


@pytest.mark.parametrize("as_data", [as_json, as_html, as_jsonp, as_xml])
@deferred_f_from_coro_f
async def test_right_rule_over_data_that_moves(crawl, as_data):
    """Fields that change at each visit do not make a right rule look wrong: no page comes twice."""
    urls = [f"/p{n}?sid={m}" for n in range(60) for m in range(3)]

    def answer(request, count):
        return as_data(product(int(request.path[2:]), count))

    settings = {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0.2}
    result = await crawl(shop(urls, answer), settings, spider=FirstPage)
    assert result.pages == sorted(["/", *(f"/p{n}?sid=0" for n in range(60))])
    assert audits(result.figures) == {"audited": result.figures["audited"]}
