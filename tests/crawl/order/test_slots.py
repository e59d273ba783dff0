"""The order is fair between download slots, however many there are."""

from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.squeues import FifoMemoryQueue
from scrapy.utils.test import get_crawler

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order.queue import NoveltyPriorityQueue

SETTINGS = {
    "ADDONS": {"scrapy_urlcanon.Addon": 500},
    "URLCANON_ORDER": "novelty",
    "URLCANON_ORDER_LINES": 10,
}
NAMES = "abc"


class Slots(dict):
    """The active downloads of each slot; counts how often one is looked up."""

    looked_at = 0

    def __getitem__(self, name):
        self.looked_at += 1
        return SimpleNamespace(active=range(super().__getitem__(name)))


@cache
def ordered_crawler():
    """Return one crawler for all queues, since what its order learns does not affect slots."""
    return get_crawler(settings_dict=SETTINGS)


def queue_of(active):
    """Return a queue whose downloader has the *active* downloads of each slot."""
    crawler = ordered_crawler()
    crawler.engine = SimpleNamespace(
        downloader=SimpleNamespace(
            slots=active, get_slot_key=lambda request: request.url.split("/")[2]
        )
    )
    return NoveltyPriorityQueue(crawler, FifoMemoryQueue, "")


def slot_of(request):
    """Return the slot of *request*."""
    return request.url.split("/")[2]


PUSH, BEGIN, END = st.just("push"), st.just("begin"), st.just("end")
STEPS = st.lists(st.tuples(PUSH | BEGIN | END, st.sampled_from(NAMES)) | st.just(("pop", "")))


@given(STEPS)
def test_slots_with_the_fewest_active_downloads_come_in_turn(steps):
    """The slot with the fewest active downloads comes next, of equal ones in alphabetical turn.

    As in Scrapy 2.19.
    """
    active = Slots()
    queue, waiting, last = queue_of(active), dict.fromkeys(NAMES, 0), ""
    for number, (step, name) in enumerate(steps):
        if step == "push":
            queue.push(Request(f"http://{name}/{number}"))
            waiting[name] += 1
        elif step == "begin":
            active[name] = active.get(name, 0) + 1
        elif step == "end":
            active[name] = max(0, active.get(name, 0) - 1)
        elif any(waiting.values()):
            last = min(
                (name for name in NAMES if waiting[name]),
                key=lambda name: (active.get(name, 0), name <= last, name),
            )
            waiting[last] -= 1
            assert slot_of(queue.peek()) == last
            assert slot_of(queue.pop()) == last
        assert len(queue) == sum(waiting.values())
    assert [queue.pop() is None for _ in range(len(queue) + 1)].count(True) == 1


def test_many_slots_are_not_all_looked_at():
    """Of 1,000 slots few are looked up for each request."""
    active = Slots({f"{number:04}": 1 for number in range(0, 1_000, 100)})
    queue = queue_of(active)
    for number in range(3_000):
        queue.push(Request(f"http://{number % 1_000:04}/{number}"))
    found = [slot_of(queue.pop()) for _ in range(990)]
    assert found == [f"{number:04}" for number in range(1_000) if number % 100]
    assert active.looked_at <= 20


def test_few_requests_are_under_way_while_an_end_is_proved(monkeypatch):
    """While the end of a site is proved, no more than two of its requests are under way."""
    active = Slots(a=1, b=9)
    queue = queue_of(active)
    for number in range(4):
        queue.push(Request(f"http://{'aaab'[number]}/{number}"))
    crawler = ordered_crawler()
    under_way = [Request("http://a/"), *[Request("http://b/")] * 3]
    crawler.engine._slot = SimpleNamespace(inprogress=under_way)
    monkeypatch.setattr(Crawl.of(crawler).ordered, "draws", lambda slot, _: {"a": 86, "b": 0}[slot])
    found = [slot_of(queue.pop())]
    under_way.append(Request("http://a/"))
    found += [slot_of(queue.pop())]
    assert found == ["a", "b"]
    assert queue.pop() is queue.peek() is None
    assert len(queue) == 2
    under_way.pop()
    assert slot_of(queue.peek()) == slot_of(queue.pop()) == "a"
    under_way.append(Request("http://a/"))
    active["a"] = 0
    assert queue.pop() is None
    # The callbacks of those under way may wait for this one.
    monkeypatch.setattr("scrapy_urlcanon.crawl.order.queue._PATIENCE", 0.0)
    assert slot_of(queue.peek()) == slot_of(queue.pop()) == "a"


@pytest.mark.parametrize("count", [0, 1])
def test_closed_queue_has_no_slots(count):
    """A closed queue is empty."""
    queue = queue_of(Slots())
    for number in range(count):
        queue.push(Request(f"http://a/{number}"))
    queue.close()
    assert queue.pop() is None
    assert queue.peek() is None
