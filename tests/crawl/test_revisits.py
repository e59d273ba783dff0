"""While a crawl is recorded a few pages are fetched twice, to tell noise from content."""

import random
import re
from collections import Counter
from itertools import count

import pytest
from loopback import Response, page, redirect
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import links

from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.store import read_store
from scrapy_urlcanon.pages.page import Page

STORE = "observations.sqlite"
ON = {"URLCANON_RECORD": STORE}
SECTORS, OF_EACH = 25, 4
TARGETS = [
    f"/quote?sector={sector}&id={number}&sid={sector * 7 + number}{variant}"
    for sector in range(SECTORS)
    for number in range(OF_EACH)
    for variant in range(2)
]


def words(seed, number):
    draw = random.Random(seed)
    return " ".join("".join(draw.choices("abcdefghiklmnoprstu", k=6)) for _ in range(number))


def quotations(request, visit):
    """Answer with a page that only two numbers tell apart from others of its sector."""
    if request.target == "/":
        return links(*TARGETS)
    sector, number, _ = (part.partition("=")[2] for part in request.target.split("&"))
    draw = random.Random(f"{sector} {number}")
    return page(
        f"<title>Quotations</title><p>{words(sector, 100)}"
        f"<p>Bid {draw.randrange(10**6)}<p>Ask {draw.randrange(10**6)}"
        f"<p>Made in 0.{visit * 7919 % 1000:03} seconds<p>Read {visit} times"
    )


@deferred_f_from_coro_f
async def test_number_that_stays_is_content_and_one_that_moves_is_noise(crawl):
    """A number that is equal at both visits is content, and a counter is noise."""
    visits = count(1)
    result = await crawl(lambda request: quotations(request, next(visits)), ON)
    again = [target for target in result.hits if result.hits.count(target) > 1]
    assert len(result.pages) == len(TARGETS) + 1
    assert len(set(again)) == len(again) / 2 == result.figures["record/revisited"] == 10
    observations = list(read_store(STORE))
    assert len(observations) == len(TARGETS) + 1
    assert len({o.main_sha1 for o in observations if "quote" in o.url}) == SECTORS * OF_EACH
    assert learn(observations).as_rules() == {"site.example": {"drop_params": ["sid"]}}


@pytest.mark.parametrize(
    "layout",
    [
        "<p>Home<p>Advice of the day<p>{advice}<p>Archive<p>{title}<p>{text}<p>Imprint",
        "<p>Home<p>{title}<p>{text}<p>{advice}<p>Imprint",
        "<p>{advice}<p>{title}<p>{text}",
    ],
    ids=["between two lines", "before the foot", "at the top"],
)
@deferred_f_from_coro_f
async def test_text_that_is_another_one_at_each_visit_hides_no_rule(crawl, layout):
    """A text that changes at each visit hides no rule."""
    visits = count(1)
    targets = [f"/read?id={number}&sid={number * 7 + n}" for number in range(60) for n in range(2)]

    def respond(request):
        if request.target == "/":
            return links(*targets)
        number = re.search(r"id=(\d+)", request.target)[1]
        advice = words(f"advice {next(visits)}", 8)
        title, text = words(f"title {number}", 3), words(f"text {number}", 9)
        return page("<title>Site</title>" + layout.format(advice=advice, title=title, text=text))

    await crawl(respond, ON)
    assert learn(read_store(STORE)).as_rules() == {"site.example": {"drop_params": ["sid"]}}


def listing(request, draw, *, moves, by_order):
    """Answer with a listing in one of two orders, with a random line in some place."""
    query = request.target.partition("?")[2]
    if not query:
        orders = ("kind={}&page=2", "page=2&kind={}")
        return links(*("/list?" + order.format(kind) for kind in range(40) for order in orders))
    kind = query if by_order else sorted(query.split("&"))
    lines = [words(f"{kind} {line}", 5) for line in range(9)]
    if draw.random() < moves:
        lines.insert(draw.randrange(10), words(draw.random(), 5))
    return page("<title>Site</title>" + "".join(f"<p>{line}" for line in lines))


@pytest.mark.parametrize(
    ("moves", "by_order", "expected"),
    [
        (0, False, {}),
        (0.7, False, {}),
        (1, False, {}),
        (0, True, {"site.example": {"sort_query": False}}),
        (0.3, True, {"site.example": {"sort_query": False}}),
    ],
)
@deferred_f_from_coro_f
async def test_order_of_parameters_is_distinguished_from_pages_that_move(
    crawl, moves, by_order, expected
):
    """Differences by the order of parameters count only if second visits differ less often."""
    draw = random.Random(3)
    kept = {"URLCANON_RULES": {"site.example": {"sort_query": False}}}
    result = await crawl(
        lambda request: listing(request, draw, moves=moves, by_order=by_order), ON | kept
    )
    assert len(result.pages) == 81
    assert learn(read_store(STORE)).as_rules() == expected


