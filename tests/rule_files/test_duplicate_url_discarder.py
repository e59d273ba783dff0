from __future__ import annotations

import json
from itertools import product

import pytest
import tldextract
from w3lib.url import canonicalize_url

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.rule_files.foreign import read_foreign, read_together

_MANY = [f"{name}={value}" for name in range(20) for value in range(10)]


def _rule(processor, args, *include, exclude=(), order=0):
    pattern = {"include": list(include), "exclude": list(exclude)}
    return {"order": order, "urlPattern": pattern, "processor": processor, "args": args}


def _read(*rules):
    imported = read_foreign(json.dumps(rules), name="rules.json")
    assert imported is not None
    assert imported.format == "duplicate-url-discarder"
    return imported


def test_query_removal_drops_the_names_on_the_host():
    """A queryRemoval becomes drop_params on its host, decoded, and nothing is left out."""
    imported = _read(_rule("queryRemoval", ["sid", "a%5B%5D"], "Shop.example.com"))
    assert imported.rules == {"shop.example.com": {"drop_params": ["sid", "a[]"]}}
    assert imported.left_out == ()


@pytest.mark.parametrize("path", ["/x/", "/x/*"])
def test_a_path_with_a_slash_at_its_end_is_not_the_one_without(path):
    """There it is a prefix as text."""
    imported = _read(_rule("queryRemoval", ["sid"], f"www.example.com{path}"))
    assert imported.left_out == ()
    canonicalize = Canonicalizer(imported.rules).canonicalize
    below = "http://www.example.com/x/"
    assert {canonicalize(f"{below}{rest}?sid=1") for rest in ("", "y", "y/z")} == {
        below,
        f"{below}y",
        f"{below}y/z",
    }
    assert canonicalize("http://www.example.com/x?sid=1") == "http://www.example.com/x?sid=1"


def test_several_rules_for_a_host_unite():
    """The names of all rules of a host are dropped."""
    imported = _read(
        _rule("queryRemoval", ["a"], "example.com"), _rule("queryRemoval", ["b"], "example.com")
    )
    assert imported.rules == {"example.com": {"drop_params": ["a", "b"]}}


def test_several_query_removal_except_keep_what_each_keeps():
    """Applied one after the other they keep their intersection, less what is removed."""
    imported = _read(
        _rule("queryRemovalExcept", ["a", "b", "c"], "example.com"),
        _rule("queryRemovalExcept", ["b", "c", "d"], "example.com"),
        _rule("queryRemoval", ["c"], "example.com"),
    )
    canonicalizer = Canonicalizer(imported.rules)
    assert canonicalizer.canonicalize("http://example.com/?a=1&b=2&c=3&d=4") == (
        "http://example.com/?b=2"
    )


def test_what_is_removed_below_a_host_is_not_kept_there():
    """Here what is kept would win: it is taken back below, and stays elsewhere."""
    imported = _read(
        _rule("queryRemovalExcept", ["a", "b"], "www.example.com"),
        _rule("queryRemoval", ["a"], "www.example.com/x/"),
    )
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://www.example.com/x/?a=1&b=2&c=3") == "http://www.example.com/x/?b=2"
    assert canonicalize("http://www.example.com/?a=1&b=2&c=3") == "http://www.example.com/?a=1&b=2"


@pytest.mark.parametrize("include", [[], [""]])
def test_normalizer_for_everywhere(include):
    """The universal normalizer strips www and the slash at the end."""
    imported = _read(_rule("normalizer", [], *include))
    assert imported.rules == {"*": {"www": "strip", "trailing_slash": "strip"}}


