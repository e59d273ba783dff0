from __future__ import annotations

import json

import pytest

from scrapy_urlcanon.rule_files.foreign import read_foreign


def _read(*entries):
    imported = read_foreign(json.dumps(entries), name="query-filter.json")
    assert imported is not None
    assert imported.format == "query filter"
    return imported


def test_match_patterns_become_patterns():
    """A host with its subdomains, and everything, are ours too."""
    imported = _read(
        {"include": ["*://*/*"], "exclude": [], "params": ["gclid"]},
        {"include": ["*://*.a.example/*", "*://a.example/*"], "exclude": [], "params": ["si"]},
    )
    assert imported.rules == {"*": {"drop_params": ["gclid"]}, "a.example": {"drop_params": ["si"]}}
    assert imported.left_out == ()


@pytest.mark.parametrize(
    "other", ["*://*.a.example/x/*", "https://*.a.example/*", "*://*.a.example/x", "*://*/y/*"]
)
def test_a_host_alone_stays_one(other):
    """Its subdomains are meant only where another pattern is for these, there and everywhere."""
    imported = _read({"include": ["*://a.example/*", other], "exclude": [], "params": ["p"]})
    assert "a.example" not in imported.rules
    assert "*://a.example/*" in [left_out.rule for left_out in imported.left_out]


def test_an_exclude_takes_back():
    """What is excluded keeps its parameters."""
    imported = _read({"include": ["*://*/*"], "exclude": ["*://a.example/x/*"], "params": ["p"]})
    assert imported.rules == {"*": {"drop_params": ["p"]}, "a.example/x": {"drop_params": ["!p"]}}


@pytest.mark.parametrize("pattern", ["*://a.example/*", "https://*.a.example/*", "*://a.*/*", "x"])
def test_what_cannot_be_expressed_is_listed(pattern):
    """A host without its subdomains, a scheme, a host glob."""
    imported = _read({"include": [pattern], "exclude": [], "params": ["p"]})
    assert imported.rules == {}
    assert [left_out.rule for left_out in imported.left_out] == [pattern]


@pytest.mark.parametrize("exclude", ["*://*/login*", "login", "*://[/*"])
def test_an_exclude_that_cannot_be_expressed_leaves_the_entry_out(exclude):
    """Or the import would drop what the list keeps."""
    imported = _read({"include": ["*://*/*"], "exclude": [exclude], "params": ["p"]})
    assert imported.rules == {}
    assert [left_out.where for left_out in imported.left_out] == ["[0].exclude"]


def test_a_malformed_entry_is_an_error_that_names_its_place():
    """The error has the JSON path."""
    text = json.dumps([{"include": "x", "params": [1]}, 5])
    expected = (
        r"\[0\].include: expected .*\[0\].params: expected .*\[1\]: expected an object, got 5"
    )
    with pytest.raises(ValueError, match=expected):
        read_foreign(text, name="query-filter.json")
