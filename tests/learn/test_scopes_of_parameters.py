"""Whether a parameter belongs to a single path, by how many URLs elsewhere lack it."""

import pytest

from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.trials.values import is_of_one_path

SEEN = [locate(f"http://a.example/list?page={number}") for number in range(2_000)]


@pytest.mark.parametrize(("count", "expected"), [(100, True), (1, False)])
def test_parameter_is_one_of_the_path_where_many_others_lack_it(count, expected):
    """A parameter of a hundred URLs at one path, and of none of 2,000 elsewhere, is the path's."""
    having = [locate(f"http://a.example/show?sid={number}") for number in range(count)]
    silent = [locate(f"http://a.example/show?id={number}") for number in range(100)]
    others = SEEN if expected else SEEN[:50]
    assert is_of_one_path(["show"], having, [*having, *silent, *others], 0.05) is expected


def test_path_that_nobody_saw_says_nothing():
    """A path that only an earlier rule made says nothing of other paths."""
    having = [locate(f"http://a.example/show?sid={number}") for number in range(100)]
    assert not is_of_one_path(["show"], having, SEEN, 0.05)
