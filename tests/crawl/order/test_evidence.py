"""What a site says of its links and pages is evidence for the order, and so is a link's place.

The URLs of a test have one shape, or their pages bring as much, so that only the evidence tells
them apart.
"""

import gzip
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from loopback import Response, page
from scrapy.spiders import SitemapSpider
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE
from trap_sites import words

NOVELTY = {"URLCANON_ORDER": "novelty", **ONE_BY_ONE}
COUNT = 60
FIRST = COUNT + COUNT // 3
"""Of so many fetches after the start nearly all that bring something should be among."""


def text(target):
    """Return a page with news if its number is even, else one without."""
    number = int(target.rpartition("/")[2])
    return page(words(target, 40) if number % 2 == 0 else "<p>Nothing of this is new")


def new_ones(hits):
    """Return how many pages with news are among the first fetches of *hits*."""
    found = [hit for hit in hits if hit.startswith("/page/")]
    assert len(found) == 2 * COUNT
    return sum(int(hit.rpartition("/")[2]) % 2 == 0 for hit in found[:FIRST])


def in_a_page(link):
    """Return a page with what *link* makes of each number."""
    return "".join(map(link, range(2 * COUNT)))


LINKS = {
    "nofollow": lambda n: f"<p><a href=/page/{n} {'rel=nofollow' if n % 2 else ''}>x</a></p>",
    "place": lambda n: (
        f"<ul><li><a href=/page/{n}>x</a></ul>" if n % 2 else f"<p>See <a href=/page/{n}>x</a></p>"
    ),
}


@pytest.mark.parametrize("kind", LINKS)
@deferred_f_from_coro_f
async def test_links_that_led_to_nothing_new_come_last(crawl, kind):
    """Links with nofollow, or in lists, come last if such links led to nothing new."""

    def respond(request):
        return page(in_a_page(LINKS[kind])) if request.target == "/" else text(request.target)

    assert new_ones((await crawl(respond, NOVELTY)).hits) >= 0.9 * COUNT


@pytest.mark.parametrize(
    "head", ["<meta name=robots content=noindex>", "<link rel=canonical href=/other>"]
)
@deferred_f_from_coro_f
async def test_pages_that_give_themselves_up_come_last(crawl, head):
    """Pages with noindex, or that declare another URL, come last though their text is new."""

    def respond(request):
        kind = request.target.split("/")[1]
        if not kind:
            return page(
                "".join(f"<p><a href=/{k}/{n}>x</a>" for n in range(COUNT) for k in ("odd", "even"))
            )
        said = head if kind == "odd" else ""
        return page(f"<html><head>{said}</head><p>{words(request.target, 40)}")

    hits = (await crawl(respond, NOVELTY)).hits
    assert len(hits) == 2 * COUNT + 1
    assert sum("even" in hit for hit in hits[:FIRST]) >= 0.8 * COUNT


@deferred_f_from_coro_f
async def test_views_of_the_page_that_links_them_come_last(crawl):
    """Links from a page to views of itself come last, though all URLs have one shape."""

    def respond(request):
        number, _, view = request.target.removeprefix("/page/").partition("?view=")
        if request.target == "/":
            return page("<p><a href=/page/1?view=9>x</a>")
        below = [n for n in (2 * int(number), 2 * int(number) + 1) if n <= COUNT]
        links = [f"{n}?view=9" for n in below] + [f"{number}?view={n}" for n in (1, 2, 3)]
        said = words(number, 40) if view == "9" else "<p>Nothing of this is new"
        return page(said + "".join(f"<p><a href=/page/{link}>x</a>" for link in sorted(links)))

    hits = (await crawl(respond, NOVELTY)).hits
    assert len(hits) == 1 + 4 * COUNT
    assert sum(hit.endswith("?view=9") for hit in hits[:FIRST]) >= 0.9 * COUNT


class BothSpider(SitemapSpider):
    """Reads a sitemap and follows links."""

    name = "both"

    def __init__(self, start, **kwargs):
        self.sitemap_urls = start
        super().__init__(**kwargs)

    def parse(self, response):
        yield from response.follow_all(css="a")


@pytest.mark.parametrize("packed", [False, True])
@deferred_f_from_coro_f
async def test_what_a_sitemap_lists_is_distinguished_from_what_is_linked(crawl, packed):
    """URLs of a sitemap come first if these bring news and linked ones of their shape do not."""
    urls = "".join(f"<url><loc>{SITE}/page/{n}</loc></url>" for n in range(0, 2 * COUNT, 2))
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'

    def respond(request):
        if "sitemap" in request.target:
            body = sitemap.encode()
            kind = "application/gzip" if packed else "application/xml"
            return Response(200, (("Content-Type", kind),), gzip.compress(body) if packed else body)
        number = int(request.target.rpartition("/")[2])
        links = "".join(
            f"<p><a href=/page/{n}>x</a>" for n in range(number + 1, 2 * COUNT, 2) if number < 20
        )
        answer = text(request.target)
        return page(answer.body.decode() + links)

    start = f"{SITE}/sitemap.xml{'.gz' if packed else ''}"
    result = await crawl(respond, NOVELTY, spider=BothSpider, start=[start])
    assert new_ones(result.hits) >= 0.9 * COUNT


TURN, PAGES_OF_A_HUB = 200, 5


