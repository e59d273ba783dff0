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
