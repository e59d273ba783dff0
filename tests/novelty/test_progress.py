from random import Random

import pytest

from scrapy_urlcanon.novelty import progress
from scrapy_urlcanon.novelty.progress import CONFIDENCE, Ending

SITE = "a.example"


def note_needed(ending, site, priority=0):
    """Note as many fetches without news as it takes until requests are drawn at random."""
    for _ in range(ending.fetches_needed[0]):
        ending.note(site, priority, has_news=False)


def draw_enough(ending, site, priority=0):
    """Note draws without news until nothing is left that is worth it."""
    while ending.draws(site, priority):
        ending.note(site, priority, has_news=False, is_drawn=True)
    assert ending.is_done(site, priority)


def test_sites_of_an_ending_are_bounded(monkeypatch):
    """The one that was fetched from longest ago is forgotten, and begins anew."""
    monkeypatch.setattr(progress, "_MAX_SITES", 10)
    ending = Ending(0.01)
    note_needed(ending, "busy")
    for number in range(9):
        ending.note(f"host{number}", 0, has_news=False)
    assert ending.draws("busy", 0)
    ending.note("busy", 0, has_news=False)
    for number in range(9, 15):
        ending.note(f"host{number}", 0, has_news=False)
    assert ending.draws("busy", 0)
    for number in range(15, 30):
        ending.note(f"host{number}", 0, has_news=False)
    assert not ending.draws("busy", 0)
    assert len(ending.sites) == 10


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_site_that_has_as_much_news_as_promised_ends_in_few_crawls(share):
    """However long it looks: here 30 times as many fetches as one look takes."""
    random = Random(1)
    crawls, done = 200, 0
    for _ in range(crawls):
        ending = Ending(share)
        for _ in range(30 * ending.fetches_needed[0]):
            if ending.is_done(SITE, 0):
                done += 1
                break
            # What most is expected of has no more news than what is drawn: it was mistaken.
            has_news, is_drawn = random.random() < share, ending.draws(SITE, 0)
            ending.note(SITE, 0, has_news=has_news, is_drawn=is_drawn)
    assert done <= crawls * (1 - CONFIDENCE)


def test_news_that_nobody_expected_keeps_a_site_going():
    """What was thought to be best brings nothing, and each fifth of all that waits has news."""
    random = Random(1)
    ending = Ending(0.1)
    for _ in range(5_000):
        is_drawn = ending.draws(SITE, 0)
        has_news = is_drawn and random.random() < 0.2
        ending.note(SITE, 0, has_news=has_news, is_drawn=is_drawn)
        assert not ending.is_done(SITE, 0)


def test_two_draws_with_news_are_no_reason_to_begin_again():
    """But more of them are drawn; with a third one all of it begins again."""
    ending = Ending(0.1)
    note_needed(ending, SITE)
    for _ in range(2):
        ending.note(SITE, 0, has_news=True, is_drawn=True)
    assert ending.draws(SITE, 0)
    ending.note(SITE, 0, has_news=True, is_drawn=True)
    assert not ending.draws(SITE, 0)
    assert not ending.is_done(SITE, 0)
    note_needed(ending, SITE)
    draw_enough(ending, SITE)


def test_three_of_many_draws_with_news_are_few_enough():
    """No more than the share that is asked for: what was known before stays evidence."""
    ending = Ending(0.1)
    note_needed(ending, SITE)
    for has_news in [False] * 30 + [True] * 3:
        ending.note(SITE, 0, has_news=has_news, is_drawn=True)
    assert ending.draws(SITE, 0)


def test_each_attempt_takes_more_draws():
    """Else one that is made often enough would hold some day."""
    ending = Ending(0.1)
    taken = []
    for _ in range(4):
        note_needed(ending, SITE)
        draws = 0
        while ending.draws(SITE, 0):
            ending.note(SITE, 0, has_news=False, is_drawn=True)
            draws += 1
        taken.append(draws)
        for _ in ending.fetches_needed:
            ending.note(SITE, 0, has_news=True)
    assert taken == sorted({*taken})


def test_news_of_what_was_not_drawn_has_the_draws_begin_again():
    """It was no draw, and says all the same that the site has some; one without says nothing."""
    ending = Ending(0.1)
    for _ in range(ending.fetches_needed[1]):
        ending.note(SITE, 0, has_news=False)
    draw_enough(ending, SITE)
    ending.note(SITE, 0, has_news=False)
    assert ending.is_done(SITE, 0)
    ending.note(SITE, 0, has_news=True)
    assert ending.draws(SITE, 0)
    assert not ending.is_done(SITE, 0)


def test_priorities_end_each_for_itself_and_begin_again_together():
    """What was fetched of one says nothing of another; news says that the site has some."""
    ending = Ending(0.1)
    for priority in (10, 0):
        assert not ending.draws(SITE, priority)
        note_needed(ending, SITE, priority)
        assert not ending.is_done(SITE, priority)
        draw_enough(ending, SITE, priority)
    for _ in ending.fetches_needed:
        ending.note(SITE, 0, has_news=True)
    for priority in (10, 0):
        assert not ending.draws(SITE, priority)
        assert not ending.is_done(SITE, priority)


def test_priorities_of_one_fetch_each_speak_for_the_next_one():
    """As of a spider that gives each page its number; of those with news few are kept in mind."""
    ending = Ending(0.1)
    for number in range(1_000):
        ending.note(SITE, number, has_news=True)
    evidence, _ = ending.sites[SITE]
    assert len(evidence.of_priority) < 5
    number = 1_000
    while not ending.is_done(SITE, number):
        is_drawn = ending.draws(SITE, number)
        ending.note(SITE, number, has_news=False, is_drawn=is_drawn)
        number += 1
    assert number > 1_000 + ending.fetches_needed[0]
    assert ending.is_done(SITE, 5_000)
