"""What URLs alone let suspect: for the learner, and never a rule by itself."""

import pytest

from scrapy_urlcanon.profiles.catalogue import our_profiles
from scrapy_urlcanon.profiles.known_urls import recognised_by_urls
from scrapy_urlcanon.profiles.suspicions import ODDS, Suspicions

FORUM = [
    *(f"http://a.example/b/index.php?topic={number}.0" for number in range(5)),
    "http://a.example/b/index.php?board=1.0",
]


def test_program_is_recognised_by_urls_of_two_shapes_below_one_place():
    """One shape, or few URLs, may be anybody's."""
    assert [(one.name, place) for one, place in recognised_by_urls(FORUM, our_profiles())] == [
        ("SMF", "/b/")
    ]
    assert recognised_by_urls(FORUM[:5], our_profiles()) == []
    assert recognised_by_urls(FORUM[-2:], our_profiles()) == []


@pytest.mark.parametrize(
    ("option", "setting", "odds"),
    [
        ("drop_params", ["PHPSESSID"], ODDS["profile"]),
        ("drop_params", ["topicseen", "PHPSESSID"], ODDS["profile"]),
        ("skip", ["/b/index.php?topic={id}&prev_next={to}"], ODDS["view"]),
        ("skip", ["/b/index.php?topic={id:digits}.msg{message:digits}"], 0.0),
        ("default_params", {"area": "summary"}, ODDS["profile"]),
    ],
)
def test_rules_of_the_program_are_likely(option, setting, odds):
    """Templates are the same whatever their places are called, and stand below its place."""
    assert Suspicions.of(FORUM).log_odds(option, setting) == odds
    assert Suspicions.of([]).log_odds(option, setting) <= odds or option == "drop_params"


def test_slide_show_of_a_gallery_is_another_view():
    """It has neither the albums of a photo nor its comments."""
    photos = [f"http://a.example/g/picture.php/{n}/category/3" for n in range(5)]
    found = Suspicions.of([*photos, "http://a.example/g/index.php/category/3"])
    assert found.log_odds("drop_params", ["metadata"]) == ODDS["profile"]
    assert found.log_odds("drop_params", ["slideshow"]) == ODDS["view"]


def test_names_with_a_usual_meaning_are_likely_everywhere():
    """Sessions most, an order less than any other name; the least likely of several counts."""
    found = Suspicions.of([])
    assert found.log_odds("drop_params", ["PHPSESSID"]) > found.log_odds("drop_params", ["print"])
    assert found.log_odds("drop_params", ["print"]) > 0 > found.log_odds("drop_params", ["sort"])
    assert found.log_odds("drop_params", ["sid", "id"]) == 0
    assert found.log_odds("default_params", {"sid": "1"}) == 0


WIKI = [f"http://a.example/index.php?title=P{n}&action=edit" for n in range(5)] + [
    "http://a.example/index.php?title=A&oldid=1"
]
LOGIN = "http://a.example/index.php?title=Special:{}&returnto=A"


def test_rule_for_some_urls_says_nothing_of_a_parameter_that_others_have_too():
    """Who learns asks for the whole site: the form to log in is one page, what follows is not."""
    only_there = Suspicions.of([*WIKI, LOGIN.format("UserLogin")])
    elsewhere = Suspicions.of([*WIKI, *map(LOGIN.format, ("UserLogin", "UserLogout"))])
    assert only_there.log_odds("drop_params", ["returnto"]) == ODDS["profile"]
    assert elsewhere.log_odds("drop_params", ["returnto"]) == 0
    assert Suspicions.of([]).log_odds("drop_params", ["returnto"]) == ODDS["return address"]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Sort-By", "order"),
        ("ASP.NET_SessionId", "session"),
        ("return_to", "return address"),
        ("printer-friendly", "print view"),
        ("in_reply_to", "answer"),
    ],
)
def test_names_are_known_however_they_are_written(name, meaning):
    """Programs differ in hyphens, underscores and capitals."""
    assert Suspicions.of([]).log_odds("drop_params", [name]) == ODDS[meaning]


def test_form_to_log_in_instead_of_a_page_is_not_that_page():
    """Who asks for a bug and to log in is shown the form alone."""
    bugs = [
        f"http://a.example/show_{what}.cgi?id={n}" for what in ("bug", "activity") for n in "123"
    ]
    found = Suspicions.of(bugs)
    assert found.log_odds("drop_params", ["list_id"]) == ODDS["view"]
    assert found.log_odds("drop_params", ["GoAheadAndLogIn"]) == 0
