"""What speaks for and against a rule of what pairs showed, one pair after the other."""

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.shown import Shown
from scrapy_urlcanon.pages.verdict import NO_TEXT, SHARED, Judgement, Verdict
from scrapy_urlcanon.validate.found_pairs import LED_AWAY, NO_OTHER_PAGE
from scrapy_urlcanon.validate.other_pages import OtherPages
from scrapy_urlcanon.validate.rule_check import RuleCheck

SITE = "http://site.example"
SAME = Judgement(Verdict.SAME)


def shown(*lines):
    """Return what a page shows that has these lines."""
    page = Page(f"{SITE}/", b"", "<p>".join(lines))
    return Shown(page, page.digest)


def a_check():
    """Return a check of a rule of which nothing is known yet."""
    return RuleCheck("drop_params", Layer("urlcanon.toml"), ["sid"])


def add_same(check, number, text):
    """Have the pair of *number* show *text*, both times."""
    check.add(pair(number), SAME, [shown(text)] * 2, [shown(text)] * 2)


def add_other(check, number, variant, kept):
    """Have the URLs of the pair of *number* show two texts."""
    own, lacking = (frozenset(shown(text).texts) for text in (variant, kept))
    judgement = Judgement(Verdict.ANOTHER, own=own, lacking=lacking)
    check.add(pair(number), judgement, [shown(variant)], [shown(kept)])


def pair(number):
    """Return a URL, and what the rule makes of it."""
    return f"{SITE}/{number}?sid={number}", f"{SITE}/{number}"


def said(check):
    """Return how many pairs speak for the rule, how many against it, and why others do not."""
    return check.right, check.wrong, dict(check.evidence.reasons)


def test_page_in_whose_place_a_form_stands_speaks_against_nothing():
    """Whoever keeps the form has lost the page, which the rule may merge rightly."""
    check = a_check()
    add_same(check, 1, "Apples and pears")
    add_other(check, 2, "Plums and cherries", "Who are you?")
    add_other(check, 3, "Nuts and raisins", "Who are you?")
    assert said(check) == (1, 0, {SHARED: 2})


def test_page_that_the_rule_makes_of_all_speaks_against_it():
    """Where it is all that is ever kept, it is no form in the place of pages."""
    check = a_check()
    add_other(check, 2, "Plums and cherries", "All of our fruit")
    add_other(check, 3, "Nuts and raisins", "All of our fruit")
    assert said(check) == (0, 2, {})


def test_what_several_pages_show_speaks_for_nothing():
    """Whichever of them was asked for first, and whatever else comes later."""
    check = a_check()
    add_same(check, 1, "Nobody is here")
    assert said(check) == (1, 0, {})
    add_same(check, 2, "Nobody is here")
    add_same(check, 3, "Apples and pears")
    assert said(check) == (1, 0, {SHARED: 2})


def test_views_of_one_page_are_no_pages_that_share_something():
    """What the same was dropped from may be the same page under two more parameters."""
    check = a_check()
    for view in ("", "&view=2"):
        url, kept = f"{SITE}/t?t=8&sid=1{view}", f"{SITE}/t?sid=1{view}"
        check.add((url, kept), SAME, [shown("Apples")] * 2, [shown("Apples")] * 2)
    assert said(check) == (2, 0, {})


@pytest.mark.parametrize(
    ("others", "led_to", "outcome", "reasons"),
    [
        (["Pears"], "", Outcome.HOLDS, set()),
        (["Pears", "Apples and plums"], "", Outcome.OPEN, {SHARED}),
        ([], "", Outcome.OPEN, {NO_OTHER_PAGE}),
        (["Pears"], f"{SITE}/home", Outcome.OPEN, {LED_AWAY}),
        (["Pears"], f"{SITE}/search?sid=1", Outcome.HOLDS, set()),
    ],
)
def test_rule_over_one_page_holds_once_other_pages_show_something_else(
    others, led_to, outcome, reasons
):
    """Until then the site may have that page only, for all that it is asked for."""
    check = a_check()
    check.pages = OtherPages.of(Canonicalizer({"*": {"drop_params": ["sid"]}}).configuration, ())
    for number in range(12):
        url, kept = f"{SITE}/search?sid={number}", f"{SITE}/search"
        visits = [shown("Apples and plums")] * 2
        check.add((url, kept), SAME, visits, visits, led_to)
    is_led_away = led_to == f"{SITE}/home"
    assert check.outcome is Outcome.OPEN
    assert check.evidence.page_to_control == (None if is_led_away else check.pages.page_of(kept))
    check.evidence.control((f"{SITE}/{text}", shown(text)) for text in others)
    assert check.evidence.page_to_control is None
    assert (check.outcome, {*check.evidence.reasons}) == (outcome, reasons)


def test_rule_over_two_pages_needs_no_other():
    """Each of them is held against the other one."""
    check = a_check()
    for number in range(12):
        name = "east" if number % 2 else "west"
        visits = [shown(f"Fruit of the {name}")] * 2
        check.add((f"{SITE}/{name}?sid={number}", f"{SITE}/{name}"), SAME, visits, visits)
        assert not check.evidence.is_last_shared
    assert check.evidence.page_to_control is None
    assert check.outcome is Outcome.HOLDS
    check.add(pair(13), Judgement(Verdict.CANNOT_TELL))
    assert check.evidence.is_last_shared
    check.add(pair(14), Judgement(Verdict.CANNOT_TELL, NO_TEXT))
    assert not check.evidence.is_last_shared


def test_noise_is_no_text_of_a_page_that_is_nowhere_else():
    """Neither what changed at its second visit, nor what does from visit to visit elsewhere."""
    check = a_check()
    for number in range(3):
        one, other = (shown(f"News of {word}", "Imprint") for word in ("today", "now"))
        check.site.noise.note(one.lines, other.lines)
        check.site.noise.saw(f"{SITE}/{number}", shown("Imprint").lines)
    texts = "Imprint", "News of today"
    assert check.alone(f"{SITE}/9", shown(*texts, "4 o'clock"), shown(*texts, "5 o'clock")) == (
        Judgement(Verdict.CANNOT_TELL, NO_TEXT)
    )
    found = check.alone(f"{SITE}/8", shown("Pears", *texts), shown("Pears", *texts))
    assert found == Judgement(Verdict.ANOTHER, own=frozenset(shown("Pears").texts))
