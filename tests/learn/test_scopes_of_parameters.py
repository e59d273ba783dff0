"""For which part of a site a parameter is dropped."""

import pytest
from observed import rules, see

from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.trials.values import is_of_one_path


def section(name, query=""):
    """Return a dozen pages of a section, each with a query of its own if one is given."""
    paths = [f"/{name}/{number}" for number in range(12)]
    return [see(path + query.format(n * 7), path) for n, path in enumerate(paths)]


SEEN = [locate(f"http://a.example/list?page={number}") for number in range(2_000)]

VISITORS_LINKS = section("p", "?id={}")


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


def test_id_of_one_section_is_dropped_there_only():
    """What visitors append to links of posts says nothing about scripts that nobody linked yet."""
    seen = [*section("p"), *section("q"), *VISITORS_LINKS]
    assert rules(seen) == {"shop.example/p/": {"drop_params": ["id"]}}


@pytest.mark.parametrize("count", [1, 12])
def test_id_that_another_section_bears_out_is_dropped_everywhere(count):
    """What is dropped in two sections, be it from one page of the second, is the site's."""
    elsewhere = section("q", "?id={}")[:count]
    seen = [*section("p"), *section("q"), *section("r"), *VISITORS_LINKS, *elsewhere]
    assert rules(seen) == {"shop.example": {"drop_params": ["id"]}}


def test_section_that_is_all_of_a_site_is_no_scope():
    """If every URL is in one section, nothing is known that would differ elsewhere."""
    assert rules([*section("p"), *VISITORS_LINKS]) == {"shop.example": {"drop_params": ["id"]}}


def test_what_names_no_thing_is_dropped_everywhere():
    """Where a visitor comes from makes no difference on pages that were not seen with it either."""
    links = section("p", "?ref={}")
    seen = [*section("p"), *section("q"), *links]
    assert rules(seen) == {"shop.example": {"drop_params": ["ref"]}}
