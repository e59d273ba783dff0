"""The preset `scrapy` merges what Scrapy merges, and what the rules of the user say."""

import pytest
from w3lib.url import canonicalize_url

from scrapy_urlcanon.canonicalizer import Canonicalizer

# Scrapy keeps each of them apart from what our normalizations would make of it.
OF_SCRAPY_ALONE = [
    "http://example.com./a?b=1",
    "http://example.com:80/a?b=1",
    "http://0x7f.1/a",
    "http://example.com/a/../b?c=%zz",
    "http://example.com/?b-c=1&b=2",
    "http://b\u00fccher.example/%7Ea?q=a:b",
]


@pytest.mark.parametrize("rules", [{"*": {}}, {"*": {"drop_params": ["sid"]}}])
@pytest.mark.parametrize("url", OF_SCRAPY_ALONE)
def test_what_no_rule_changes_is_as_scrapy_has_it(rules, url):
    """A URL that no rule changes has Scrapy's canonical form."""
    canonicalizer = Canonicalizer(rules, preset="scrapy")
    assert canonicalizer.canonicalize(url) == canonicalize_url(url)


@pytest.mark.parametrize("url", OF_SCRAPY_ALONE)
def test_what_a_rule_changes_is_then_as_scrapy_has_it(url):
    """After a rule the rest of the URL has Scrapy's canonical form."""
    canonicalizer = Canonicalizer({"*": {"drop_params": ["sid"]}}, preset="scrapy")
    explanation = canonicalizer.explain(f"{url}{'&' if '?' in url else '?'}sid=1")
    assert "sid" not in explanation.canonical
    assert canonicalize_url(explanation.canonical) == explanation.canonical
    assert "drop_params" in [step.option for step in explanation.steps]


def test_a_rule_about_what_scrapy_does_holds():
    """A rule to keep fragments, or the order of parameters, holds."""
    canonicalizer = Canonicalizer({"*": {"fragment": "keep"}}, preset="scrapy")
    assert canonicalizer.canonicalize("http://example.com/#a") == "http://example.com/#a"
    canonicalizer = Canonicalizer({"*": {"sort_query": False}}, preset="scrapy")
    assert canonicalizer.canonicalize("http://example.com/?b=1&a=1") == (
        "http://example.com/?b=1&a=1"
    )
