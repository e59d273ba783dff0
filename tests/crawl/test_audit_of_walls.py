"""Audits on sites that show everybody the same for a while: a captcha, a log-in form."""

import pytest
from audited_shop import RIGHT, SETTINGS, WRONG, audits, product, shop
from loopback import Response, page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import FedSpider

from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants

WALL = "<title>Are you a robot?</title><p>Please say that you are none"
WALLS = {
    "the same": lambda _: page(WALL),
    "with the number of the request": lambda count: page(f"{WALL}<p>Request {count}"),
}


@deferred_f_from_coro_f
async def test_captcha_at_the_beginning_is_no_proof(crawl):
    """Audits that saw a captcha alone prove nothing: one more is done at the end of the crawl."""
    urls = [f"/p?id={n}" for n in range(30)]

    def answer(request, count):
        return page(WALL) if count < 4 else product(request.query, seed=count)

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS})
    assert result.pages == sorted(["/", *urls])
    assert result.figures["audit/suspended/drop_params/id"] == 1


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("first", [5, 9, 14])
@deferred_f_from_coro_f
async def test_right_entry_stands_where_all_is_a_wall_from_some_page_on(crawl, wall, first):
    """A captcha that stands for all pages from some moment on suspends no right entry."""
    urls = [f"/p{n}{query}" for n in range(12) for query in ("", "?sid=1", "?sid=2")]

    def answer(request, count):
        return WALLS[wall](count) if count >= first else product(request.path, seed=count)

    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.figures["audited"]
    assert not [name for name in result.figures if "suspended" in name]


NOTHING = {
    "no content": Response(),
    "an empty document": page("<!doctype html><html><head></head><body></body></html>"),
    "that there is none": Response(204),
    "that it is as before": Response(304),
}


