"""On which hosts the order of the parameters matters: every preset sorts them.

Nearly every server reads parameters by name. Where one does not, or shows a listing that has no
order of its own in another one each time, the URL that is not fetched had other content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import MAX_FALSE, lower_bound
from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Reordered(NamedTuple):
    """Two URLs that differ in the order of their parameters only, and what they showed."""

    host: str
    one: str
    other: str
    is_same: bool


def are_reordered(one: str, other: str) -> bool:
    """Tell whether two URLs differ in the order of their parameters.

    >>> are_reordered("http://a.example/?b=1&a=2", "http://a.example/?a=2&b=1")
    True
    >>> are_reordered("http://a.example/?b=1&a=2", "http://a.example/?b=1&a=2#top")
    False
    """
    queries = [url.partition("#")[0].partition("?")[2].split("&") for url in (one, other)]
    return queries[0] != queries[1] and sorted(queries[0]) == sorted(queries[1])


def rules_of_order(
    domain: str, seen: Iterable[Reordered], confidence: float
) -> Iterator[LearnedRule]:
    """Yield the hosts of a domain whose parameters are not to be sorted."""
    by_host: dict[str, list[Reordered]] = {}
    for pair in seen:
        by_host.setdefault(pair.host, []).append(pair)
    for host, pairs in sorted(by_host.items()):
        differ = [pair for pair in pairs if not pair.is_same]
        bound = lower_bound(len(differ), len(pairs) - len(differ), confidence)
        if bound > MAX_FALSE:
            evidence = Evidence(
                pages=len(differ),
                counter_examples=len(pairs) - len(differ),
                bound=bound,
                confidence=confidence,
                examples=tuple(sorted((pair.one, pair.other) for pair in differ)[:3]),
            )
            yield LearnedRule(domain, host, "sort_query", False, "apart", evidence)  # noqa: FBT003
