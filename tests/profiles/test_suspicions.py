"""What URLs alone let suspect: for the learner, and never a rule by itself."""

import pytest

from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.known_urls import told_by_urls
from scrapy_urlcanon.profiles.suspicions import OF_PART, OF_PROFILE, Suspicions

FORUM = [
    *(f"http://a.example/b/index.php?topic={number}.0" for number in range(5)),
    "http://a.example/b/index.php?board=1.0",
]


def test_program_is_told_by_urls_of_two_shapes_below_one_place():
    """One shape, or few URLs, may be anybody's."""
    assert [(one.name, place) for one, place in told_by_urls(FORUM, our_profiles())] == [
        ("SMF", "/b/")
    ]
    assert told_by_urls(FORUM[:5], our_profiles()) == []
    assert told_by_urls(FORUM[-2:], our_profiles()) == []


@pytest.mark.parametrize(
    ("option", "setting", "odds"),
    [
        ("drop_params", ["PHPSESSID"], OF_PROFILE),
        ("drop_params", ["topicseen", "PHPSESSID"], OF_PROFILE),
        ("skip", ["/b/index.php?topic={id:digits}.msg{message:digits}"], OF_PART),
        ("default_params", {"area": "summary"}, OF_PROFILE),
    ],
)
def test_rules_of_the_program_are_likely(option, setting, odds):
    """Templates are the same whatever their places are called, and stand below its place."""
    assert Suspicions.of(FORUM).log_odds(option, setting) == odds
    assert Suspicions.of([]).log_odds(option, setting) < odds or option == "drop_params"


def test_names_with_a_usual_meaning_are_likely_everywhere():
    """Sessions most, an order less than any other name; the least likely of several counts."""
    found = Suspicions.of([])
    assert found.log_odds("drop_params", ["PHPSESSID"]) > found.log_odds("drop_params", ["print"])
    assert found.log_odds("drop_params", ["print"]) > 0 > found.log_odds("drop_params", ["sort"])
    assert found.log_odds("drop_params", ["sid", "id"]) == 0
    assert found.log_odds("default_params", {"sid": "1"}) == 0
