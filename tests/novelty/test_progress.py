from random import Random
from statistics import mean

from scrapy_urlcanon.novelty import progress
from scrapy_urlcanon.novelty.progress import Ending


def test_sites_of_an_ending_are_bounded(monkeypatch):
    """The one that was fetched from longest ago is forgotten, and begins anew."""
    monkeypatch.setattr(progress, "_MAX_SITES", 10)
    ending = Ending(0.01)
    for _ in range(ending.fetches_needed[0]):
        ending.note("busy", 0, has_news=False)
    for number in range(9):
        ending.note(f"host{number}", 0, has_news=False)
    assert ending.is_done("busy", 0)
    ending.note("busy", 0, has_news=False)
    for number in range(9, 15):
        ending.note(f"host{number}", 0, has_news=False)
    assert ending.is_done("busy", 0)
    for number in range(15, 30):
        ending.note(f"host{number}", 0, has_news=False)
    assert not ending.is_done("busy", 0)
    assert len(ending.sites) == 10


def test_news_at_twice_the_share_keeps_a_site_going_for_long():
    """It is asked after each fetch, so that it is wrong some day: for 0.1 after some 3,500."""
    random = Random(1)
    counts = []
    for _ in range(25):
        ending = Ending(0.1)
        fetches = 0
        while not ending.is_done("a.example", 0):
            fetches += 1
            ending.note("a.example", 0, has_news=random.random() < 0.2)
        counts.append(fetches)
    assert 2_000 < mean(counts) < 6_000


def test_priorities_end_each_for_itself_and_begin_again_together():
    """What was fetched of one says nothing of another; news says that the site has some."""
    ending = Ending(0.1)
    needed = ending.fetches_needed[0]
    for priority in (10, 0):
        for _ in range(needed):
            assert not ending.is_done("a.example", priority)
            ending.note("a.example", priority, has_news=False)
        assert ending.is_done("a.example", priority)
    for _ in ending.fetches_needed:
        ending.note("a.example", 0, has_news=True)
    assert not ending.is_done("a.example", 10)
    assert not ending.is_done("a.example", 0)


def test_priorities_of_one_fetch_each_speak_for_the_next_one():
    """As of a spider that gives each page its number; of those with news few are kept in mind."""
    ending = Ending(0.1)
    for number in range(1_000):
        ending.note("a.example", number, has_news=True)
    assert len(ending.sites["a.example"].of_priority) < 5
    for number in range(1_000, 1_000 + ending.fetches_needed[0]):
        assert not ending.is_done("a.example", number)
        ending.note("a.example", number, has_news=False)
    assert ending.is_done("a.example", 5_000)
