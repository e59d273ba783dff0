"""What the other words and values in one place say of a rule about one of them."""

import pytest
from observed import rules, see

PLACES = ["bonn", "oslo", "rome", "lyon"]


def test_word_that_makes_a_difference_says_nothing_of_the_others():
    """A job has one address for each place, and of one place some are other jobs.

    That all that differs has this word is no chance: the others are no luckiest parts.
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
    """Of three tabs two have something to say of three things, and one of none yet.

    Nor is it skipped: what is found under the other tabs says so. Where these say nothing of their
    own either, there is no need to fetch any.
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