@pytest.mark.parametrize("answer", NOTHING)
@deferred_f_from_coro_f
async def test_answer_without_content_is_no_other_page(crawl, answer):
    """An empty answer to a variant gives no verdict.

    Failing servers send one, or take the request for a conditional one.
    """
    urls = [f"/p{n}?sid={sid}" for n in range(4) for sid in range(3)]

    def answers(request, count):
        is_variant = not request.query.endswith("0")
        return NOTHING[answer] if is_variant else product(request.path, seed=count)

    result = await crawl(shop(urls, answers), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.pages == sorted(["/", *(f"/p{n}?sid=0" for n in range(4))])
    assert audits(result.figures) == {"audit/unjudged": 8}


URLS = [f"/p{n}{query}" for query in ("", "?sid=1", "?sid=2") for n in range(12)]


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("length", [2, 5])
@deferred_f_from_coro_f
async def test_pages_behind_a_wall_for_a_while_are_fetched_by_another_url(crawl, wall, length):
    """Pages that were hidden by a captcha are fetched by another URL at the end of the crawl.

    At first one is; if it shows the page, the others are fetched too.
    """
    got = []

    def answer(request, count):
        if 6 <= count < 6 + length:
            return WALLS[wall](count)
        got.append(request.path)
        return product(request.path, seed=count)

    result = await crawl(shop(URLS, answer), {**RIGHT, **SETTINGS})
    assert set(got) == {f"/p{n}" for n in range(12)}
    assert result.figures["audit/asked_again"] == length
    assert not [name for name in result.figures if "suspended" in name]


@deferred_f_from_coro_f
async def test_form_that_stands_there_for_good_is_fetched_once_more(crawl):
    """If one of several log-in forms is the same at another URL, the rest is not fetched."""

    def answer(request, count):
        is_form = int(request.path[2:]) % 3 == 0
        return page("<title>Log in</title>Name") if is_form else product(request.path, seed=count)

    result = await crawl(shop(URLS, answer), {**RIGHT, **SETTINGS})
    assert len(result.hits) == 1 + 12 + 3 + 1
    assert result.figures["audit/asked_again"] == 1


@deferred_f_from_coro_f
async def test_wall_that_gives_way_to_a_form_tells_nothing_of_the_pages_behind_it(crawl):
    """If the page behind a captcha is a log-in form, the next page is tried all the same."""

    def answer(request, count):
        if 2 <= count < 7:
            return page(WALL)
        is_form = int(request.path[2:]) in {2, 8, 9}
        return page("<title>Log in</title>Name") if is_form else product(request.path, seed=count)

    result = await crawl(shop(URLS, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 0.2})
    shown = {item["url"] for item in result.items if "material" in item["text"]}
    assert {url.partition("?")[0].rpartition("/")[2] for url in shown} == {
        f"p{n}" for n in range(12) if n not in {2, 8, 9}
    }


class FedPages(FedSpider):
    """Is fed with two URLs of each page."""

    fed = tuple(f"/p{n}{query}" for n in range(60) for query in ("", "?sid=1"))


@deferred_f_from_coro_f
async def test_what_was_dropped_is_not_gone_through_each_time_that_a_spider_idles(
    crawl, monkeypatch
):
    """Dropped variants are searched after each tenth more pages, not at each idle signal.

    A spider fed from a queue is idle after each page, which would make the time quadratic.
    """
    looks = []
    drops = DroppedVariants.drops
    monkeypatch.setattr(
        DroppedVariants, "drops", property(lambda self: looks.append(1) or drops.fget(self))
    )
    respond = shop([], lambda request, _: product(request.path))
    result = await crawl(respond, {**RIGHT, **SETTINGS}, spider=FedPages)
    assert len(result.pages) == 61
    assert len(looks) < 30


@pytest.mark.parametrize("share", [1e-9, 1])
@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("links_of_a_page", [1, 3])
@deferred_f_from_coro_f
async def test_page_and_what_redirects_to_it_show_no_wall(crawl, share, at_once, links_of_a_page):
    """A redirect and its target that one wrong entry merges are not taken for a wall.

    Both show the same page for each query, and no page is lost.
    """
    numbers = range(9)
    urls = [f"/item?id={number}" for number in numbers]

    def answer(request, _):
        name, _, query = request.target.partition("?")
        if name == "/item":
            return redirect(f"/show?{query}")
        at = (int(query.removeprefix("id=")) + 1) * links_of_a_page
        shown = product(query).body.decode()
        return page(shown + "".join(f'<a href="{url}">' for url in urls[at:][:links_of_a_page]))

    settings = {**WRONG, **SETTINGS, "URLCANON_AUDIT": share, "CONCURRENT_REQUESTS": at_once}
    result = await crawl(shop(urls[:links_of_a_page], answer), settings)
    assert {*result.pages} == {"/", *(f"/show?id={number}" for number in numbers)}


class FedProducts(FedSpider):
    """Is fed with products other than those that are linked."""

    fed = tuple(f"/p?id={number}" for number in range(3, 9))


@deferred_f_from_coro_f
async def test_page_that_was_no_wall_does_not_stand_for_the_one_that_looked_like_it(crawl):
    """Audits go on comparing with the first URL of a page, though another one was let through.

    Two pages show the same, so one of their dropped URLs is fetched in case both were a wall. It is
    a product of its own.
    """
    urls = ["/p?id=1&page=1", "/p?id=1", "/p?id=2"]

    def answer(request, count):
        return product(request.query.partition("&")[0], seed=count)

    result = await crawl(shop(urls, answer), {**WRONG, **SETTINGS}, spider=FedProducts)
    assert result.pages == sorted(["/", *urls, *FedProducts.fed])
    assert result.figures["audit/suspended/drop_params/id"] == 1


@pytest.mark.parametrize("link", ["{}?sid=%3Cscript%3E", "http://site.example.{}"])
@pytest.mark.parametrize("hidden", [3, 20])
@deferred_f_from_coro_f
async def test_pages_that_a_stranger_links_so_that_a_firewall_refuses_them_come_by_other_urls(
    crawl, hidden, link
):
    """A link that looks like an attack, and is answered with "rejected" and 200, hides no page.

    Nor does one with a dot behind the host, which another site of the server answers.
    """
    pages = [f"/p{n}" for n in range(20)]
    linked = [link.format(url) for url in pages[:hidden]]

    def answer(request, count):
        if "script" in request.query or request.host.endswith("."):
            return page(f"<title>Request rejected</title>Your support ID is {count}")
        return product(request.path, seed=count)

    urls = [*linked, *pages, *(f"{url}?sid=1" for url in pages)]
    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS})
    shown = {
        item["text"].partition("<input")[0] for item in result.items if "made of" in item["text"]
    }
    assert len(shown) == len(pages)
