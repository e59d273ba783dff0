"""The fast path against the reference implementation: where it answers, they agree."""

from __future__ import annotations

import gzip
import random
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request

from scrapy_urlcanon.canonicalizer import Canonicalizer, fast, fast_policy
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.rule_files.clean_param import read_clean_param

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# What the fast path has a branch for; the presets come on top.
RULES = {
    "no rules": {},
    "parameters": {
        "*": {
            "drop_params": ["ref", "s*", "!sort"],
            "default_params": {"page": "1"},
            "empty_params": "drop",
        },
        "example.com": {"keep_params": ["id", "*[b]", "\u00e9"]},
        "com": {"drop_params": ["!ref"], "sort_query": False},
    },
    "hosts and paths": {
        "*": {"trailing_slash": "strip"},
        "com": {"www": "strip", "duplicate_slashes": "collapse"},
        "example.com": {"trailing_slash": "add", "directory_index": ["index.*"]},
        "www.bbc.co.uk": {"scheme": "http", "fragment": "keep", "inherit": False},
    },
    # The stripped host has other rules than the host.
    "rules of the stripped host": {
        "www.example.com": {"www": "strip", "drop_params": ["id"]},
        "example.com": {"fragment": "drop", "trailing_slash": "strip", "scheme": "https"},
    },
    "the rest of the catalogue": {
        "*": {"path_params": ["a*"], "drop_params": ["x*"], "default_params": {"id": "1"}},
        "com": {
            "host_aliases": {"example.com": "www.example.com", "example.com:8080": "localhost"},
            "query_separator": ";",
        },
        "www.www.example.com": {"inherit": False, "subdomain_to_path": ["www"]},
        "org": {"param_case": "lower", "path_case": "lower", "userinfo": "drop"},
        "bbc.co.uk": {"rewrite_path": [["/a/{slug}", "/{slug}"]], "nested_url": "unwrap"},
        "xn--bcher-kva.example": {"path_case": "lower", "drop_params": ["sig"]},
        "localhost": {"rewrite_path": [["/index?id={id}", "/{id}"]], "fragment": "routing"},
    },
    "names, values, labels and ports": {
        "*": {
            "name_case": "ignore",
            "drop_params": ["REF", "!Page"],
            "default_params": {"ID": "1"},
            "drop_values": {"s*": "alnum{1}", "sig": "digits"},
            "empty_params": "drop",
            "directory_index": ["INDEX.html"],
        },
        "example.com": {"port": "drop", "drop_labels": ["WWW"], "cookieless_session": "drop"},
        "com": {"www": "add", "lower_values": ["id"], "amp": "unwrap"},
        "localhost": {"unwrap_params": ["ref"], "escaped_ampersand": "decode"},
        "bbc.co.uk": {"www": "strip_www", "drop_values": {"*": "hex{2-3}"}},
    },
    "what is learned": {
        "*": {"query_separator": ";", "repeated_params": "drop"},
        "example.com": {
            "rewrite_path": [
                ["/a/{slug}", "/{slug}"],
                ["/index.php?id={id}", "/{id}"],
                ["/{a}-{b:digits}", "/b?id={b}"],
                ["/{_x:a|b}/{rest:path}", "/{rest}"],
                ["/?page={n:digits}", "/page/{n}"],
                ["/index.php?{slug}-{_n:digits}", "/b?{slug}"],
            ],
            "drop_params": ["ref"],
        },
        "www.example.com": {"subdomain_to_path": ["www", "b"], "param_case": "lower"},
        "a_b.example.org": {"subdomain_to_path": ["*"], "trailing_slash": "strip"},
        "bbc.co.uk": {"lower_values": ["id", "sort"], "unwrap_params": ["ref"], "fragment": "keep"},
        "localhost": {"nested_url": "unwrap", "amp": "unwrap", "escaped_ampersand": "decode"},
        "localhost/a": {"rewrite_path": [["/a/{x}?id={id}", "/a/{id}/{x}"]], "www": "strip"},
        "localhost?sort": {"drop_params": ["sort"]},
        "localhost/index.php?id=1": {"keep_params": ["id"]},
    },
    "pairs of paths alone": {
        "*": {
            "rewrite_path": [["/a/{slug}", "/{slug}"], ["/{a}-{b:digits}", "/{b}"]],
            "param_case": "lower",
            "lower_values": ["id", "sort"],
            "drop_params": ["ref"],
            "default_params": {"page": "1"},
            "empty_params": "drop",
        },
        "example.com": {"rewrite_path": [["/{_x:a|b}/{rest:path}", "/{rest}"]]},
        "com": {"query_separator": ";", "repeated_params": "drop"},
        "localhost/a": {"drop_params": ["id"], "keep_params": ["sort", "a*"]},
        "localhost?sort": {"drop_params": ["sort"]},
        "a_b.example.org": {"subdomain_to_path": ["*"], "param_case": "keep"},
    },
    "names below any suffix": {
        "example.*": {"drop_params": ["id"], "www": "strip"},
        "www.*": {"trailing_slash": "add", "scheme": "http"},
    },
    "conditions on path and query": {
        "*?sort": {"empty_params": "drop"},
        "*?id=1*": {"drop_params": ["sort", "ref"]},
        "com/a": {"keep_params": ["id"], "fragment": "keep"},
        "example.com/index.html": {"directory_index": ["index.html"], "www": "strip"},
    },
}
SETS = [(preset, name) for preset in PRESETS for name in RULES]

