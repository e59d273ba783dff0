"""Compares the pages that each rule of a recognised program merges, with a control fetch of both.

``python -m benchmarks.profiles --rules`` crawls a program without profiles, and makes pairs of
the URLs that the crawl met: two that one rule merges, certain or not, and nothing else does.
Both are fetched again, twice: lines of text that differ between two fetches of one URL are
noise.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urldefrag
from urllib.request import urlopen

from benchmarks.novelty.news import lines
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.crawl.software.known_software import recognised_by
from scrapy_urlcanon.profiles.catalogue import our_profiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Response

    from benchmarks.novelty.crawling import Responses
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.rules import ProfileRule

MOST_PAIRS = 60
"""The most pairs of a rule that are fetched."""
_LOOKS = 200
_SHOWN = 1
_SECONDS = 60
_LONGEST = 100


@dataclass
class Met:
    """The URLs of a crawl that one rule merges, and how their pages compare."""

    program: str
    merges: str
    certain: bool
    pairs: int
    """The number of URLs that the rule would have dropped."""
    compared: int = 0
    differ: int = 0
    lost: int = 0
    """The number of pairs whose dropped URL has lines that no page has that the rule keeps."""
    examples: list[list[str]] = field(default_factory=list)
    """Pairs of URLs that differ, with lines that only one of them has; lost ones first."""


def proved(urls: Iterable[str], responses: Responses) -> list[dict[str, Any]]:
    """Return the results for each rule of the programs recognised in a crawl of *urls*."""
    urls = list(dict.fromkeys(urldefrag(url).url for url in urls))
    found = _installations(urls, responses)
    texts = {url: _text(response) for url in urls if (response := responses.at(url))}
    met = []
    for one in found:
        for rule in one.profile.rules:
            pairs = list(_pairs(one, rule, urls))
            if pairs:
                merged = {other for _, other in pairs}
                kept = frozenset().union(
                    *(text for url, text in texts.items() if url not in merged)
                )
                met.append(_compared(one, rule, pairs, kept))
    return [vars(each) for each in met]


def _installations(urls: Iterable[str], responses: Responses) -> list[Installation]:
    found: dict[tuple[str, str, str], Installation] = {}
    for number, url in enumerate(urls):
        response = responses.at(url)
        if number >= _LOOKS:
            break
        if response is not None and b"html" in (response.headers.get("Content-Type") or b""):
            for one in recognised_by(response, our_profiles()):
                if not any(other.covers(one) for other in found.values()):
                    found[one.profile.name, one.authority, one.place] = one
    return [
        one
        for one in found.values()
        if not any(other is not one and other.covers(one) for other in found.values())
    ]


def _pairs(one: Installation, rule: ProfileRule, urls: list[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of URLs that only *rule* merges, each with the first of them."""
    # Without what separates parameters no other rule knows what they are.
    base = tuple(each for each in one.profile.rules if set(each.options) == {"query_separator"})
    plain, with_rule = _declared(one, base), _declared(one, (*base, rule))
    if rule in base:
        # No link of a program has both.
        plain = Canonicalizer()
        urls = [form for url in urls for form in (url, url.replace(";", "&"))]
    first: dict[str, str] = {}
    seen: dict[str, set[str]] = defaultdict(set)
    for url in urls:
        before, after = plain.canonicalize(url), with_rule.canonicalize(url)
        kept = first.setdefault(after, url)
        if before not in seen[after]:
            seen[after].add(before)
            if kept != url:
                yield kept, url


def _declared(one: Installation, rules: tuple[ProfileRule, ...]) -> Canonicalizer:
    canonicalizer = Canonicalizer()
    held = (rule for certain in (False, True) for rule in one.rules(certain=certain))
    found = (each for rule in held if rule in rules for each in one.rule_sets_of(rule))
    canonicalizer.declare(one.host, tuple(found))
    return canonicalizer


def _compared(
    one: Installation, rule: ProfileRule, pairs: list[tuple[str, str]], elsewhere: frozenset[str]
) -> Met:
    met = Met(one.profile.name, rule.merges, rule.is_certain, len(pairs))
    if len(pairs) > MOST_PAIRS:
        pairs = Random(0).sample(pairs, MOST_PAIRS)
    for kept, other in pairs:
        met.compared += 1
        (status, text, noise), (other_status, other_text, other_noise) = _page(kept), _page(other)
        alone = (text ^ other_text) - noise - other_noise
        lost = other_text - text - noise - other_noise - elsewhere
        met.lost += bool(lost)
        if alone or status != other_status:
            met.differ += 1
            shown = [*sorted(lost), *sorted(alone - lost)]
            if len(met.examples) < _SHOWN:
                met.examples.append([kept, other, *(each[:_LONGEST] for each in shown[:6])])
    return met


def _page(url: str) -> tuple[int, frozenset[str], frozenset[str]]:
    """Return the status of *url*, its lines of text, and those that differ when fetched again."""
    (status, text), (_, again) = _fetched(url), _fetched(url)
    return status, text, text ^ again


def _text(response: Response) -> frozenset[str]:
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
    return frozenset(lines(response.body, kind))


def _fetched(url: str) -> tuple[int, frozenset[str]]:
    try:
        answer = urlopen(url, timeout=_SECONDS)  # of a program that was started here
    except HTTPError as error:
        answer = error
    with answer:
        body = answer.read()
        kind = answer.headers.get("Content-Type") or ""
        return answer.status, frozenset(lines(body, kind)) or frozenset([repr(body)])


def said(met: dict[str, Any]) -> str:
    """Return the results for a rule in a line, with the first difference below it."""
    word = "certain" if met["certain"] else "usual"
    text = (
        f"  {met['program']}, {word}: {met['merges']}: {met['pairs']} pairs,"
        f" {met['differ']} of {met['compared']} differ, {met['lost']} by what is nowhere else"
    )
    for each in met["examples"]:
        text += "\n      " + "\n        ".join(each)
    return text