@deferred_f_from_coro_f
async def test_old_evidence_decays(crawl):
    """A kind of page that brought much, and then no more, comes last soon after."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        number = int(number or 0)
        if kind in {"early", "late"}:
            is_new = kind == "late" or number < TURN
            return page(words(request.target, 40) if is_new else "<p>Nothing of this is new")
        first = number * PAGES_OF_A_HUB
        kinds = ("early",) if first < TURN else ("early", "late")
        links = "".join(
            f"<p><a href=/{kind}/{n}>x</a>"
            for n in range(first, min(first + PAGES_OF_A_HUB, 2 * TURN))
            for kind in kinds
        )
        more = f"<p><a href=/hub/{number + 1}>on</a>" if first < 2 * TURN else ""
        return page(f"{links}{more}{words(number, 5)}")

    hits = (await crawl(respond, NOVELTY)).hits
    found = [hit for hit in hits if not hit.startswith("/hub/")][1:]
    assert len(found) == 3 * TURN
    empty = [hit.startswith("/early/") and int(hit[7:]) >= TURN for hit in found]
    assert sum(empty[: 2 * TURN + 50]) <= 50 + TURN // 10


LISTED, LISTS = 10, 60


@pytest.mark.parametrize("seed", [1, 2])
@deferred_f_from_coro_f
async def test_lists_of_what_waits_in_plenty_come_after_it(crawl, seed):
    """Lists of articles come after the articles when many of these wait."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        if kind == "article":
            return page(words(f"{seed} {number}", 60))
        number = int(number or 0)
        lines = "".join(
            f"<li><a href=/article/{n}>x</a> {words(f'lead {seed} {n}', 3)}"
            for n in range(LISTED * number, LISTED * (number + 1))
        )
        further = [n for n in (2 * number + 1, 2 * number + 2) if n < LISTS]
        return page(lines + "".join(f"<p><a href=/list/{n}>x</a>" for n in further))

    hits = (await crawl(respond, {**NOVELTY, "CLOSESPIDER_PAGECOUNT": 200})).hits
    assert sum("article" in hit for hit in hits[:200]) >= 160


@pytest.mark.parametrize("seed", [1, 2])
@deferred_f_from_coro_f
async def test_kind_that_brings_little_is_not_tried_for_ever(crawl, seed):
    """Forms with a few words of their own are tried rarely while articles wait."""

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        if kind == "form":
            return page(words(f"form {seed} {number}", 6))
        number = int(number or 0)
        links = "".join(
            f"<p><a href=/article/{n}>x</a>" for n in range(3 * number + 1, 3 * number + 4)
        )
        return page(words(f"{seed} {number}", 60) + links + f"<p><a href=/form/{number}>x</a>")

    hits = (await crawl(respond, {**NOVELTY, "CLOSESPIDER_PAGECOUNT": 400})).hits
    assert sum("form" in hit for hit in hits[100:400]) <= 70


@deferred_f_from_coro_f
async def test_second_way_to_a_record_comes_after_other_records(crawl):
    """A second URL of a record, with another way back, comes after other records."""

    def respond(request):
        url = urlsplit(request.target)
        asked = {name: int(value) for name, value in parse_qsl(url.query) if value.isdecimal()}
        if url.path == "/show":
            return page(words(str(asked["id"]), 40))
        size, order = asked.get("size", 10), asked.get("sort", 0)
        begin = asked.get("page", 0) * size
        shown = [(7**order * n) % COUNT for n in range(begin, begin + size) if n < COUNT]
        others = [f"page={n}&size={size}&sort={order}" for n in range(-(-COUNT // size))]
        others += [f"size={n}&sort={order}" for n in (10, 20, 50)]
        others += [f"size={size}&sort={n}" for n in range(4)]
        links = [f"/?{each}" for each in others]
        links += [f"/show?id={n}&back={quote(request.target)}" for n in shown]
        return page("".join(f"<p><a href='{link}'>x</a>" for link in links))

    hits = (await crawl(respond, {**NOVELTY, "CLOSESPIDER_PAGECOUNT": FIRST})).hits
    records = {hit.partition("&")[0] for hit in hits[:FIRST] if hit.startswith("/show")}
    assert len(records) >= 0.9 * COUNT


@deferred_f_from_coro_f
async def test_what_waits_longest_is_tried_more_where_the_best_bring_next_to_nothing(crawl):
    """If the best kinds bring next to nothing, the requests that wait longest are tried more.

    Five endless trees have a few words on each page. The old links begin with empty pages, so that
    less is expected of them, and end with long ones.
    """
    kinds, empty, linked = 5, 20, 80
    menu = f"<p>{words('menu', 20)}</p>"

    def respond(request):
        kind, _, number = request.target[1:].partition("/")
        number = int(number or 0)
        if not kind:
            paths = (
                *(f"/article/{n}" for n in range(30)),
                *(f"/old/{n}" for n in range(linked)),
                *(f"/tree{n}/0" for n in range(kinds)),
            )
            return page(menu + "".join(f"<p><a href={path}>x</a>" for path in paths))
        if kind == "article" or (kind == "old" and number >= empty):
            return page(menu + words(request.target, 80))
        if kind == "old":
            return page(menu)
        further = "".join(f"<p><a href=/{kind}/{n}>x</a>" for n in (2 * number + 1, 2 * number + 2))
        return page(menu + words(request.target, 3) + further)

    hits = (await crawl(respond, {**NOVELTY, "CLOSESPIDER_PAGECOUNT": 300})).hits[:300]
    found = [hit for hit in hits if hit.startswith("/old/") and int(hit[5:]) >= empty]
    assert len(found) >= (linked - empty) * 0.9
