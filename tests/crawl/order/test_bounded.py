"""The memory of the order does not grow with the crawl; its turns each take the right one."""

import tracemalloc

import pytest

from scrapy_urlcanon.crawl.order import lane as lanes
from scrapy_urlcanon.crawl.order.lane import Lane, Room, Turn
from scrapy_urlcanon.novelty.features import Features
from scrapy_urlcanon.novelty.model import OnlineModel
from scrapy_urlcanon.novelty.packing import packed, unpacked


def lane(room=None, worth=lambda last: 1 / (1 + last), doubts=lambda kinds: [1.0] * len(kinds)):
    """Return a lane where the last of the features tells what a request is worth."""

    def count_on(kinds):
        return [worth(max(unpacked(features))) for features in kinds], [0.0] * len(kinds)

    return Lane(count_on, doubts, room or Room())


def features(number):
    """Return the features of a class of its own."""
    return Features(packed([1, 2]), packed([*range(40), 100 + number]))


def test_many_requests_of_few_classes_take_no_memory_but_their_numbers():
    """The heaps of a lane stay small while thousands of requests of few classes pass through."""
    waiting = lane()
    for number in range(400):
        waiting.push(number, features(9))
    tracemalloc.start()
    for number in range(400, 8_000):
        waiting.push(number, features(number % 4))
        waiting.take(Turn.BEST if number % 32 else Turn.OLDEST)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(waiting) == 400
    assert used < 50_000


def test_classes_of_all_sites_are_bounded(monkeypatch):
    """Past the bound of classes, requests share the class of their shape, and none is lost."""
    monkeypatch.setattr(lanes, "_MAX_CLASSES_IN_ALL", 50)
    room = Room()
    sites = [lane(room) for _ in range(10)]
    for number in range(1_000):
        sites[number % 10].push(number, features(number))
    assert room.taken <= 50 + 10
    taken = [site.take(Turn.BEST)[0] for site in sites for _ in range(100)]
    assert sorted(taken) == [*range(1_000)]
    assert room.taken == 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_state_of_a_lane_comes_back(count):
    """A restored lane has its requests in the order in which they waited."""
    before, after = lane(), lane()
    for number in range(10 * count):
        before.push(number, features(number % 10))
    assert after.restore(before.state())
    assert [after.take(Turn.OLDEST)[0] for _ in range(len(after))] == [*range(10 * count)]


def test_lane_of_a_resumed_job_takes_no_more_memory():
    """A restored lane takes as little memory as the one that was stored.

    Most classes of a broad crawl have one request, and need no queue.
    """
    taken = []
    state = {features(number).all: (b"", [number]) for number in range(1_000)}
    for fill in (
        lambda made: [made.push(n, Features(b"", key)) for n, key in enumerate(state)],
        lambda made: made.restore(state),
    ):
        # The first one has what Python keeps of tuples that are gone.
        first, made = lane(), lane()
        fill(first)
        tracemalloc.start()
        fill(made)
        taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert len(first) == len(made) == 1_000
    assert taken[1] < 1.2 * taken[0]


def test_shape_that_was_fetched_least_often_comes_first_in_its_turn():
    """LEAST_TRIED takes the shape that was fetched least often, and of it the oldest request."""
    waiting = lane()
    for number in range(9):
        waiting.push(number, Features(packed([number // 3]), packed([number // 3, number])))
    taken = [waiting.take(Turn.LEAST_TRIED)[0] for _ in range(9)]
    assert taken == [0, 3, 6, 1, 4, 7, 2, 5, 8]


@pytest.mark.parametrize(("worth", "shares"), [(0.2, [4, 2, 1]), (0.4, [3, 3, 0])])
def test_shapes_have_turns_by_the_root_of_their_number_and_by_what_is_expected(worth, shares):
    """SHAPES takes shapes by the root of their number, weighted by what is expected of them."""
    shapes = [0] * 16 + [1] * 4 + [2]
    waiting = lane(worth=lambda last: worth if last == 101 else 0.2)
    for number, shape in enumerate(shapes):
        waiting.push(number, Features(packed([shape]), packed([shape, 100 + shape])))
    taken = [shapes[waiting.take(Turn.SHAPES)[0]] for _ in range(sum(shares))]
    assert [taken.count(shape) for shape in range(3)] == shares


def test_kind_that_was_found_last_comes_first_in_its_turn():
    """NEWEST takes the class that was found last, and of it the oldest request."""
    waiting = lane()
    for number in range(9):
        waiting.push(number, features(number // 3))
    waiting.push(9, features(1))
    taken = [waiting.take(Turn.NEWEST)[0] for _ in range(10)]
    assert taken == [3, 4, 5, 9, 6, 7, 8, 0, 1, 2]


def test_that_of_which_least_is_known_comes_first_in_its_turn():
    """LEAST_KNOWN takes the class of which least is known, and of it the oldest request."""
    known = OnlineModel(prior=0.5)
    waiting = lane(worth=lambda _: 0.5, doubts=known.doubts)
    kinds = [Features(packed([kind]), packed([kind, 100 + kind])) for kind in range(3)]
    for number in range(9):
        waiting.push(number, kinds[number // 3])
    taken = []
    for _ in range(9):
        number, features = waiting.take(Turn.LEAST_KNOWN)
        taken.append(number)
        known.learn(features.all, 0.5)
    assert taken == [0, 3, 6, 1, 4, 7, 2, 5, 8]


def test_what_was_learned_counts_soon_where_very_many_kinds_wait():
    """Of 1,600 classes, one that turns out to be worth much is taken within 30 requests."""
    worth = {}
    waiting = lane(worth=lambda last: worth.get(last, 0.5))
    for number in range(1_600):
        waiting.push(number, features(number))
    worth[100 + 1_500] = 0.9
    assert 1_500 in [waiting.take(Turn.BEST)[0] for _ in range(30)]


def test_of_two_that_are_about_as_good_that_which_waits_longest_comes_first():
    """BEST keeps the order of links between classes whose worth differs by a few per cent."""
    worth = {101: 0.2, 102: 0.21, 103: 0.42}
    waiting = lane(worth=worth.get)
    for number in (1, 2, 3):
        waiting.push(number, features(number))
    assert [waiting.take(Turn.BEST)[0] for _ in worth] == [3, 1, 2]
