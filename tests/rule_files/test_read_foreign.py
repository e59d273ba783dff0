from __future__ import annotations

import json
import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts
from scrapy_urlcanon.rule_files.foreign import read_foreign

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
_TOKENS = (
    r"a b.example \. (?: ) | [ ] ^ - * ? {2} {2,} \/ / \d https?:// https?:\/\/ $ , ~ = @@ || .*"
)
_FRAGMENTS = st.lists(st.sampled_from(_TOKENS.split(" ")), max_size=12).map("".join)
_PATTERNS = _FRAGMENTS | st.text(max_size=20)


def _import(text, name="rules"):
    """Read *text*; a rule that is read must be one that the configuration accepts."""
    try:
        imported = read_foreign(text, name=name)
    except ValueError as error:
        assert str(error).startswith(f"{name}: ")  # noqa: PT017
        return
    if imported is not None:
        Canonicalizer(imported.rules)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "a.txt"),
        ("{}", "a.json"),
        ('{"*": {"drop_params": ["a"]}}', "a.json"),
        ('["*"]\ndrop_params = ["a"]', "a.toml"),
        ("# $removeparam=x", "a.toml"),
        ("{", "a.json"),
        ("[" * 100_000, "a.json"),
        ("plain text", "a.txt"),
    ],
)
def test_what_is_in_no_foreign_format_is_none(text, name):
    """Our own files, and broken ones, are left to others."""
    assert read_foreign(text, name=name) is None


@given(st.text())
def test_arbitrary_text_raises_nothing_but_value_errors(text):
    """Whatever a file holds, it is read, not known, or a ValueError with its name."""
    _import(text)


@given(_JSON)
def test_arbitrary_json_raises_nothing_but_value_errors(document):
    """The same for any JSON."""
    _import(json.dumps(document))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "order": st.integers() | st.none(),
                "urlPattern": st.fixed_dictionaries(
                    {"include": st.lists(_PATTERNS | st.just("a.example/x"), max_size=3)},
                    optional={"exclude": st.lists(_PATTERNS, max_size=2)},
                ),
                "processor": st.sampled_from(
                    ["queryRemoval", "queryRemovalExcept", "subpathRemoval", "normalizer", "x"]
                ),
            },
            optional={"args": st.lists(_PATTERNS | st.integers(), max_size=3)},
        ),
        max_size=4,
    )
)
def test_arbitrary_discarder_rules(rules):
    """Any list in the shape of duplicate-url-discarder's gives valid rules or a ValueError."""
    _import(json.dumps(rules))


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.fixed_dictionaries(
            {"urlPattern": _PATTERNS},
            optional={
                key: st.lists(_PATTERNS, max_size=3)
                for key in ("rules", "exceptions", "rawRules", "referralMarketing")
            },
        ),
        max_size=4,
    )
)
def test_arbitrary_providers(providers):
    """Any catalogue in the shape of ClearURLs' gives valid rules or a ValueError."""
    _import(json.dumps({"providers": providers}))


@given(st.lists(st.tuples(_PATTERNS, _PATTERNS), max_size=5))
def test_arbitrary_filter_lists(lines):
    """Any list with removeparam rules gives valid rules."""
    _import("\n".join(f"{pattern}$removeparam={value}" for pattern, value in lines))


@given(_FRAGMENTS)
def test_finite_texts_are_what_the_expression_matches(expression):
    """Where the expression is listed, it matches each of the texts as a whole."""
    try:
        texts = finite_texts(expression)
    except NotFiniteError:
        return
    with warnings.catch_warnings():
        # Python warns of [[, which may mean something else one day.
        warnings.simplefilter("ignore", FutureWarning)
        assert all(re.fullmatch(expression, text) for text in texts)


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        ("[+--]", {"+", ",", "-"}),
        ("[%-(]", set("%&'(")),
        ("[a-c-e]", set("abc-e")),
        ("[-a]", {"-", "a"}),
        (r"[a-\d]", None),
        (r"[\d-x]", None),
        ("[%-(a)]", set("%&'(a)")),
        ("[[-()", None),
        ("[]a]", None),
    ],
)
def test_characters_in_a_class_stand_for_themselves(expression, texts):
    """A parenthesis or a dot that ends a range is no group and no wildcard."""
    if texts is None:
        with pytest.raises(NotFiniteError):
            finite_texts(expression)
    else:
        assert set(finite_texts(expression)) == texts


@pytest.mark.parametrize(
    "text",
    [
        "||a.example.0x1^$removeparam=p",
        "||a..example^$removeparam=p",
        json.dumps([{"include": ["*://*..a.example/*"], "params": ["p"]}]),
        json.dumps([{"include": ["*://*/*"], "params": ["\ud800"]}]),
        json.dumps({"providers": {"a": {"urlPattern": ".*", "rules": ["\ud800"]}}}),
        json.dumps(
            {"providers": {"a": {"urlPattern": r"^https?:\/\/www\.a\.0x1", "rules": ["p"]}}}
        ),
        json.dumps(
            [
                {
                    "urlPattern": {"include": ["a.example.0x1"]},
                    "processor": "queryRemoval",
                    "order": 1,
                    "args": ["p"],
                }
            ]
        ),
    ],
)
def test_a_host_or_a_name_that_no_url_has_is_listed(text):
    """It is left out, and all else of the list is read: the crawl starts."""
    imported = read_foreign(text, name="list.txt")
    assert imported is not None
    assert imported.left_out
    assert Canonicalizer(imported.rules).canonicalize("http://a.example/?p=1").endswith("?p=1")


def test_an_exception_for_a_path_that_begins_with_two_slashes_holds():
    """It is taken for the whole host, under one pattern with all else that is for that."""
    text = json.dumps(
        [{"include": ["*://*.a.example/*"], "exclude": ["*://a.example//x"], "params": ["p"]}]
    )
    imported = read_foreign(text, name="list.json")
    assert imported is not None
    canonicalize = Canonicalizer(imported.rules).canonicalize
    assert canonicalize("http://a.example//x?p=1") == "http://a.example//x?p=1"
