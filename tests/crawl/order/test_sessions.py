"""A site that writes a new session into the links of each page."""

import re
from itertools import count
from random import Random

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE
from trap_sites import words

from scrapy_urlcanon.crawl.stats import NO_NEWS

ARTICLES, OF_A_LIST = 120, 12
LAST = ARTICLES // OF_A_LIST
NAMES = [
    f"{words(f'article {number}', 2).replace(' ', '-')}-{number}" for number in range(ARTICLES)
]
SESSIONS = {
    "folder": ("/(S({session}))/{path}", r"^/\(S\(\w+\)\)"),
    "segment": ("/s{session}/{path}", r"^/s\w+(?=/)"),
    "jsessionid": ("/{path};jsessionid={session}", r";jsessionid=\w+"),
    "parameter": ("/{path}?sid={session}", r"\?sid=\w+"),
}


@pytest.fixture(params=SESSIONS.values(), ids=SESSIONS)
def site(request):
    """Return the server of a site whose links have a session, and a function that removes it."""
    form, session_of = request.param
    visits = count()

    def respond(asked):
        random = Random(next(visits))
        session = "".join(random.choices("0123456789abcdef", k=16))

        def link(path):
            return f"<li><a href='{form.format(path=path, session=session)}'>{path}</a>"

        path = re.sub(session_of, "", asked.target).strip("/")
        menu = link("list-1") + link("about")
        if path.startswith("list-"):
            number = int(path.removeprefix("list-"))
            first = OF_A_LIST * (number - 1)
            links = "".join(map(link, NAMES[first : first + OF_A_LIST]))
            return page(menu + links + (link(f"list-{number + 1}") if number < LAST else ""))
        related = ""
        if path in NAMES:
            number = NAMES.index(path)
            related = "".join(link(NAMES[(number + step) % ARTICLES]) for step in (1, 37))
        return page(f"{menu}<p>{words(path, 60)}</p>{related}")

    return respond, lambda hit: re.sub(session_of, "", hit).strip("/")


@deferred_f_from_coro_f
async def test_pages_come_before_further_visits_to_them_and_then_the_crawl_ends(crawl, site):
    """All pages are fetched early, though each links a dozen new URLs of known ones.

    The crawl ends, and not before the pages behind the last list were fetched.
    """
    respond, page_of = site
    settings = {
        "URLCANON_ORDER": "novelty",
        "URLCANON_STOP": 0.05,
        **ONE_BY_ONE,
        "CLOSESPIDER_PAGECOUNT": 600,
    }
    result = await crawl(respond, settings)
    assert {*NAMES} <= {*map(page_of, result.hits[: 2 * ARTICLES])}
    assert result.stats["finish_reason"] == NO_NEWS
