"""A rule may be right for the first pages of a site, and wrong for later ones."""

from audited_shop import RIGHT, SETTINGS, WRONG, audits, product, shop
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links

from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests

VARIANTS = ("", "?id=1", "?id=2")
AUDITED = {**WRONG, **SETTINGS, "URLCANON_AUDIT": 0.1}
LATER = 150
"""From this one on a product comes in several colours."""


def products(first, end):
    """Return all URLs of the products from number *first* to *end* - 1."""
    return [f"/p{n}{query}" for n in range(first, end) for query in VARIANTS]


def answer(request, count):
    """Return the page of a product; from number LATER on each URL is a page of its own."""
    number = int(request.path[2:])
    return product(request.target if number >= LATER else number, seed=count)


@deferred_f_from_coro_f
async def test_later_pages_that_were_dropped_early_are_audited_too(crawl):
    """Variants are audited throughout the crawl, even if all were dropped at its beginning."""
    result = await crawl(shop(products(0, 2 * LATER), answer), AUDITED)
    assert audits(result.figures)["audit/suspended/drop_params/id"] == 1
    assert {*result.pages} >= {*products(LATER, 2 * LATER)}


@deferred_f_from_coro_f
async def test_entry_that_held_for_long_is_suspected_anew(crawl):
    """An entry that was right for long is audited more often once it merged a page wrongly."""
    hubs = [products(n, n + 10) for n in range(0, 2 * LATER, 10)]
    pages = {f"/hub{k}": links(*urls, f"/hub{k + 1}") for k, urls in enumerate(hubs)}
    pages[f"/hub{len(hubs)}"] = page("the end")
    result = await crawl(
        shop(["/hub0"], lambda request, n: pages.get(request.target) or answer(request, n)),
        AUDITED,
    )
    assert result.figures["audit/rule/drop_params:id/site.example/until"] < LATER + 50
    assert {*result.pages} >= {*products(LATER, 2 * LATER)}


@deferred_f_from_coro_f
async def test_page_looks_at_the_variants_that_wait_for_it_alone(crawl, monkeypatch):
    """A page that comes is matched with its own variants alone.

    If each were matched with all that were dropped, the time would be quadratic.
    """
    asked = []
    is_had = PageRequests.is_had_for
    monkeypatch.setattr(
        PageRequests, "is_had_for", lambda *args: asked.append(args) or is_had(*args)
    )
    urls = [f"/p{n}{query}" for query in ("", "?sid=1") for n in range(LATER)]
    result = await crawl(shop(urls, answer), {**RIGHT, **SETTINGS, "URLCANON_AUDIT": 1})
    assert result.figures["audited"] == LATER
    assert len(asked) < 10 * LATER
