"""The vectors of other tools, and every difference from them with its reason.

``differences.toml`` lists, by reason, each vector of which we make something else. What
is no absolute http or https URL to the tool is out of scope: it has to come back as it is.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ada_url
import pytest

from scrapy_urlcanon import Canonicalizer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping

    Vector = dict[str, Any]

# What a URL parser does and no more: a query and a fragment are part of the URL.
URL_PARSER = {"sort_query": False, "fragment": "keep", "tracking_params": "keep"}

# What the tools do, in our options. The preset `safe` is below them.
RULES: dict[str, Mapping[str, Mapping[str, Any]]] = {
    "wpt/urltestdata": {"*": URL_PARSER},
    "wpt/toascii": {"*": URL_PARSER},
    "w3lib/canonicalize_url": {"*": {"tracking_params": "keep"}},
    "urlcanon/semantic_precise": {
        "*": {
            "duplicate_slashes": "collapse",
            "fragment": "keep",
            "tracking_params": "keep",
            "userinfo": "drop",
        }
    },
    "urlcanon/funky_ipv4": {"*": URL_PARSER},
    "urlcanon/surt.google": {
        "*": {"duplicate_slashes": "collapse", "sort_query": False, "tracking_params": "keep"}
    },
    "crawler-commons/weirdToNormalized": {
        "*": {"duplicate_slashes": "collapse", "tracking_params": "keep"}
    },
    "purell/cases": {"*": URL_PARSER},
    "url-sanitize/vectors": {
        "*": {
            "drop_params": ["loclid", "tgclid"],
            "fragment": "keep",
            "sort_query": False,
        },
        "amazon.com": {"rewrite_path": [["/dp/{product}/ref={_reference}", "/dp/{product}"]]},
        "google.com/url": {"drop_params": ["sa"]},
        "twitter.com": {"drop_params": ["s", "t"]},
        "youtube.com": {"drop_params": ["feature", "si"]},
    },
}

HOSTS = {"wpt/toascii", "urlcanon/funky_ipv4"}
"""The groups whose vectors are hosts, not URLs."""

IS_OLD_ADA = int(version("ada-url").partition(".")[0]) < 4
"""Whether it refuses hosts as the standard did until 2026: all whose Punycode is not valid."""

W3LIB_ARGUMENTS: dict[tuple[str, str], Mapping[str, Any]] = {
    ("keep_fragments", "True"): {"fragment": "keep"},
    ("keep_blank_values", "False"): {"empty_params": "drop"},
    ("query_separator", "';'"): {"query_separator": ";"},
    # There is no option for it: what is read here is text.
    ("encoding", "'latin1'"): {},
    ("encoding", "'cp1251'"): {},
}

PURELL_USUALLY_SAFE: Mapping[str, Any] = {"trailing_slash": "strip"}
PURELL_UNSAFE: Mapping[str, Any] = {
    "directory_index": ["index.*", "default.*"],
    "duplicate_slashes": "collapse",
    "fragment": "drop",
    "scheme": "http",
    "sort_query": True,
}
PURELL_FLAGS: dict[str, Mapping[str, Any]] = {
    # All of it is always on with us.
    "FlagsSafe": {},
    "FlagDecodeDWORDHost": {},
    "FlagDecodeHexHost": {},
    "FlagDecodeOctalHost": {},
    "FlagDecodeUnnecessaryEscapes": {},
    "FlagLowercaseHost": {},
    "FlagLowercaseScheme": {},
    "FlagRemoveDefaultPort": {},
    "FlagRemoveDotSegments": {},
    "FlagRemoveEmptyPortSeparator": {},
    "FlagRemoveEmptyQuerySeparator": {},
    "FlagRemoveUnnecessaryHostDots": {},
    "FlagUppercaseEscapes": {},
    # There is no option that adds a label to the host.
    "FlagAddWWW": {},
    "FlagAddTrailingSlash": {"trailing_slash": "add"},
    "FlagForceHTTP": {"scheme": "http"},
    "FlagRemoveDirectoryIndex": {"directory_index": ["index.*", "default.*"]},
    "FlagRemoveDuplicateSlashes": {"duplicate_slashes": "collapse"},
    "FlagRemoveFragment": {"fragment": "drop"},
    "FlagRemoveTrailingSlash": {"trailing_slash": "strip"},
    "FlagRemoveWWW": {"www": "strip"},
    "FlagSortQuery": {"sort_query": True},
    "FlagsUsuallySafeGreedy": PURELL_USUALLY_SAFE,
    "FlagsUnsafeGreedy": {**PURELL_USUALLY_SAFE, **PURELL_UNSAFE, "www": "strip"},
    "FlagsAllGreedy": {**PURELL_USUALLY_SAFE, **PURELL_UNSAFE, "www": "strip"},
    "FlagsAllNonGreedy": {**PURELL_UNSAFE, "trailing_slash": "add"},
}


class Outcome(NamedTuple):
    """What a tool and what we make of one input; None is no http or https URL."""

    input: str
    expected: str | None
    ours: str | None


class Difference(NamedTuple):
    """Outcomes that differ for one reason."""

    reason: str
    is_of_spelling: bool
    """Whether what is expected has the canonical form that is ours."""
    cases: frozenset[tuple[str, Outcome]]
    """Each with its group."""


def vectors(shared: Path) -> dict[str, list[Vector]]:
    """Return all vectors by tool and group."""
    groups: dict[str, list[Vector]] = {}
    with (shared / "vectors" / "canonicalization.jsonl").open(encoding="utf-8") as lines:
        for vector in map(json.loads, lines):
            groups.setdefault(f"{vector['tool']}/{vector['group']}", []).append(vector)
    return groups


def listed_differences() -> list[Difference]:
    """Return what ``differences.toml`` lists."""
    text = Path(__file__).with_name("differences.toml").read_text(encoding="utf-8")
    return [
        Difference(
            difference["reason"],
            difference["is_of_spelling"],
            frozenset(
                (case["group"], Outcome(case["input"], case.get("expected"), case.get("ours")))
                for case in difference["cases"]
            ),
        )
        for difference in tomllib.loads(text)["difference"]
    ]


def canonicalizer(group: str, vector: Vector) -> Canonicalizer:
    """Return the canonicalizer that comes closest to what the tool does with *vector*."""
    rules = {**RULES[group]}
    for argument in (vector.get("kw") or {}).items():
        rules["*"] = {**rules["*"], **W3LIB_ARGUMENTS[argument]}
    for flag in filter(None, vector.get("flags", "").split(" | ")):
        rules["*"] = {**rules["*"], **PURELL_FLAGS[flag]}
    return Canonicalizer(rules)


def as_url(group: str, text: str) -> str:
    """Return *text* as a URL, where the group is about hosts."""
    return f"https://{text}/x" if group in HOSTS else text


def absolute(vector: Vector) -> str:
    """Return the input of *vector*, joined with its base where that makes a difference."""
    text: str = vector["input"]
    if vector.get("base") is None:
        return text
    try:
        joined = ada_url.join_url(vector["base"], text)
    except ValueError:
        return text
    return text if ada_url.check_url(text) and ada_url.normalize_url(text) == joined else joined


def outcome(group: str, vector: Vector) -> Outcome:
    """Return what becomes of *vector*."""
    expected = vector["expected"]
    if expected is not None:
        expected = as_url(group, expected)
        if not expected.startswith(("http://", "https://")):
            expected = None
    url = absolute({**vector, "input": as_url(group, vector["input"])})
    explanation = canonicalizer(group, vector).explain(url)
    if explanation.problem:
        assert explanation.canonical == url
        return Outcome(vector["input"], expected, None)
    return Outcome(vector["input"], expected, explanation.canonical)


def test_vectors_are_of_the_groups_that_have_rules_here(shared: Path) -> None:
    """No group is left out, neither of the vectors nor of the differences."""
    assert vectors(shared).keys() == RULES.keys()
    assert {group for listed in listed_differences() for group, _ in listed.cases} <= RULES.keys()


@pytest.mark.parametrize("group", RULES)
def test_differences_are_those_that_are_listed(shared: Path, group: str) -> None:
    """All other vectors become what the tool makes of them, and these what is listed."""
    outcomes = {outcome(group, vector) for vector in vectors(shared)[group]}
    different = {found for found in outcomes if found.ours != found.expected}
    listed = Counter(
        case for difference in listed_differences() for of, case in difference.cases if of == group
    )
    if IS_OLD_ADA:
        # Nothing is made of a host that it refuses, and nothing else of any other.
        different -= {found for found in different - listed.keys() if found.ours is None}
    assert sorted(map(str, different)) == sorted(map(str, listed.elements()))


@pytest.mark.parametrize("group", RULES)
def test_differences_of_spelling_are_of_nothing_else(shared: Path, group: str) -> None:
    """What is expected becomes ours where the spelling differs, and does not elsewhere."""
    only_spelling = {
        case: difference.is_of_spelling
        for difference in listed_differences()
        for of, case in difference.cases
        if of == group and case.expected is not None and case.ours is not None
    }
    found = {
        case: canonicalizer(group, vector).canonicalize(case.expected) == case.ours
        for vector in vectors(shared)[group]
        if (case := outcome(group, vector)) in only_spelling and case.expected is not None
    }
    assert found == only_spelling


def test_preset_scrapy_is_w3lib(shared: Path) -> None:
    """With the preset ``scrapy`` the http and https vectors of w3lib come out to the letter."""
    scrapy = Canonicalizer(preset="scrapy")
    found = {
        vector["input"]: (scrapy.canonicalize(vector["input"]), vector["expected"])
        for vector in vectors(shared)["w3lib/canonicalize_url"]
        if not vector["kw"] and vector["input"].startswith("http")
    }
    assert {url: pair for url, pair in found.items() if pair[0] != pair[1]} == {}
    assert len(found) > 40
