"""The file of the rules that hold says no more, and no less, than was shown."""

import pytest

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.commands.checked_rules import those_that_stood
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.validate.rule_check import RuleCheck, checks_of

try:
    import tomllib
except ImportError:
    import tomli as tomllib

TAKING_BACK = {
    "*": {"override": {"drop_params": ["!id"], "tracking_params": "keep"}},
    "a.example": {"drop_params": ["!ref"], "default_params": {"page": False}, "www": "keep"},
}
"""Rules that merge nothing, and keep apart what others would merge."""


@pytest.fixture
def stood(monkeypatch):
    """Return what says what is written of rules where those hold that are named."""

    def written(rules, *holding):
        configuration = Canonicalizer(rules, preset="scrapy").configuration
        outcome = {True: Outcome.HOLDS, False: Outcome.OPEN}
        found = property(lambda check: outcome[check.text in holding])
        monkeypatch.setattr(RuleCheck, "outcome", found)
        text = those_that_stood(configuration, checks_of(configuration, (), most=1))
        return tomllib.loads(text), text

    return written


@pytest.mark.parametrize("is_proved", [True, False])
def test_what_takes_back_what_others_do_stays(stood, is_proved):
    """No pair of URLs can show it to be right, and without it more would be merged."""
    rules = {
        "*": {"drop_params": ["sid"], **TAKING_BACK["*"]},
        "a.example": {**TAKING_BACK["a.example"], "trailing_slash": "strip"},
    }
    found, text = stood(rules, "sid" if is_proved else "none")
    proved = {"drop_params": ["sid"]} if is_proved else {}
    assert found == {**TAKING_BACK, "*": {**TAKING_BACK["*"], **proved}}
    assert '# trailing_slash = "strip"' in text


def test_what_an_option_says_is_tried_beside_what_overrides_it(stood):
    """Both are of one pattern and one option, and each is a rule of its own."""
    override = {"drop_params": ["id", "v"], "scheme": "https"}
    rules = {"a.example": {"drop_params": ["sid"], "override": override}}
    assert stood(rules, "sid", "id")[0] == {
        "a.example": {"drop_params": ["sid"], "override": {"drop_params": ["id"]}}
    }
    found, text = stood(rules, "v", "https")
    assert found == {"a.example": {"override": {"drop_params": ["v"], "scheme": "https"}}}
    assert '# override = {"drop_params" = ["id"]}' in text
