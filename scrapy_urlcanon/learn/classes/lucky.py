"""Classes with one value of a parameter that may be but the luckiest of all its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.templates import parse_template
from scrapy_urlcanon.exceptions import TemplateError
from scrapy_urlcanon.learn.location import to_url
from scrapy_urlcanon.learn.operations.parameters import DropValue
from scrapy_urlcanon.learn.trials.siblings import Siblings, siblings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation
    from scrapy_urlcanon.learn.rates import Rate
    from scrapy_urlcanon.learn.thresholds import Thresholds

    RateBeside: TypeAlias = Callable[[tuple[Operation, ...]], Rate]


def lost_by_rivals(
    found: SkipClass, groups: Groups, thresholds: Thresholds, rate_beside: RateBeside
) -> int:
    """Return how many pages other values lose, in place of one that may be but the luckiest.

    Where each of three tabs has something to say of few things, one may have had none yet.

    :param rate_beside: how often captures change, as all candidates but one tell it.
    """
    return sum(
        of.pooled.lost
        for drop, others in _values(found)
        for of in _siblings(groups, found, drop, others)
        if not thresholds.special_word(of.own, of.pooled, of.rivals, rate_beside((drop,)))
    )


def _siblings(
    groups: Groups, found: SkipClass, drop: DropValue, others: Template
) -> Iterator[Siblings]:
    def holds(url: Location) -> bool:
        return others.match(to_url(url)) is not None

    changes = {url: drop.apply(url) for url in found.members}
    return siblings(groups, (drop,), changes, holds)


def _values(found: SkipClass) -> Iterator[tuple[DropValue, Template]]:
    """Yield what drops each value in the template of a class, and that with any in its place.

    >>> from scrapy_urlcanon.learn.classes.members import SkipClass
    >>> [drop for drop, _ in _values(SkipClass("a.example", "/o/{a:digits}?tab=shows&b={b}"))]
    [DropValue(name='tab', value='shows')]
    """
    path, _, query = found.template.partition("?")
    params = query.split("&")
    for place, param in enumerate(params):
        name, _, value = param.partition("=")
        drop = DropValue(name, value)
        if not value or "{" in param or not drop.is_valid:
            continue
        others = [*params[:place], f"{name}={{value}}", *params[place + 1 :]]
        try:
            yield drop, parse_template(f"{path}?{'&'.join(others)}")
        except TemplateError:
            continue  # it has as many places as a template may have
