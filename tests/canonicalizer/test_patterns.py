from __future__ import annotations

import pytest
from canonicalizer.strategies import patterns, urls_with_rules
from hypothesis import example, given, reject
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.policy import Policies
from scrapy_urlcanon.exceptions import UnparsableUrlError

_PARTS = ["a", "b", "ab", "a/b", "a*", "*b", "*", "a*b"]
_HOSTS = ["*", "example", "a.example", "b.a.example", "192.0.2.1", "1", "[::1]", "a" * 60 + ".a"]
_hosts = st.sampled_from([*_HOSTS, *(".".join(["a" * 50] * n) for n in (5, 6, 7))])
_related = st.builds(
    "{}{}{}".format,
    _hosts,
    st.sampled_from(["", "/", "/a", "/a/b", "/a/b/", "/ab"]),
    st.lists(
        st.builds("{}={}".format, st.sampled_from("tu"), st.sampled_from(_PARTS)), max_size=2
    ).map(lambda pieces: "?" + "&".join(pieces)),
)
"""Patterns of which many cover and overlap each other."""

_related_urls = st.builds(
    "http://{}{}/{}?{}".format,
    st.sampled_from(["", "", "www.", "a."]),
    _hosts.filter(lambda host: host != "*"),
    st.sampled_from(["", "a", "a/", "a/b", "a/b/c", "ab", "abc"]),
    st.lists(
        st.builds("{}={}".format, st.sampled_from("tu"), st.text("ab*", max_size=3)), max_size=3
    ).map("&".join),
)


def _url(text):
    try:
        return normalize(parse(text, []), [])
    except UnparsableUrlError:
        return reject()


@given(st.lists(_related | patterns, min_size=2, max_size=4), _related_urls | urls_with_rules)
@example(["example.com/forum", "www.example.com/forum/1"], "http://www.example.com/forum/1/2")
@example(["a?t=*", "a?t=a*"], "http://a/?t=aa")
def test_covers_and_overlaps_agree_with_what_matches(texts, url):
    """One that covers another matches all that it matches; those that match one URL overlap."""
    parsed = _url(url)
    ours = [parse_pattern(text) for text in texts]
    for a in ours:
        for b in ours:
            if b.matches(parsed):
                assert not a.covers(b) or a.matches(parsed)
                assert not a.matches(parsed) or (a.overlaps(b) and b.overlaps(a))
            assert a.overlaps(b) == b.overlaps(a)
            assert not a.covers(b) or a.overlaps(b)


@given(_related | patterns, _related_urls | urls_with_rules)
def test_a_pattern_matches_the_urls_that_its_rules_hold_for(text, url):
    """The configuration finds patterns by their host, and that is what `matches` says."""
    parsed = _url(url)
    rules = {text: {"drop_params": ["of the rule"]}}
    policies = Policies(Configuration.load("safe", [Source("rules", rules)]))
    dropped = policies.for_url(parsed).options["drop_params"].value
    assert bool(dropped) == parse_pattern(text).matches(parsed)


@given(_related | patterns)
def test_the_text_of_a_pattern_is_parsed_to_that_pattern(text):
    """Both spellings of it are."""
    pattern = parse_pattern(text)
    assert parse_pattern(pattern.text) == pattern
    assert parse_pattern(pattern.readable) == pattern
    assert pattern.covers(pattern)


@pytest.mark.parametrize("text", ["a.example?t=\ud800", "a.example/\udfff", "\ud800"])
def test_half_a_surrogate_pair_is_no_pattern(text):
    """JSON can hold one, and nothing that is to be stored or printed can."""
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        parse_pattern(text)
