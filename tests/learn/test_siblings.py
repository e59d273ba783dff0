"""What other words and values in the same place say of a rule about one of them."""

import pytest
from observed import rules, see

PLACES = ["bonn", "oslo", "rome", "lyon"]


def test_word_that_makes_a_difference_says_nothing_of_the_others():
    """Three places are merged, though a fourth one has jobs of its own.

    All that differs has its word, which is no chance.
    """
    jobs = [see(f"/job/{i}", f"job {i}") for i in range(120)]
    there = [see(f"/{PLACES[i % 4]}/job-{i}", f"job {i}") for i in range(120) if i % 4 < 3]
    there += [
        see(f"/lyon/job-{i}", f"job {i}" if i % 3 else f"job {i} in Lyon") for i in range(3, 120, 4)
    ]
    found = {f"/{place}/job-{{c:digits}}" for place in PLACES[:3]}
    assert {one for one, _ in rules([*jobs, *there])["shop.example"]["rewrite_path"]} == found


@pytest.mark.parametrize("form", ["/o/{}?tab={}", "/o/{}/{}", "/o/{1}?id={0}"])
def test_class_with_one_word_may_be_but_the_luckiest(form):
    """A tab that agreed so far is neither dropped nor skipped if its siblings sometimes differ.

    If none ever differs, it is.
    """
    tabs = ["details", "makers", "shows"]
    clear = [see(f"/a/{i}?sid={sid}", f"page {i}") for i in range(40) for sid in "abcde"]
    things = [see(f"/o/{i}", f"o {i}") for i in range(150)]

    def found(own):
        views = (
            see(form.format(i, tabs[i % 3]), f"o {i}" + ", of its own" * (i in own))
            for i in range(150)
        )
        return rules([*clear, *things, *views])["shop.example"]

    assert found({3, 30, 33, 4, 61, 31}) == {"drop_params": ["sid"]}
    assert found({}) != {"drop_params": ["sid"]}
