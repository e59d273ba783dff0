"""Before URLCANON_STOP closes a crawl, requests are drawn at random from all that wait."""

from itertools import count
from random import Random

import pytest
from loopback import page
from scrapy.utils.defer import deferred_f_from_coro_f
from sites import ONE_BY_ONE, SITE
from trap_sites import words

from scrapy_urlcanon.crawl.order.lane import Lane, Room, Turn
from scrapy_urlcanon.novelty.features import UrlFeatures

SHARE = 0.05
LINKED = 400
STOPPING = {**ONE_BY_ONE, "URLCANON_ORDER": "novelty", "URLCANON_STOP": SHARE}


def waiting(count):
    """Return a lane with *count* requests of three classes."""
    lane = Lane(lambda kinds: ([0.2] * len(kinds),) * 2, lambda kinds: [0.5] * len(kinds), Room())
    features = UrlFeatures()
    for number in range(count):
        lane.push(number, features.of(f"{SITE}/{'abc'[number % 3]}/{number}"))
    return lane


def test_each_request_is_drawn_once():
    """Each request is drawn once, in a random order."""
    lane = waiting(300)
    drawn = [lane.take(Turn.DRAWN)[0] for _ in range(300)]
    assert sorted(drawn) == list(range(300))
    assert not lane
    # About half of those drawn first are of the half that waits longest: 75, give or take 6.
    assert 50 < len([number for number in drawn[:150] if number < 150]) < 100


def test_what_is_drawn_next_can_be_looked_at():
    """`peek` shows the request that `take` draws next, even if others are taken in between."""
    lane = waiting(60)
    for _ in range(20):
        assert lane.peek(Turn.DRAWN) == lane.peek(Turn.DRAWN) == lane.take(Turn.DRAWN)[0]
        lane.take(Turn.OLDEST)


def test_what_is_best_next_can_be_looked_at_while_the_crawl_learns():
    """`peek` shows the request that `take` gives next, though scores change at each look."""
    calls = count(1)

    def count_on(kinds):
        random = Random(next(calls))
        return [random.random() for _ in kinds], [0.1 for _ in kinds]

    lane = Lane(count_on, lambda kinds: [0.5] * len(kinds), Room())
    features = UrlFeatures()
    for number in range(60):
        lane.push(number, features.of(f"{SITE}/{'abc'[number % 3] * 3}/{number}"))
    for _ in range(60):
        assert lane.peek(Turn.BEST) == lane.peek(Turn.BEST) == lane.take(Turn.BEST)[0]


def test_shape_that_was_hardly_tried_is_drawn_from_too():
    """Of the shape that was tried least a request is drawn at random, not the oldest one."""
    lane = waiting(300)
    for _ in range(90):
        lane.take(Turn.OLDEST)
    shapes = []
    drawn = []
    for _ in range(60):
        assert lane.peek(Turn.DRAWN_OF_LEAST_TRIED) == lane.peek(Turn.DRAWN_OF_LEAST_TRIED)
        number, features = lane.take(Turn.DRAWN_OF_LEAST_TRIED)
        drawn.append(number)
        shapes.append(features.coarse)
    assert {shapes.count(shape) for shape in shapes} == {20}
    assert 15 < len([number for number in drawn if number < 195]) < 45


def test_what_was_not_drawn_keeps_its_place():
    """Requests that were not drawn keep their order, and none is lost."""
    lane = waiting(60)
    drawn = {lane.take(Turn.DRAWN)[0] for _ in range(30)}
    left = [lane.take(Turn.OLDEST)[0] for _ in range(30)]
    assert left == sorted({*range(60)} - drawn)


