"""What the order remembers does not grow with the crawl."""

import tracemalloc

import pytest

from scrapy_urlcanon.crawl.order import lane as lanes
from scrapy_urlcanon.crawl.order.lane import Lane, Room
from scrapy_urlcanon.novelty.features import Features


def lane(room=None):
    """Return a lane where the features say what is expected."""
    return Lane(lambda features: (1 / (1 + max(features)), 0.0), room or Room())


def features(number):
    """Return the features of a class of its own."""
    return Features((1, 2), (*range(40), 100 + number))


def test_many_requests_of_few_classes_take_no_memory_but_their_numbers():
    """100,000 come and go; the heaps hold about as many entries as there are classes."""
    waiting = lane()
    for number in range(400):
        waiting.push(number, features(number % 4))
    tracemalloc.start()
    for number in range(400, 100_000):
        waiting.push(number, features(number % 4))
        waiting.take(oldest=number % 32 == 0)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(waiting) == 400
    assert used < 50_000


def test_classes_of_all_sites_are_bounded(monkeypatch):
    """Past the bound the shape of a URL tells what there is to tell; all come out again."""
    monkeypatch.setattr(lanes, "_MAX_CLASSES_IN_ALL", 50)
    room = Room()
    sites = [lane(room) for _ in range(10)]
    for number in range(1_000):
        sites[number % 10].push(number, features(number))
    assert room.taken <= 50 + 10
    taken = [site.take(oldest=False)[0] for site in sites for _ in range(100)]
    assert sorted(taken) == [*range(1_000)]
    assert room.taken == 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_state_of_a_lane_comes_back(count):
    """Classes of one request and of several, in the order in which they had waited."""
    before, after = lane(), lane()
    for number in range(10 * count):
        before.push(number, features(number % 10))
    assert after.restore(before.state())
    assert [after.take(oldest=True)[0] for _ in range(len(after))] == [*range(10 * count)]
