from random import Random
from statistics import mean

from scrapy_urlcanon.novelty import progress
from scrapy_urlcanon.novelty.progress import Ending


def test_sites_of_an_ending_are_bounded(monkeypatch):
    """The one that was fetched from longest ago is forgotten, and begins anew."""
    monkeypatch.setattr(progress, "_MAX_SITES", 10)
    ending = Ending(0.01)
    for _ in range(ending.fetches_needed[0]):
        ending.note("busy", has_news=False)
    for number in range(9):
        ending.note(f"host{number}", has_news=False)
    assert ending.is_done("busy")
    ending.note("busy", has_news=False)
    for number in range(9, 15):
        ending.note(f"host{number}", has_news=False)
    assert ending.is_done("busy")
    for number in range(15, 30):
        ending.note(f"host{number}", has_news=False)
    assert not ending.is_done("busy")
    assert len(ending.sites) == 10


def test_news_at_twice_the_share_keeps_a_site_going_for_long():
    """It is asked after each fetch, so that it is wrong some day: for 0.1 after some 3,500."""
    random = Random(1)
    counts = []
    for _ in range(25):
        ending = Ending(0.1)
        fetches = 0
        while not ending.is_done("a.example"):
            fetches += 1
            ending.note("a.example", has_news=random.random() < 0.2)
        counts.append(fetches)
    assert 2_000 < mean(counts) < 6_000
