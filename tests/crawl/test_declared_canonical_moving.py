"""Declared canonical URLs on sites whose pages change at each visit."""

from itertools import count

import pytest
from declaring_shop import ORDERED
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links
from trap_sites import words

PAGES = range(120)
ON_A_HUB = 6
BETWEEN = 2
"""So many hubs are between that of a page which declares and that of the one it declares."""
SETTINGS = {**ORDERED, "URLCANON_DECLARED_CANONICAL": True}
MOVES = {
    "names without a number": lambda visit: f"<p>Online: {words(f'visit {visit}', 4)}",
    "one of eleven pictures": lambda visit: f"<img src=/ads/{visit * 7 % 11}.png>",
    "one of two texts": lambda visit: f"<p>{words(f'test {visit % 2}', 24)}",
}


def hubs_of(pages):
    """Return hubs that link each of *pages* with ``ref``, and some of them later without."""
    groups = [pages[at : at + ON_A_HUB] for at in range(0, len(pages), ON_A_HUB)]
    bare = [[], *([] for _ in range(BETWEEN - 1)), *groups]
    hubs = [
        [*(f"/item{n}?ref=a" for n in declaring), *(f"/item{n}" for n in declared)]
        for declaring, declared in zip([*groups, *([[]] * BETWEEN)], bare, strict=True)
    ]
    return {
        f"/hub{number}": links(*urls, *([f"/hub{number + 1}"] if number + 1 < len(hubs) else []))
        for number, urls in enumerate(hubs)
    }


def moving_site(moves, lies=lambda _: False):
    """Return a site whose pages have what *moves* adds at each visit.

    Each page declares the URL without ``ref``. If it *lies*, that is another page, and nothing else
    shows it.
    """
    hubs, visits = {"/": links("/hub0"), **hubs_of(PAGES)}, count()

    def respond(request):
        if request.path in hubs:
            return hubs[request.path]
        number = int(request.path[5:])
        text = words(f"{request.target if lies(number) else request.path} text", 40)
        title = words(f"{request.path} title", 3)
        head = f"<title>{title}</title><link rel=canonical href={request.path}>"
        return page(f"{head}<h1>{title}</h1><p>{text}<p>{number}{moves(next(visits))}")

    return respond


@pytest.mark.parametrize("moves", MOVES)
@deferred_f_from_coro_f
async def test_moving_pages_are_believed_once_looking_different_says_nothing(crawl, moves):
    """Pages that change at each visit are believed once differences were seen to mean nothing."""
    result = await crawl(moving_site(MOVES[moves]), SETTINGS)
    urls = {f"/item{n}" for n in PAGES}
    assert {url.partition("?")[0] for url in result.pages} >= urls
    assert len(urls & set(result.hits)) < len(PAGES) / 2


@pytest.mark.parametrize("moves", MOVES)
@deferred_f_from_coro_f
async def test_moving_pages_that_begin_to_lie_lose_nothing(crawl, moves):
    """If such pages begin to lie, no page is lost.

    One of twenty declared URLs is fetched and compared all the same; what these probes miss is
    found at the end of the crawl.
    """
    first = len(PAGES) // 2
    result = await crawl(moving_site(MOVES[moves], lambda n: n >= first), SETTINGS)
    assert {f"/item{n}" for n in PAGES[first:]} <= set(result.pages)