def test_universal_rules_do_not_hold_where_a_rule_with_a_host_matches():
    """The plugin switches its universal rules off there, and so does the import."""
    imported = _read(
        _rule("queryRemoval", ["utm_source", "sid"], ""),
        _rule("normalizer", [], ""),
        _rule("queryRemoval", ["sid"], "example.com"),
    )
    canonicalizer = Canonicalizer(imported.rules, preset="scrapy")
    assert canonicalizer.canonicalize("http://www.example.com/a/?sid=1&utm_source=2") == (
        "http://www.example.com/a/?utm_source=2"
    )
    assert canonicalizer.canonicalize("http://www.other.com/a/?sid=1&utm_source=2") == (
        "http://other.com/a"
    )


def test_universal_rules_of_one_file_are_switched_off_by_another():
    """Files that are read together mean together what the plugin makes of them."""
    universal = json.dumps([_rule("queryRemoval", ["sid"], "")])
    with_host = json.dumps([_rule("queryRemoval", ["x"], "example.com")])
    first, second = read_together([("a.json", universal), ("b.json", with_host)])
    assert first is not None
    assert second is not None
    assert first.rules["example.com"] == {"drop_params": ["!sid", "x"]}
    assert second.rules == {}


def test_a_path_of_a_host_is_its_www_alone():
    """With a path the plugin leaves subdomains alone, which our pattern includes."""
    imported = _read(_rule("queryRemovalExcept", [], "example.com/dp/"))
    assert imported.rules == {"www.example.com/dp/*": {"keep_params": []}}
    (left_out,) = imported.left_out
    assert left_out.partly
    assert "subdomains" in left_out.reason


def test_a_path_that_ends_inside_a_segment_is_warned_of():
    """A prefix as text covers more paths than one on the border of a segment."""
    imported = _read(_rule("queryRemoval", ["a"], "www.example.com/dp"))
    assert imported.rules == {"www.example.com/dp": {"drop_params": ["a"]}}
    assert [left_out.partly for left_out in imported.left_out] == [True]


@pytest.mark.parametrize(
    "path", ["/*/b", "/a/*/b", "/a*b", "/a/*/*/b/", "/*b*c", "/a/*b?t=1", "/**/b"]
)
def test_a_star_inside_a_path_is_any_text(path, monkeypatch):
    """So it is in both: the same URLs become one, on a host that both patterns are for alone."""
    url_matcher = pytest.importorskip("url_matcher")
    offline = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
    monkeypatch.setattr("url_matcher.util.tldextract.extract", offline)
    imported = _read(_rule("queryRemoval", ["sid"], f"www.example.com{path}"))
    matcher = url_matcher.URLMatcher({1: url_matcher.Patterns([f"www.example.com{path}"])})
    ours = Canonicalizer(imported.rules, preset="scrapy")
    assert not imported.left_out
    pieces = ("", "a", "b", "/", "x/y", "ab", "bc", "/b/")
    for parts in product(pieces, repeat=3):
        for query in ("?sid=1", "?sid=1&t=1"):
            url = f"http://www.example.com/{''.join(parts)}{query}"
            is_ours = "sid" not in ours.canonicalize(url)
            assert is_ours == (matcher.match(url) == 1), url


def test_query_conditions_become_conditions():
    """Alternative values of a parameter become a pattern each."""
    imported = _read(_rule("queryRemoval", ["a"], "www.example.com?t=x&t=y*"))
    assert imported.rules == {
        "www.example.com?t=x": {"drop_params": ["a"]},
        "www.example.com?t=y*": {"drop_params": ["a"]},
    }


def test_subpath_removal_before_a_literal_becomes_a_template():
    """A * segment that comes before a literal one can be removed without end or loss."""
    imported = _read(_rule("subpathRemoval", [0], "www.example.com/*/dp"))
    assert imported.rules == {
        "www.example.com": {
            "rewrite_path": [
                ["/{s0}/dp", "/dp"],
                ["/{s0}/dp/{rest:path}", "/dp/{rest}"],
            ]
        }
    }


