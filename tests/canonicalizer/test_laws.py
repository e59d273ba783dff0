"""What holds for any text, any preset and any rules."""

from __future__ import annotations

import gzip
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from zlib import crc32

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.utils.request import fingerprint

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.canonicalizer.presets import PRESETS

from .strategies import mutated, respelled, rules, texts, urls, urls_with_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CANONICALIZERS = {preset: Canonicalizer(preset=preset) for preset in PRESETS}


@lru_cache(maxsize=1)
def corpus(shared: Path) -> list[str]:
    """Return the URLs of the corpus of popular sites, each once."""
    with gzip.open(shared / "corpora" / "top100.txt.gz", "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def request(url: str) -> Request | None:
    """Return the request for *url*, or None where Scrapy takes it for none or finds no host."""
    try:
        made = Request(url)
    except ValueError:
        return None
    return made if urlsplit(made.url).hostname else None


def check(canonicalizer: Canonicalizer, url: str) -> None:
    """Assert what holds for every canonicalizer and every text."""
    explanation = canonicalizer.explain(url)
    canonical = explanation.canonical
    assert explanation.url == url
    assert canonicalizer.canonicalize(url) == canonical
    assert canonicalizer.canonicalize(canonical) == canonical
    # One step begins where the one before it ends, and each does something.
    befores = [step.before for step in explanation.steps]
    afters = [step.after for step in explanation.steps]
    assert [*befores, canonical] == [url, *afters]
    assert all(step.before != step.after for step in explanation.steps)
    assert all(step.option and step.layer for step in explanation.steps)
    if explanation.problem is None:
        assert canonicalizer.canonical_or_none(url) == canonical
        assert canonicalizer.explain(canonical).steps == ()
    else:
        assert explanation.problem
        assert canonical == url
        assert canonicalizer.canonical_or_none(url) is None


def check_merges(urls: Iterable[str]) -> int:
    """Assert that `safe` merges of *urls* all that Scrapy does, and `scrapy` just that.

    What cannot be parsed has Scrapy's own fingerprint, so it is merged as Scrapy does.

    :return: how many of them Scrapy merges with one before.
    """
    keys: dict[str, dict[bytes, str | None]] = {"safe": {}, "scrapy": {}}
    fingerprints: dict[str | None, bytes] = {}
    merged = 0
    for made in filter(None, map(request, urls)):
        of_scrapy = fingerprint(made)
        merged += of_scrapy in keys["safe"]
        for preset, key_of in keys.items():
            key = CANONICALIZERS[preset].canonical_or_none(made.url)
            assert key_of.setdefault(of_scrapy, key) == key, (preset, made.url)
            if preset == "scrapy" and key is not None:
                assert fingerprints.setdefault(key, of_scrapy) == of_scrapy, made.url
    return merged


@given(url=texts | urls() | mutated(urls()))
def test_laws_hold_for_any_text(url) -> None:
    """Any text has a canonical form, which is its own, and the steps lead to it."""
    for canonicalizer in CANONICALIZERS.values():
        check(canonicalizer, url)


@example(  # What the rules of one host make of the URL, those of the other change again.
    rules={
        "www.example.com": {"inherit": False, "www": "strip"},
        "example.com": {"drop_params": ["a"]},
    },
    preset="safe",
    urls=["http://www.example.com/?a=1"],
)
@example(  # Of one condition on the query, the same.
    rules={
        "example.com": {"drop_params": ["a", "sid"]},
        "example.com?sid": {"drop_params": ["!a"]},
    },
    preset="safe",
    urls=["http://example.com/?a=1&sid=2"],
)
@example(  # The next index file shows when the first is gone.
    rules={"*": {"directory_index": ["index.*"], "trailing_slash": "strip"}},
    preset="scrapy",
    urls=["http://example.com/a/index.php/index.html/"],
)
@example(  # What begins the inner URL shows when the path is decoded, or its dots are gone.
    rules={"*": {"nested_url": "unwrap"}},
    preset="safe",
    urls=["http://example.com/a/%68ttp://b.com/", "http://example.com/http:/.//b.com/"],
)
@given(
    rules=rules,
    preset=st.sampled_from(list(PRESETS)),
    urls=st.lists(urls_with_rules, min_size=1, max_size=5),
)
def test_laws_hold_under_any_rules(rules, preset, urls) -> None:
    """Whatever the rules of the user, the laws hold."""
    canonicalizer = Canonicalizer(rules, preset=preset)
    for url in urls:
        check(canonicalizer, url)


IN_QUERIES = ["12-a", "12-a=", "/t/1", "a+b", "a%2Bb", "a%3Db", "a;1-b", "..", "print", "a=1", ""]
BESIDE = {
    "query_separator": [";"],
    "sort_query": [False],
    "empty_params": ["drop"],
    "drop_params": [["1*"], ["a"]],
    "keep_params": [["a"]],
    "param_case": ["lower"],
}


@settings(max_examples=settings.default.max_examples // 3)
@given(
    pairs=st.lists(
        st.sampled_from(
            [
                ["/x?{id:digits}-{text}", "/x?{id}-"],
                ["/x?/t/{id}", "/x?id={id}"],
                ["/x?a={id}", "/x?a+{id}"],
                ["/x?{rest:path}&a={a}", "/z/{rest}?a={a}"],
                ["/y/{any}", "/x?{any}"],
            ]
        ),
        min_size=1,
        max_size=2,
        unique_by=str,
    ),
    options=st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in BESIDE.items()}
    ),
    path=st.sampled_from(["/x?", "/y/a;b?", "/y/12-a+b?"]),
    pieces=st.lists(st.sampled_from(IN_QUERIES), max_size=3).map("&".join),
)
def test_laws_hold_for_paths_in_queries(pairs, options, path, pieces) -> None:
    """Whatever else is done to a query, what a template makes of a path in it has one form."""
    canonicalizer = Canonicalizer({"example.com": {**options, "rewrite_path": pairs}})
    check(canonicalizer, f"http://example.com{path}{pieces}")


