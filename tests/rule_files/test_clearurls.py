from __future__ import annotations

import json

import pytest

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.rule_files.foreign import read_foreign

ANY = r"^https?:\/\/(?:[a-z0-9-]+\.)*?"


def _provider(pattern, *rules, **lists):
    return {"urlPattern": pattern, "completeProvider": False, "rules": list(rules), **lists}


def _read(**providers):
    imported = read_foreign(json.dumps({"providers": providers}), name="data.min.json")
    assert imported is not None
    assert imported.format == "ClearURLs"
    return imported


def _missing(imported):
    """Return what is left out, without the remarks about the whole file."""
    return [left_out for left_out in imported.left_out if left_out.where != "providers"]


def test_names_of_a_provider_are_dropped_on_its_host():
    """Literal names, and those that a finite expression stands for, are dropped."""
    imported = _read(a=_provider(ANY + r"a\.example", "ref", "mc_(?:eid|cid)", "srs?"))
    assert imported.rules == {
        "a.example": {"drop_params": ["ref", "mc_eid", "mc_cid", "sr", "srs"]}
    }
    assert _missing(imported) == []


def test_referral_marketing_is_removed_too():
    """ClearURLs removes it unless its user allows referral marketing."""
    imported = _read(a=_provider(ANY + r"a\.example", referralMarketing=["tag"]))
    assert imported.rules == {"a.example": {"drop_params": ["tag"]}}


def test_a_provider_for_everything_is_a_rule_for_everything():
    """``.*`` is our ``*``."""
    assert _read(g=_provider(".*", "x")).rules == {"*": {"drop_params": ["x"]}}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (ANY + r"(a\.example|b\.example)", ["a.example", "b.example"]),
        (ANY + r"a\.(?:com|de)\/shop\/", ["a.com/shop/*", "a.de/shop/*"]),
        (r"^https?://www\.a\.example", ["www.a.example"]),
        (ANY + "a.example", ["a.example"]),
    ],
)
def test_url_patterns_become_patterns(pattern, expected):
    """Hosts and plain path prefixes are expanded."""
    assert list(_read(a=_provider(pattern, "x")).rules) == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (ANY + r"a(?:\.[a-z]{2,}){1,}", "no finite list of hosts"),
        (r"^https?:\/\/a\.example", "without its subdomains"),
        (r"^https:\/\/www\.a\.example", "one scheme"),
        (ANY + r"a\.example\/search\?", "path is not a plain prefix"),
        (ANY + r"a\.example|b\.example", "does not begin with"),
        ("tracker", "does not begin with"),
        (ANY + r"a[", "unbalanced ["),
    ],
)
def test_url_patterns_that_cannot_be_expressed_are_listed(pattern, reason):
    """Such a provider gives no rule."""
    imported = _read(a=_provider(pattern, "x"))
    assert imported.rules == {}
    (left_out,) = _missing(imported)
    assert left_out.where == "providers.a.urlPattern"
    assert reason in left_out.reason


@pytest.mark.parametrize(
    "name", ["p[fd]_[a-z]*", "[^a]x", "a.?", r"n\d{3}", "a|b", r"\w", "(?=a)b"]
)
def test_names_without_a_finite_list_are_listed(name):
    """A glob would drop more than the expression does, so there is none."""
    imported = _read(a=_provider(ANY + r"a\.example", name, "ok"))
    assert imported.rules == {"a.example": {"drop_params": ["ok"]}}
    assert [(out.where, out.rule) for out in _missing(imported)] == [("providers.a.rules[0]", name)]


def test_an_exception_is_taken_back():
    """What the provider drops stays in the URLs of its exception."""
    imported = _read(
        a=_provider(
            ANY + r"a\.example",
            "x",
            exceptions=[ANY + r"login\.a\.example", ANY + r"a\.example\/b\/c.*d"],
        ),
        b=_provider(ANY + r"login\.a\.example", "y"),
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example/?x=1&y=1") == "http://a.example/?y=1"
    assert canonicalize("http://login.a.example/?x=1&y=1") == "http://login.a.example/?x=1"
    assert canonicalize("http://a.example/b/cd?x=1") == "http://a.example/b/cd?x=1"
    assert [out.where for out in _missing(imported)] == ["providers.a.exceptions[1]"]


def test_an_exception_for_the_beginning_of_a_host_holds_for_longer_ones():
    """Nothing ends the expression, so that ``a.com.au`` keeps its parameter too."""
    imported = _read(g=_provider(".*", "x", exceptions=[ANY + r"a\.com"]))
    canonicalize = Canonicalizer(imported.rules).canonicalize
    for kept in ("http://a.com/?x=1", "http://b.a.com/?x=1", "http://a.com.au/?x=1"):
        assert canonicalize(kept) == kept
    assert canonicalize("http://b.com/?x=1") == "http://b.com/"


def test_an_exception_that_cannot_be_expressed_leaves_its_provider_out():
    """Without its exception the provider would merge what ClearURLs keeps apart."""
    imported = _read(g=_provider(".*", "ref", exceptions=[r"^https?:\/\/git\.[^/]*\/"]))
    assert imported.rules == {}
    (left_out,) = _missing(imported)
    assert left_out.where == "providers.g.exceptions[0]"
    assert "as a whole" in left_out.reason


def test_what_removes_no_parameter_is_listed():
    """Blocking, raw rules and redirections are not about parameters."""
    imported = _read(
        a={
            "urlPattern": ANY + r"a\.example",
            "completeProvider": True,
            "rawRules": [r"\/ref=[^/?]*"],
            "redirections": ["x=(.*)"],
        }
    )
    assert imported.rules == {}
    assert [out.where for out in _missing(imported)] == [
        "providers.a.completeProvider",
        "providers.a.rawRules[0]",
        "providers.a.redirections[0]",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"providers": []}, "providers: expected an object"),
        ({"providers": {"a": {"urlPattern": 1}}}, "providers.a.urlPattern: expected a text"),
        ({"providers": {"a": 5, "b": {"rules": []}}}, "providers.a: expected an object, got 5"),
        (
            {"providers": {"a": {"urlPattern": ".*", "rules": "x"}}},
            "providers.a.rules: expected a list of texts",
        ),
    ],
)
def test_a_malformed_file_is_an_error_that_names_the_place(document, message):
    """The error has file, JSON path and what was expected."""
    with pytest.raises(ValueError, match="expected") as raised:
        read_foreign(json.dumps(document), name="data.json")
    assert str(raised.value).startswith(f"data.json: {message}")


def test_file_without_a_provider_is_one():
    """As where a list was emptied."""
    imported = read_foreign('{"providers": {}}', name="data.json")
    assert imported is not None
    assert (imported.format, imported.rules) == ("ClearURLs", {})


def test_host_named_providers_is_one_of_ours():
    """No provider is there that says which URLs it is for, or what it drops."""
    rules = {"providers": {"default_params": {"page": "1"}}}
    assert read_foreign(json.dumps(rules), name="rules.json") is None