@pytest.mark.parametrize("pattern", ["www.example.com/*/dp/", "www.example.com/*/dp/*"])
def test_subpath_removal_below_a_directory_leaves_the_directory(pattern):
    """Such a pattern does not match the path without the slash, which is another page there."""
    canonicalize = Canonicalizer(_read(_rule("subpathRemoval", [0], pattern)).rules).canonicalize
    assert canonicalize("http://www.example.com/x/dp/9") == "http://www.example.com/dp/9"
    assert canonicalize("http://www.example.com/x/dp") == "http://www.example.com/x/dp"


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        (_rule("subpathRemoval", [0], "example.com"), "rewrite_path"),
        (_rule("subpathRemoval", [0], "www.example.com/*/dp/*/*"), "rewrite_path"),
        (_rule("subpathRemoval", [0], "www.example.com/*/a*b"), "rewrite_path"),
        (_rule("subpathRemoval", [0], "www.example.com/*/{x}"), "rewrite_path"),
        (_rule("queryRemoval", ["a"], "www.example.com/?x*y=1"), "any text"),
        (_rule("subpathRemoval", [1], "www.example.com/*/dp"), "rewrite_path"),
        (_rule("subpathRemoval", [0], ""), "come to an end"),
        (_rule("queryRemoval", ["a"], "https://example.com"), "scheme"),
        (_rule("queryRemoval", ["a"], "example.com:8080"), "port"),
        (_rule("queryRemoval", ["a"], "www.example.com/a|"), "alone"),
        (_rule("queryRemoval", ["a"], "www.example.com#top"), "fragment"),
        (_rule("queryRemoval", ["a"], "*.example.com"), "host"),
        (_rule("queryRemoval", ["a"], "example.com", exclude=["example.com/x"]), "exceptions"),
        (_rule("queryRemoval", ["a*"], "example.com"), "*"),
        (_rule("queryRemoval", [""], "example.com"), "empty"),
        (_rule("queryRemovalExcept", ["a*"], "example.com"), "*"),
        (_rule("somethingNew", [], "example.com"), "processor"),
        # Of 10 values each of 20 parameters nobody waits for all combinations.
        (_rule("queryRemoval", ["a"], f"www.example.com/?{'&'.join(_MANY)}"), "combinations"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_what_cannot_be_expressed_is_listed(rule, word):
    """It is no rule, and the list has its place, its text and the reason."""
    imported = _read(rule)
    assert imported.rules == {}
    (left_out,) = imported.left_out
    assert word in left_out.reason
    assert left_out.where == "rules.json[0]"
    assert rule["processor"] in left_out.rule


def test_a_rule_that_is_left_out_still_switches_the_universal_rules_off():
    """Or the import would merge there what the plugin keeps apart."""
    imported = _read(
        _rule("queryRemoval", ["sid"], ""),
        _rule("queryRemoval", ["a"], "example.com/*/x"),
    )
    assert imported.rules["example.com"] == {"drop_params": ["!sid"]}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"processor": "queryRemoval"}, "[1].urlPattern: expected an object"),
        ({"args": ["a"]}, "[1].urlPattern: expected an object"),
        ("example.com", "[1]: expected an object, got 'example.com'"),
        ({"urlPattern": {"include": []}}, "[1].order: expected a number"),
        (_rule("queryRemoval", [1], "example.com"), "[1].args: expected a list of texts"),
        (_rule("normalizer", ["a"], "example.com"), "[1].args: expected no arguments"),
        (_rule("queryRemoval", ["a"], "/path"), "[1].urlPattern.include[0]: expected an empty"),
        (_rule("queryRemoval", ["a"], "", "example.com"), "[1].urlPattern.include[0]"),
        (_rule("queryRemoval", ["a"], "http://[bad"), "[1].urlPattern.include[0]"),
        (
            {"order": 1, "urlPattern": {"include": 5}, "processor": "queryRemoval", "args": ["a"]},
            "[1].urlPattern.include: expected a list of texts",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_rule_is_an_error_that_names_its_place(rule, message):
    """All problems are in one error, each with its JSON path."""
    text = json.dumps([_rule("queryRemoval", ["a"], "example.com"), rule])
    with pytest.raises(ValueError, match="expected") as raised:
        read_foreign(text, name="rules.json")
    assert message in str(raised.value)
    assert str(raised.value).startswith("rules.json: ")


@pytest.fixture(scope="module")
def published():
    """Read the rule package of the plugin, if it is installed."""
    package = pytest.importorskip("duplicate_url_discarder_rules")
    files = [(path, read_text(path)) for path in sorted(package.RULE_PATHS)]
    (imported,) = [found for found in read_together(files) if found and found.rules]
    rules = [rule for _, text in files for rule in json.loads(text)]
    return package.RULE_PATHS, rules, imported


def read_text(path):
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def _urls(rule, host, share):
    """Yield URLs for a rule: each parameter that it names in one place of *share*."""
    names = [str(arg) for arg in rule.get("args", [])]
    starts = (f"http://{host}", f"http://www.{host}", f"http://shop.{host}")
    paths = ("/", "/a", "/a/", "/dp/1", "/dp/1/", "/slug/dp/1", "/Slug/dp/1")
    for number, (start, path) in enumerate(product(starts, paths)):
        yield start + path
        for query in ("id=1", "id=2", "utm_source=x", "utm_source=y&id=1"):
            yield f"{start}{path}?{query}"
        for name in names[number % share :: share]:
            yield f"{start}{path}?{name}=1"
            yield f"{start}{path}?id=1&{name}=2&utm_term=3"
            yield f"{start}{path}?{name}x=1&{name}=2"


def _hosts(rules):
    for rule in rules:
        includes = [pattern for pattern in rule["urlPattern"]["include"] if pattern]
        yield from ((rule, pattern.partition("/")[0]) for pattern in includes)
        if not includes:
            yield rule, "unlisted.example.org"


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
def test_published_rules_merge_what_the_plugin_merges(published, monkeypatch, share):
    """Every pair that the plugin merges and no other, but for fewer where a rule is listed."""
    plugin = pytest.importorskip("duplicate_url_discarder.url_canonicalizer")
    # The plugin's url-matcher would fetch the Public Suffix List.
    offline = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
    monkeypatch.setattr("url_matcher.util.tldextract.extract", offline)
    paths, rules, imported = published
    theirs = plugin.UrlCanonicalizer(paths)
    ours = Canonicalizer(imported.rules, preset="scrapy")
    listed = " ".join(left_out.rule for left_out in imported.left_out)
    checked = 0
    merged_less = set()
    for rule, host in _hosts(rules):
        urls = list(dict.fromkeys(_urls(rule, host, share)))
        their_forms = {url: canonicalize_url(theirs.process_url(url)) for url in urls}
        our_forms = {url: ours.canonicalize(url) for url in urls}
        by_our_form = {}
        for url in urls:
            by_our_form.setdefault(our_forms[url], set()).add(their_forms[url])
        wrong = {form: found for form, found in by_our_form.items() if len(found) > 1}
        assert not wrong, (rule, host)
        if len(set(our_forms.values())) != len(set(their_forms.values())):
            merged_less.add(host)
            assert f" for {host}" in listed, (rule, host)
        checked += len(urls)
    assert checked > 10_000
    # Three rules of 382: two for Amazon's hosts, and one for a parameter without a name.
    assert {host.partition(".")[0] for host in merged_less} == {"amazon", "evidea"}


def test_every_published_rule_is_imported_or_listed(published):
    """Nothing of the published rules is dropped silently."""
    _, rules, imported = published
    listed = {left_out.rule for left_out in imported.left_out}
    for rule in rules:
        for pattern in rule["urlPattern"]["include"]:
            if rule["processor"] != "queryRemoval":
                continue
            names = imported.rules[pattern or "*"].get("drop_params", [])
            for arg in rule["args"]:
                assert arg in names or any(repr(arg) in text for text in listed)