@given(pair=respelled(urls()) | st.tuples(urls(), urls()) | respelled(mutated(urls())))
def test_presets_merge_what_scrapy_merges(pair) -> None:
    """Two spellings that are one URL to Scrapy are one to ``safe`` and to ``scrapy``."""
    check_merges(pair)


SHORT_URLS = {
    "host": ("http://example.com", ". : / ? # @ :80 :0080 %2e 。 a A ａ"),
    "userinfo": ("http://u", ": @ % é %C3%A9 a: @h @H/ :80 ?@ #@ /@"),
    "address": ("http://[", ":: : 0 00 1 F ] ]: 1.2.3.4 f:0"),
    "path": ("http://example.com/", "a . .. / /; ; ? = # %2e %2F %3B %25 % \\ index.html %3 41"),
    "query": ("http://example.com/?", "a b = & + ; / # %20 %26 %3d %2B % é %C3%A9 gclid"),
}
"""What all URLs of a kind begin with, and the tokens that any three of follow."""


def short_urls(kind: str) -> Iterator[str]:
    """Yield all URLs of a kind."""
    prefix, tokens = SHORT_URLS[kind]
    for length in range(4):
        for end in product(tokens.split(), repeat=length):
            yield prefix + "".join(end)


@pytest.mark.parametrize("kind", SHORT_URLS)
def test_presets_merge_what_scrapy_merges_of_short_urls(kind: str) -> None:
    """No two short URLs of a kind are split or merged wrongly."""
    assert check_merges(short_urls(kind)) > 0


@pytest.mark.parametrize("kind", SHORT_URLS)
def test_laws_hold_for_short_urls(kind: str) -> None:
    """The laws hold for all short URLs of a kind under the preset with the most rules."""
    for url in short_urls(kind):
        check(CANONICALIZERS["aggressive"], url)


@pytest.mark.parametrize(
    ("hosts", "merged"), [(5, 100), pytest.param(1, 500, marks=pytest.mark.long)]
)
def test_presets_merge_what_scrapy_merges_of_corpus(shared: Path, hosts: int, merged: int) -> None:
    """No two real URLs that Scrapy merges are split, and ``scrapy`` merges no others.

    In the short form those of one host in five.
    """
    urls = (
        url for url in corpus(shared) if crc32("".join(url.split("/")[2:3]).encode()) % hosts == 0
    )
    assert check_merges(urls) > merged


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_canonical_urls_of_corpus_are_their_own(shared: Path, step: int) -> None:
    """What ``safe`` makes of real URLs, it leaves alone."""
    safe = CANONICALIZERS["safe"]
    urls = corpus(shared)[::step]
    canonicals = set(map(safe.canonicalize, urls))
    assert {url for url in canonicals if safe.canonicalize(url) != url} == set()
    assert 0.9 * len(urls) < len(canonicals) < len(urls)


def test_laws_hold_for_corpus(shared: Path) -> None:
    """The laws hold for one in 50 of the real URLs, under every preset."""
    for canonicalizer in CANONICALIZERS.values():
        for url in corpus(shared)[::50]:
            check(canonicalizer, url)


def test_laws_hold_for_mutated_corpus(shared: Path) -> None:
    """The laws hold for real URLs with odd characters put in, and for respellings of them."""
    real = st.sampled_from(corpus(shared))

    @given(url=mutated(real), pair=respelled(real))
    def hold(url: str, pair: tuple[str, str]) -> None:
        for canonicalizer in CANONICALIZERS.values():
            check(canonicalizer, url)
        check_merges(pair)

    hold()
