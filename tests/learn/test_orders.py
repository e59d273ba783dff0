"""Whether the order of the parameters selects a page."""

import pytest
from observed import HOST, pages, rules, see

from scrapy_urlcanon.canonicalizer import Canonicalizer


def test_order_of_the_parameters_is_kept_where_it_matters():
    """If another order of the parameters shows other pages, the rule is not to sort them."""
    one, other = "/list?sort={0}&page=2", "/list?page=2&sort={0}"
    differ = [*pages(one), *(see(other.format(i), f"other {i}") for i in range(12))]
    assert rules(differ)["shop.example"] == {"sort_query": False}
    assert Canonicalizer(rules(differ)).canonicalize(HOST + "/?b=1&a=2").endswith("/?b=1&a=2")
    assert rules([*pages(one), *pages(other)]) == {}
    assert rules(differ) == rules(differ[::-1])


@pytest.mark.parametrize(
    ("steady", "moved", "is_kept"), [(0, 0, True), (9, 0, True), (6, 3, True), (0, 9, False)]
)
def test_order_of_the_parameters_is_sorted_where_second_visits_differ_as_often(
    steady, moved, is_kept
):
    """Pages that change at each visit do not prevent sorting: they differ in the same order too."""
    one, other = "/list?sort={0}&page=2", "/list?page=2&sort={0}"
    told = [True] * steady + [False] * moved + [None] * (12 - steady - moved)
    visited = [seen._replace(is_steady=known) for seen, known in zip(pages(one), told, strict=True)]
    seen = [*visited, *(see(other.format(i), f"other {i}") for i in range(12))]
    # They tell nothing of another host, nor do those of other kinds of pages.
    seen += [see(f"/item/{i}", f"{i}")._replace(is_steady=False) for i in range(30)]
    seen += [
        one._replace(
            url=one.url.replace("//", "//b."), main_sha1=one.main_sha1[::-1], is_steady=None
        )
        for one in seen[:24]
    ]
    found = rules(seen)
    assert ("shop.example" in found) is is_kept
    assert Canonicalizer(found).canonicalize("http://b.shop.example/?b=1&a=2").endswith("?b=1&a=2")
    assert found == rules(seen[::-1])


def test_parameters_between_semicolons_are_sorted_if_both_orders_show_one_page():
    """If ``;`` separates parameters, two orders of them are one page, and the rule says so."""
    one, other = "/?year={0};by=hats", "/?by=hats;year={0}"
    assert rules([*pages(one, 40), *pages(other, 6)]) == {"shop.example": {"query_separator": ";"}}
    mixed = pages("/?by=hats&year={0}", 6)
    assert rules([*pages(one, 40), *mixed]) == {"shop.example": {"query_separator": ";"}}
    differ = [see(other.format(i), f"other {i}") for i in range(6)]
    assert rules([*pages(one, 40), *differ]) == {}