def test_shapes_that_were_hardly_tried_have_each_second_turn():
    """Every second draw is of the shape that was tried least, until all were tried often enough."""
    lane = waiting(300)
    turns = []
    for _ in range(60):
        turns.append(lane.proving(10))
        assert lane.proving(10) is turns[-1]
        lane.take(turns[-1])
    assert turns[:4] == [Turn.DRAWN, Turn.DRAWN_OF_LEAST_TRIED] * 2
    assert set(turns[40:]) == {Turn.DRAWN}
    assert 8 < turns.count(Turn.DRAWN_OF_LEAST_TRIED) < 20
    alone = Lane(lambda kinds: ([0.2] * len(kinds),) * 2, lambda kinds: [0.5] * len(kinds), Room())
    features = UrlFeatures()
    for number in range(9):
        alone.push(number, features.of(f"{SITE}/a/{number}"))
    for _ in range(8):
        alone.take(Turn.DRAWN)
        assert alone.proving(10) is Turn.DRAWN


async def fetched_of(crawl, has_news):
    """Crawl 400 pages that one page links; return the fetches, and those with news not made.

    :param has_news: tells of the number of a page whether it has news.
    """

    def respond(request):
        number = int(request.target[1:] or 0)
        if number:
            return page(words(request.target, 60) if has_news(number) else "nothing")
        return page("".join(f"<a href=/{n}>x</a>" for n in range(1, LINKED + 1)))

    hits = (await crawl(respond, STOPPING)).hits
    left = {*range(1, LINKED + 1)} - {int(hit[1:] or 0) for hit in hits}
    return hits, left, [number for number in left if has_news(number)]


@pytest.mark.parametrize("first", [100, 200])
@deferred_f_from_coro_f
async def test_news_behind_what_says_nothing_keeps_a_crawl_going(crawl, first):
    """News that nothing foretells keeps a crawl going if it is frequent among what waits."""
    _, left, missed = await fetched_of(crawl, lambda n: n > first and n % 5 == 0)
    assert len(missed) <= SHARE * len(left)


@deferred_f_from_coro_f
async def test_crawl_without_such_news_ends(crawl):
    """The same site without news is left after a fraction of its pages."""
    hits, left, _ = await fetched_of(crawl, lambda _: False)
    assert len(hits) < len(left)


@pytest.mark.parametrize(("first", "at_once"), [(20, 1), (25, 16)])
@deferred_f_from_coro_f
async def test_what_leads_on_is_followed_though_it_is_rare_among_what_waits(crawl, first, at_once):
    """The list pages that lead to news are followed, though few among very many forms."""
    last = first + 10

    def respond(request):
        _, kind, number = f"{request.target}/1".split("/")[:3]
        number = int(number)
        if kind == "topic" and number // 10 > first:
            return page(words(request.target, 60))
        if kind not in {"", "list"}:
            return page(f"nothing<a href=/report/{number}>x</a><a href=/share/{number}>x</a>")
        topics = range(10 * number, 10 * number + 10)
        following = [f"/list/{number + 1}"] if number < last else []
        links = [*following, *(f"/topic/{topic}" for topic in topics)]
        return page("".join(f"<a href={link}>x</a>" for link in links))

    limits = dict.fromkeys(("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN"), at_once)
    settings = {**STOPPING, **limits, "CLOSESPIDER_PAGECOUNT": 2_000}
    result = await crawl(respond, settings)
    assert {f"/topic/{number}" for number in range(10 * first + 10, 10 * last + 10)} <= {
        *result.hits
    }


@deferred_f_from_coro_f
async def test_list_is_followed_one_page_for_each_draw(crawl):
    """A list whose entries say nothing is followed to its 60th page, with four requests at once."""
    first, last = 60, 70

    def respond(request):
        _, kind, number = f"{request.target}/1".split("/")[:3]
        number = int(number)
        if kind == "topic":
            return page(words(request.target, 60) if number // 10 > first else "nothing")
        topics = range(10 * number, 10 * number + 10)
        following = [f"/list/{number + 1}"] if number < last else []
        links = [*following, *(f"/topic/{topic}" for topic in topics)]
        return page("".join(f"<a href={link}>x</a>" for link in links))

    limits = dict.fromkeys(("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN"), 4)
    settings = {"URLCANON_ORDER": "novelty", "URLCANON_STOP": SHARE, **limits}
    result = await crawl(respond, settings)
    assert {f"/topic/{number}" for number in range(10 * first + 10, 10 * last + 10)} <= {
        *result.hits
    }
