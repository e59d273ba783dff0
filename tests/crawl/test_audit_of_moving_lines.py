"""Audits of pages whose own text stands in lines of which a part changes at each visit."""

from itertools import count

import pytest
from audited_shop import SETTINGS
from loopback import Response, page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links
from trap_sites import words

ITEMS = [f"id={number}" for number in range(12)]
SESSIONS = ["", "&sid=1", "&sid=2"]
MENU = "".join(f"<li>{words(f'menu {number}', 2)}" for number in range(12))
URLS = [f"/list?{item}{session}" for item in ITEMS for session in SESSIONS]


def article(item, visit):
    """Return an article with an advertisement inside its only paragraph."""
    ad = words(f"advertisement at {visit}", 4)
    return page(
        f"<title>The list</title>{MENU}<h1>The list</h1>"
        f"<p>{words(f'{item} begins', 20)} {ad} {words(f'{item} ends', 20)}<p>{words('foot', 5)}"
    )


def marked(item, visit):
    """Return an article with a word in each line that changes at each visit."""
    lines = (
        f"<p>{words(f'{item} {n} begins', 6)} {words(f'{visit} {n}', 1)} {words(f'{item} {n}', 6)}"
        for n in range(8)
    )
    return page(f"<title>The list</title>{MENU}{''.join(lines)}")


def table(item, visit):
    """Return a CSV table with a column that changes at each visit."""
    rows = (f"{words(f'{item} {n}', 1)},{words(f'{item} of {n}', 1)},{visit}" for n in range(9))
    return Response(200, (("Content-Type", "text/csv"),), "\n".join(rows).encode())


async def crawled(crawl, make, dropped):
    """Return the items that the spider got, the number of requests, and what was suspended."""
    visits = count()

    def respond(request):
        if request.target == "/":
            return links(*URLS)
        return make(request.query.partition("&")[0], next(visits))

    rules = {"URLCANON_RULES": {"site.example": {"drop_params": dropped}}}
    result = await crawl(respond, {**SETTINGS, **rules})
    got = {url.partition("?")[2].partition("&")[0] for url in result.pages} - {""}
    suspended = [name for name in result.figures if "suspended" in name]
    return got, len(result.hits), suspended


@pytest.mark.parametrize("make", [article, marked, table])
@pytest.mark.parametrize("dropped", [["id"], ["id", "sid"]])
@deferred_f_from_coro_f
async def test_wrong_rule_over_lines_that_move_in_part(crawl, make, dropped):
    """The wrong entry is suspended, and not the right one that merged the same URLs."""
    got, _, suspended = await crawled(crawl, make, dropped)
    assert (got, suspended) == ({*ITEMS}, ["audit/suspended/drop_params/id"])


@pytest.mark.parametrize("make", [article, marked, table])
@deferred_f_from_coro_f
async def test_right_rule_over_lines_that_move_in_part(crawl, make):
    """A right rule stands, since the constant part of each line is on all URLs of the page."""
    got, hits, suspended = await crawled(crawl, make, ["sid"])
    assert (got, suspended) == ({*ITEMS}, [])
    assert hits <= len(ITEMS) + 8
