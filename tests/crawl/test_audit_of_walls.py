"""Sites that show the same to everybody for a while: a captcha, a form to log in."""

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, product, shop
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f

WALL = "<title>Are you a robot?</title><p>Please say that you are none"
WALLS = {
    "the same": lambda _: page(WALL),
    "with the number of the request": lambda count: page(f"{WALL}<p>Request {count}"),
}


@deferred_f_from_coro_f
async def test_captcha_at_the_beginning_is_no_proof(crawl):
    """All that the first audits see is that: once there is nothing else to fetch one more looks."""
    urls = [f"/p?id={n}" for n in range(30)]

    def answer(request, count):
        return page(WALL) if count < 4 else product(request.query, seed=count)

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert result.figures["audit/suspended/drop_params:id"] == 1


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("first", [5, 9, 14])
@deferred_f_from_coro_f
async def test_right_entry_stands_where_all_is_a_wall_from_some_page_on(crawl, wall, first):
    """That a page and its variant are that by now says nothing of what they were."""
    urls = [f"/p{n}{query}" for n in range(12) for query in ("", "?sid=1", "?sid=2")]

    def answer(request, count):
        return WALLS[wall](count) if count >= first else product(request.path, seed=count)

    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert not [name for name in result.figures if "suspended" in name]
