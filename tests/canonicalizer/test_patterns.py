from __future__ import annotations

import pytest
from canonicalizer.strategies import patterns, urls_with_rules
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.parsing import normalize, parse
from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.policy import Policies
from scrapy_urlcanon.exceptions import UnparsableUrlError

_PARTS = ["a", "b", "ab", "a/b", "a*", "*b", "*", "a*b"]
_HOSTS = [
    "*",
    "example",
    "a.example",
    "b.a.example",
    "192.0.2.1",
    "1",
    "[::1]",
    "a.*",
    "b.a.*",
    "a" * 60 + ".a",
]
_hosts = st.sampled_from([*_HOSTS, *(".".join(["a" * 50] * n) for n in (5, 6, 7))])
_related = st.builds(
    "{}{}{}".format,
    _hosts,
    st.sampled_from(["", "/", "/a", "/a/b", "/a/b/", "/ab", "/a*", "/a/*", "/*b", "/a*b", "/*"]),
    st.lists(
        st.builds("{}={}".format, st.sampled_from(["t", "u", "*"]), st.sampled_from(_PARTS)),
        max_size=2,
    ).map(lambda pieces: "?" + "&".join(pieces)),
)
"""Patterns of which many cover and overlap each other."""

_related_urls = st.builds(
    "http://{}{}/{}?{}".format,
    st.sampled_from(["", "", "www.", "a."]),
    _hosts.map(lambda host: host.replace("*", "b") if "." in host else host).filter(
        lambda host: host != "*"
    ),
    st.sampled_from(["", "a", "a/", "a/b", "a/b/c", "ab", "abc"]),
    st.lists(
        st.builds("{}={}".format, st.sampled_from("tu"), st.text("ab*", max_size=3)), max_size=3
    ).map("&".join),
)


def _holds(text, url):
    """Tell whether the rules of the pattern *text* are looked up for *url*."""
    try:
        parsed = normalize(parse(url, []), [])
    except UnparsableUrlError:
        return reject()
    rules = {text: {"drop_params": ["of the rule"]}}
    policies = Policies(Configuration.load("safe", [Source("rules", rules)]))
    return bool(policies.for_url(parsed).options["drop_params"].value)


@given(st.lists(_related | patterns, min_size=2, max_size=4), _related_urls | urls_with_rules)
@example(["example.com/forum", "www.example.com/forum/1"], "http://www.example.com/forum/1/2")
@example(["a?t=*", "a?t=a*"], "http://a/?t=aa")
def test_covers_and_overlaps_agree_with_the_urls_that_rules_hold_for(texts, url):
    """`covers` and `overlaps` agree with the URLs that the patterns match."""
    ours = [(parse_pattern(text), _holds(text, url)) for text in texts]
    for a, a_holds in ours:
        for b, b_holds in ours:
            assert not (b_holds and a.covers(b)) or a_holds
            assert not (a_holds and b_holds) or a.overlaps(b)
            assert a.overlaps(b) == b.overlaps(a)
            assert not a.covers(b) or a.overlaps(b)


_on_one_host = _related.map(
    lambda text: "a.example" + text[len(text.partition("/")[0].partition("?")[0]) :]
)
_urls_of_it = st.builds(
    "http://a.example/{}?{}".format,
    st.sampled_from(["", "a", "a/", "a/b", "a/b/c", "ab", "abc", "b"]),
    st.lists(
        st.builds(
            "{}={}".format, st.sampled_from(["t", "u", "%74", "v"]), st.text("ab*+", max_size=2)
        ),
        max_size=3,
    ).map("&".join),
)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(_on_one_host, min_size=9, max_size=20, unique_by=parse_pattern),
    st.lists(_urls_of_it, min_size=1, max_size=4),
)
def test_of_many_rules_for_a_host_those_hold_that_hold_alone(texts, urls):
    """A rule holds among many exactly if it holds alone."""
    rules = {text: {"drop_params": [f"of {text}"]} for text in texts}
    policies = Policies(Configuration.load("safe", [Source("rules", rules)]))
    for url in urls:
        options = policies.for_url(normalize(parse(url, []), [])).options
        found = {str(entry.pattern) for entry in options["drop_params"].value}
        assert found == {f"of {text}" for text in texts if _holds(text, url)}


@given(_related | patterns)
@example("a.example/web/http://b.example/?to=http://c.example/")
def test_the_text_of_a_pattern_is_parsed_to_that_pattern(text):
    """Both spellings of it are."""
    pattern = parse_pattern(text)
    assert parse_pattern(pattern.text) == pattern
    assert parse_pattern(pattern.readable) == pattern
    assert pattern.covers(pattern)


@pytest.mark.parametrize("text", ["a.example?t=\ud800", "a.example/\udfff", "\ud800"])
def test_half_a_surrogate_pair_is_no_pattern(text):
    """Half a surrogate pair is no pattern, since it cannot be stored or printed."""
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        parse_pattern(text)


@pytest.mark.parametrize("host", ["a.example.", "A.example。", "a.example%2E"])
def test_dot_of_the_root_zone_makes_no_other_host(host):
    """A trailing dot of the host is dropped: no canonical URL has it."""
    assert parse_pattern(host).host == "a.example"
    aliases = Canonicalizer({"*": {"host_aliases": {host: "b.example"}}})
    assert aliases.canonicalize("http://a.example./") == "http://b.example/"
