"""Finds the hosts where the order of parameters matters, which every preset sorts.

Also those where it does not, though ``;`` between the parameters hides it from a preset.

Nearly every server reads parameters by name. If one does not, the variant that a crawl drops had
other content.

A page that differs from visit to visit, such as one with a random block, also differs between two
orders. So differences between orders are compared with those between two visits, for pages of the
same kind: on many sites only listings change, or everything else does.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import MAX_FALSE, at_most_drawn, lower_bound
from scrapy_urlcanon.learn.classes.shapes import shape_of
from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES, Evidence, LearnedRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.thresholds import Thresholds


class Reordered(NamedTuple):
    """Two URLs that differ in the order of their parameters only, and what they showed."""

    host: str
    one: str
    other: str
    is_same: bool
    separator: str = "&"
    """What separates these parameters; with ``;`` the URLs may also differ in the separator."""


class Visited(NamedTuple):
    """A URL that was visited twice, and whether both visits showed one page."""

    host: str
    path: str
    is_steady: bool


def separator_of(one: str, other: str) -> str:
    """Return what separates parameters of which two URLs differ in the order; empty if in more.

    >>> separator_of("http://a.example/?b=1&a=2", "http://a.example/?a=2&b=1")
    '&'
    >>> separator_of("http://a.example/?b=1;a=2", "http://a.example/?a=2&b=1")
    ';'
    >>> separator_of("http://a.example/?b=1&a=2", "http://a.example/?b=1&a=2#top")
    ''
    """
    one, other = (url.partition("#")[0].partition("?")[2] for url in (one, other))
    if one != other:
        for separator, between in (("&", "&"), (";", "[&;]")):
            if sorted(re.split(between, one)) == sorted(re.split(between, other)):
                return separator
    return ""


def rules_of_separators(
    domain: str, seen: Iterable[Reordered], thresholds: Thresholds
) -> Iterator[LearnedRule]:
    """Yield a rule for each host where ``;`` separates parameters that are linked in any order.

    To a preset a query with ``;`` is a single value, so it keeps the orders apart.
    """
    for host, pairs in _by_host(seen, ";"):
        same = [pair for pair in pairs if pair.is_same]
        lost = len(pairs) - len(same)
        if thresholds.is_enough(len(same), lost) and lost <= thresholds.lost * len(pairs):
            evidence = Evidence(
                pages=len(same),
                merges=len(same),
                counter_examples=lost,
                bound=lower_bound(len(same), lost, thresholds.confidence),
                examples=tuple(sorted((pair.one, pair.other) for pair in same)[:MAX_EXAMPLES]),
            )
            yield LearnedRule(domain, host, "query_separator", ";", "rewrite", evidence)


def rules_of_order(
    domain: str, seen: Iterable[Reordered], visited: Iterable[Visited], confidence: float
) -> Iterator[LearnedRule]:
    """Yield a rule ``sort_query = false`` for each host whose parameters must not be sorted."""
    steady = Counter((one.host, shape_of(one.path), one.is_steady) for one in visited)
    for host, pairs in _by_host(seen, "&"):
        differ = [pair for pair in pairs if not pair.is_same]
        bound = lower_bound(len(differ), len(pairs) - len(differ), confidence)
        if bound > MAX_FALSE and not _may_be_change(differ, len(pairs), steady, confidence):
            evidence = Evidence(
                pages=len(differ),
                counter_examples=len(pairs) - len(differ),
                bound=bound,
                examples=tuple(sorted((pair.one, pair.other) for pair in differ)[:MAX_EXAMPLES]),
            )
            yield LearnedRule(domain, host, "sort_query", False, "apart", evidence)  # noqa: FBT003


def _by_host(seen: Iterable[Reordered], separator: str) -> list[tuple[str, list[Reordered]]]:
    """Return the pairs with this separator by host, in order."""
    by_host: dict[str, list[Reordered]] = {}
    for pair in seen:
        if pair.separator == separator:
            by_host.setdefault(pair.host, []).append(pair)
    return sorted(by_host.items())


def _may_be_change(
    differ: Sequence[Reordered],
    count: int,
    steady: Counter[tuple[str, str, bool]],
    confidence: float,
) -> bool:
    """Tell whether pages differ at second visits about as often as between two orders.

    That is so unless differences at visits are significantly rarer (Fisher's exact test).

    :param differ: the pairs of a host that differ.
    :param count: how many pairs there are.
    :param steady: the number of second visits by host, shape of the path, and whether both visits
        showed the same page.
    """
    kinds = {(pair.host, shape_of(locate(pair.one).path)) for pair in differ}
    moved, stayed = (sum(steady[(*kind, told)] for kind in kinds) for told in (False, True))
    visits = moved + stayed
    likelihood = at_most_drawn(moved, visits, moved + len(differ), visits + count)
    return moved > 0 and likelihood >= 1.0 - confidence
