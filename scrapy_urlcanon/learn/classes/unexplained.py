"""What is left: duplicates for which no rule was found, by what their URLs differ in."""

from __future__ import annotations

from collections import Counter
from itertools import filterfalse
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.shapes import templates_of
from scrapy_urlcanon.learn.location import name_of, readable, reading_order
from scrapy_urlcanon.learn.results.rule import Unexplained

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import LearnedRule

#: Differences of one domain that are told.
MAX_DIFFERENCES = 5


def unexplained(groups: Groups, rules: Iterable[LearnedRule]) -> list[Unexplained]:
    """Return what the rules leave of the duplicates outside sinks, the largest part first.

    :param groups: what the rewrites make of the URLs.
    :param rules: all rules; what a ``skip`` among them is for is explained.
    """
    skipped = {template for rule in rules if rule.option == "skip" for template in rule.setting}
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for page in filterfalse(groups.site.is_sink, groups.duplicates()):
        first, *others = sorted(groups.forms(page), key=_length)
        for other in others:
            if not skipped.isdisjoint((*templates_of(first), *templates_of(other))):
                continue
            what = difference(first, other)
            counts[what] += 1
            examples.setdefault(what, (first.url, other.url))
    return [
        Unexplained(groups.site.domain, what, count, examples[what])
        for what, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ][:MAX_DIFFERENCES]


def difference(one: Location, other: Location) -> str:
    """Return what two URLs differ in.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> difference(locate("http://a.example/x?b=1&c=2"), locate("http://a.example/y?b=1&c=3&d"))
    '<path> c d'
    >>> difference(locate("http://a.example/?b=1"), locate("http://a.example/?b=1&b=1"))
    'b'
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
    mine, theirs = Counter(one.params), Counter(other.params)
    names = {readable(name_of(param)) for param in (mine - theirs) + (theirs - mine)}
    return " ".join(parts + sorted(names))


def _length(location: Location) -> tuple[int, object]:
    return len(location.params), reading_order(location)
