"""How surely a partial crawl shows that the pages of a class have another URL."""

from random import Random

import pytest

from scrapy_urlcanon.learn.classes.coverage import Alone, Share, largest


def alone(pages, others, seed, share=0.5):
    """Return a class of pages with *others* other URLs each, a share of which was seen."""
    draw = Random(seed)
    counts = [sum(draw.random() < share for _ in range(others(draw))) for _ in range(pages)]
    return Alone(counts, Share(round(1000 * share), 1000))


def is_believed(found):
    return found.are_few(0.01)


@pytest.mark.parametrize("others", [lambda _: 1, lambda draw: draw.choice((1, 1, 2, 4))])
def test_class_is_believed_all_pages_of_which_have_another_url(others):
    """A class of 400 pages that all have another URL is recognised from half of the URLs."""
    for share in (0.5, 0.8):
        believed = sum(is_believed(alone(400, others, seed, share)) for seed in range(10))
        assert believed >= 9


@pytest.mark.parametrize("share", [0.8, 0.85])
def test_class_is_hardly_ever_believed_many_pages_of_which_have_no_other_url(share):
    """A class in which a sixth of the pages has no other URL is hardly ever believed."""
    for pages, most in ((60, 0), (120, 1), (250, 3), (1000, 0)):
        found = (alone(pages, lambda draw: draw.random() < share, seed) for seed in range(30))
        assert sum(map(is_believed, found)) <= most


def test_few_pages_tell_nothing():
    """Thirty pages with one other URL each are too few."""
    assert not any(is_believed(alone(30, lambda _: 1, seed)) for seed in range(20))


def test_few_pages_next_to_all_of_which_were_seen_elsewhere_tell_enough():
    """Sixty pages with five other URLs each are enough, unless a fifth has none."""
    assert all(is_believed(alone(60, lambda _: 5, seed)) for seed in range(5))
    others = lambda draw: 5 * (draw.random() < 0.8)  # noqa: E731
    assert not any(is_believed(alone(60, others, seed)) for seed in range(5))


def test_crawl_that_has_seen_little_tells_nothing():
    """A crawl that has seen a small share of the URLs shows nothing."""
    assert largest([Share(80, 400), Share(9, 10)]) is None