@deferred_f_from_coro_f
async def test_feeds_that_say_when_they_were_made_hide_no_rule(crawl):
    """Pages of each content type are visited twice, so that times in feeds are known as noise.

    The lists come first: no feed is among the pages that are visited twice by their number.
    """
    clock = count(10)
    lists = [f"/list?of={number}{end}" for number in range(10) for end in ("", "&page=1")]

    def respond(request):
        if request.target == "/":
            return links(*lists)
        number = re.search(r"of=(\d+)", request.target)[1]
        lines = [words(f"{number} {line}", 5) for line in range(9)]
        if "as=rss" not in request.target:
            text = "".join(f"<p>{line}" for line in lines)
            return page(f'<title>Site</title>{text}<a href="{request.target}&as=rss"></a>')
        made = f"<pubDate>Mon, 30 Nov 2026 20:{next(clock)}:17 +0000</pubDate>"
        items = "\n".join(f"<item><title>{line}</title></item>" for line in lines)
        feed = f"<rss><channel>\n<title>Site</title>\n{made}\n{items}\n</channel></rss>"
        return Response(headers=(("Content-Type", "application/rss+xml"),), body=feed.encode())

    result = await crawl(respond, {**ON, "DEPTH_PRIORITY": 1})
    assert len(result.pages) == 41
    again = [target for target, hits in Counter(result.hits).items() if hits > 1]
    assert sum("as=rss" in target for target in again) == 1
    assert len(again) == 6 + 1
    (options,) = learn(read_store(STORE)).as_rules().values()
    assert options == {"default_params": {"page": "1"}}


@deferred_f_from_coro_f
async def test_second_visit_is_nobody_elses_business(crawl):
    """A second visit reaches no callback, errback or stat, even if it fails."""
    visits = count(1)
    seen = set()

    def respond(request):
        if request.target == "/":
            return links(*(f"/{number}" for number in range(30)))
        number = next(visits)
        if request.target in seen:
            return page("gone", status=503) if number % 2 else redirect("/elsewhere")
        seen.add(request.target)
        return page(f"page {request.target} {number}")

    settings = {**ON, "URLCANON_AUDIT": 1, "URLCANON_ORDER": "novelty", "URLCANON_SEEN": "seen"}
    result = await crawl(respond, {**settings, "JOBDIR": "job", "RETRY_TIMES": 2})
    assert max(Counter(result.hits).values()) == 2
    assert "/elsewhere" not in result.hits
    assert len(result.hits) > len(set(result.hits)) == len(result.pages) == 31
    assert result.figures["recorded"] == 31
    assert "record/revisited" not in result.figures
    assert not [name for name in result.figures if name.startswith(("rescue", "audit"))]


@deferred_f_from_coro_f
async def test_what_comes_again_byte_for_byte_is_not_read_again(crawl, monkeypatch):
    """A second visit with equal bytes is not parsed."""
    read = []

    def reading(url, *args, **kwargs):
        read.append(url)
        return Page(url, *args, **kwargs)

    monkeypatch.setattr("scrapy_urlcanon.crawl.reading.Page", reading)
    pages = {f"/{number}": page(f"page {number}") for number in range(30)}
    result = await crawl(lambda request: pages.get(request.target) or links(*pages), ON)
    assert len(read) == len(set(read)) == len(result.pages) == 31
    assert len(result.hits) - len(result.pages) == result.figures["record/revisited"] > 0


@pytest.mark.parametrize("settings", [{"URLCANON_RECORD_REVISITS": False}, {}])
@deferred_f_from_coro_f
async def test_page_is_fetched_once_where_that_is_wanted_or_it_came_from_the_cache(crawl, settings):
    """No page is visited twice if the setting is off, or it came from the HTTP cache."""
    cached = {} if settings else {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}
    pages = {f"/{number}": page(f"page {number}") for number in range(30)}
    for _ in range(2):
        result = await crawl(
            lambda request: pages.get(request.target) or links(*pages),
            {**ON, **settings, **cached, "ROBOTSTXT_OBEY": False},
        )
        if settings:
            assert len(result.hits) == 31
    assert len(set(result.hits)) == len(result.hits) == (31 if settings else 0)
