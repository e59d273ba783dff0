"""Counts the duplicates for which no rule was found, by the difference between their URLs."""

from __future__ import annotations

from collections import Counter
from itertools import filterfalse
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.shapes import templates_of
from scrapy_urlcanon.learn.location import name_of, readable, reading_order
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.results.rule import Unexplained, beside
from scrapy_urlcanon.wording import by_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule

MAX_DIFFERENCES = 5
"""How many differences of one domain are reported."""


def unexplained(groups: Groups, rules: Iterable[LearnedRule]) -> list[Unexplained]:
    """Return the duplicates that no rule explains, by difference, the most frequent first.

    Pages that are sinks are left out.

    :param groups: the URLs after the rewrites.
    :param rules: all rules; duplicates that their ``skip`` or sinks cover are explained.
    """
    rules = [*rules]
    skipped = {template for rule in rules if rule.is_skip for template in rule.setting}
    sinks = [rule for rule in rules if rule.kind == "sink"]
    form = beside(None, sinks, "scrapy").canonicalize if sinks else None
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[Location, Location]] = {}
    for page in filterfalse(groups.site.is_sink, groups.duplicates()):
        first, *others = sorted(groups.forms(page), key=_length)
        for other in others:
            if not skipped.isdisjoint((*templates_of(first), *templates_of(other))):
                continue
            if form and form(first.as_linked) == form(other.as_linked):
                continue
            what = difference(first, other)
            counts[what] += 1
            examples.setdefault(what, (first, other))
    found = []
    for what, count in by_count(counts)[:MAX_DIFFERENCES]:
        one, other = examples[what]
        lost = _lost(groups, one, other)
        example = one.as_linked, other.as_linked
        found.append(Unexplained(groups.site.domain, what, count, example, lost))
    groups.forget_index()
    return found


def _lost(groups: Groups, one: Location, other: Location) -> int:
    """Return how many pages of the crawl a rule would lose that drops what two URLs differ in."""
    if one.place != other.place:
        return 0
    steps = [DropParam(name) for name in sorted(_names(one, other))]
    return sum(merge.agreement.lost for merge in groups.merges(groups.affected(steps)))


def difference(one: Location, other: Location) -> str:
    """Return what two URLs differ in: parts in angle brackets, and names of parameters.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> difference(locate("http://a.example/x?b=1&c=2"), locate("http://a.example/y?b=1&c=3&d"))
    '<path> c d'
    >>> difference(locate("http://a.example/?b=1"), locate("http://a.example/?b=1&b=1"))
    'b'
    >>> difference(locate("http://a.example/?/7/tags/4&c=2"), locate("http://a.example/?/8/tags/4"))
    '<path> c'
    """
    parts = [
        f"<{name}>"
        for name, mine, theirs in zip(
            ("scheme", "host", "path"),
            (*one.origin, one.path),
            (*other.origin, other.path),
            strict=True,
        )
        if mine != theirs
    ]
    return " ".join(parts + sorted(map(readable, _names(one, other))))


def _names(one: Location, other: Location) -> set[str]:
    """Return the names of the parameters that two URLs differ in."""
    mine, theirs = Counter(one.params), Counter(other.params)
    return {name_of(param) for param in (mine - theirs) + (theirs - mine)}


def _length(location: Location) -> tuple[int, object]:
    return len(location.params), reading_order(location)
