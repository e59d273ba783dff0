"""Whether a parameter is one of a single path, by how many URLs have others."""

import pytest

from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.trials.values import is_of_one_path

SEEN = [locate(f"http://a.example/list?page={number}") for number in range(2_000)]


@pytest.mark.parametrize(("count", "expected"), [(100, True), (1, False)])
def test_parameter_is_one_of_the_path_where_many_others_lack_it(count, expected):
    """Of a hundred at one script some of 2,000 elsewhere should have it; of one none has to."""
    having = [locate(f"http://a.example/show?sid={number}") for number in range(count)]
    silent = [locate(f"http://a.example/show?id={number}") for number in range(100)]
    others = SEEN if expected else SEEN[:50]
    assert is_of_one_path(["show"], having, [*having, *silent, *others], 0.05) is expected


def test_path_that_nobody_saw_says_nothing():
    """A rule that was accepted before made it: there is nothing to hold other paths against."""
    having = [locate(f"http://a.example/show?sid={number}") for number in range(100)]
    assert not is_of_one_path(["show"], having, SEEN, 0.05)