# Of each the usual ones, and what is next to the borders of "plain".
HOSTS = [
    "example.com", "www.example.com", "www.www.example.com", "www.com", "www.bbc.co.uk",
    "a_b.example.org", "EXAMPLE.com", "example.com:80", "example.com:8080", "example.com.",
    "user@example.com", "1.2.3.4", "1.2.3.0x4", "256", "localhost", "[::1]", "xn--a.com",
    "xn--bcher-kva.example", "b\u00fccher.example", "-.com", "a..com", "a b.com", "a%2ecom", "",
]  # fmt: skip
TOKENS = [
    *"/?#&=%;.+:@! '\"\\\t\u00e9-_~Az09", "//", "/.", "/../", "/.a", "%2F", "%41", "%7e", "%e9",
    "%C3%A9", "%20", "&&", "?id=1", "&id=10", "&sort=", "&ref=x", "&=x", "page=1", "a[b]=",
    "a%5Bb%5D", "index.html", "/index.php", ";a", "utm_source=x", "gclid", "/a/",
    "&SIG=7", "&amp;REF=1", "/(S(a1))", "ref=http://b.com", ":~:", "%C3%89",
    "?sig=1&sv=2", "&X-Amz-Signature=0", ";id=1", "/http://example.com/", "\ud800", "\n",
]  # fmt: skip

urls = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://"] * 4 + ["https://"] * 4 + ["HTTP://", "ftp://", "//", "http:"]),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(TOKENS), max_size=8).map("".join),
)


def assert_agree(canonicalizer: Canonicalizer, urls: Iterable[str]) -> None:
    """Assert that the fast path leaves *urls* to the reference or does as it does."""
    for url in urls:
        canonical = canonicalizer.fast_path.canonical(url)
        if canonical is not None:
            explanation = canonicalizer.explain(url)
            assert (explanation.problem, explanation.canonical) == (None, canonical), url


def mutated(urls: list[str], count: int) -> Iterable[str]:
    """Return *count* times one of *urls* with tokens put in, or in place of others."""
    choose = random.Random(count)
    for _ in range(count):
        url = choose.choice(urls)
        for _ in range(choose.randint(1, 3)):
            start = choose.randint(0, len(url))
            url = url[:start] + choose.choice(TOKENS) + url[start + choose.randint(0, 2) :]
        yield url


@lru_cache(maxsize=1)
def corpus(shared: Path) -> list[str]:
    """Return the URLs of popular sites."""
    with gzip.open(shared / "corpora" / "top100.txt.gz", "rt", encoding="utf-8") as lines:
        return lines.read().splitlines()


def requested(found: Iterable[str]) -> list[str]:
    """Return URLs as a request has them, without those that make none."""
    made = []
    for url in found:
        with suppress(ValueError):
            made.append(Request(url).url)
    return made


CANONICALIZERS = [Canonicalizer(RULES[name], preset=preset) for preset, name in SETS]


@given(urls)
@settings(max_examples=2 * settings.default.max_examples)
def test_agrees_with_the_reference(url) -> None:
    """Where the fast path has an answer, it is that of the reference, under each set of rules."""
    # To make the examples takes longer than to check them: each set has the same ones.
    for canonicalizer in CANONICALIZERS:
        assert_agree(canonicalizer, [url])


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("preset", "name"), SETS)
def test_agrees_with_the_reference_on_real_urls(preset, name, step, shared) -> None:
    """So it has for the URLs of popular sites, and for what is nearly one of them."""
    canonicalizer = Canonicalizer(RULES[name], preset=preset)
    # In the long form all of the corpus, each of its URLs under one set of rules.
    sample = requested(corpus(shared)[SETS.index((preset, name)) :: step * len(SETS)])
    assert_agree(canonicalizer, sample)
    assert_agree(canonicalizer, mutated(sample, 3000 // step))


def test_agrees_with_the_reference_when_its_caches_are_full(monkeypatch) -> None:
    """What is forgotten is found again: the bounds of the caches change no answer."""
    for name in ("_CACHED_PREFIXES", "_CACHED_POLICIES"):
        monkeypatch.setattr(fast, name, 2)
    monkeypatch.setattr(fast_policy, "_CACHED_NAMES", 2)
    canonicalizer = Canonicalizer(RULES["parameters"])
    some = [
        f"http://{host}/{number}?id=1&ref=2&{name}=3"
        for number in range(2)
        for host in ("a.example", "b.example.com", "c.com", "d.net", "e.org", "example.com")
        for name in ("sort", "sid", "page", "a", "b")
    ]
    assert_agree(canonicalizer, some)
    assert len(canonicalizer.fast_path._prefixes) <= 2


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("host", ["example.com", "www.example.com", "com", "1.2.3.4"])
def test_agrees_with_the_reference_on_what_a_site_declares(preset, host) -> None:
    """Also of a host that was without rules before, and of the one that it becomes."""
    canonicalizer = Canonicalizer(preset=preset)
    some = [
        f"http://{name}/{path}"
        for name in (host, f"www.{host}", f"a.{host}", "www.example.com", "example.com", "b.org")
        for path in ("", "?sid=1&id=2", "a/?sid=1")
    ]
    assert_agree(canonicalizer, some)
    declared = read_clean_param(b"Clean-param: sid /")
    canonicalizer.declare(*declared.rule_sets(f"http://{host}/robots.txt"))
    assert_agree(canonicalizer, some)
    assert canonicalizer.canonicalize(f"http://{host}/c?sid=3").endswith("/c")


@pytest.mark.parametrize(
    ("preset", "share"), [("safe", 0.01), ("aggressive", 0.01), ("scrapy", 0.15)]
)
def test_answers_for_nearly_all_real_urls(preset, share, shared) -> None:
    """The reference is left the rare ones; with the preset `scrapy`, all that has escapes."""
    canonicalizer = Canonicalizer(preset=preset)
    sample = requested(corpus(shared)[::20])
    left = sum(canonicalizer.fast_path.canonical(url) is None for url in sample)
    assert left / len(sample) < share
