"""Estimates what share of a site's URLs a crawl has seen, by numbered parts of things.

If the third page of a topic was seen, there is a second one. So the share of parts that were seen,
between the first part of each thing and the last one seen, estimates the share of all URLs.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.classes.coverage import Share
from scrapy_urlcanon.learn.classes.shapes import shape_of
from scrapy_urlcanon.learn.location import Location, host_of, name_of, value_of, without_param
from scrapy_urlcanon.learn.vocabulary import PART_OF_LISTING, is_paging

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A number behind another one and a sign, such as in `7.15` or `topic7-15.html`.
_BEHIND_NUMBER = re.compile(r"(?<=[0-9])[^\w%]([0-9]{1,9})(?=[^0-9]*\Z)", re.ASCII)

# Longer numbers are identifiers.
_COUNT = re.compile("[0-9]{1,9}")

Kind: TypeAlias = "tuple[str, str, tuple[str, ...]]"
"""A kind of things, such as topics: the host, the first segment and depth of the path, and the
names of the parameters."""


class Part(NamedTuple):
    """A numbered part of a thing, such as page 2 of a topic."""

    thing: Location
    number: int
    is_named: bool
    """Whether a word such as ``page`` says that it is the number of a part."""


def part_of(location: Location) -> Part | None:
    """Return which part of which thing a URL is, or None.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> for path in ("t?id=7&start=15", "t/7/page-2", "t?id=7.15", "t?id=7"):
    ...     part = part_of(locate(f"http://a.example/{path}"))
    ...     print(part and (part.thing.url, part.number, part.is_named))
    ('http://a.example/t?id=7', 15, True)
    ('http://a.example/t/7', 2, True)
    ('http://a.example/t?id=7', 15, False)
    None
    """
    origin, path, params = location
    for param in params:
        if is_paging(name_of(param)) and _COUNT.fullmatch(value := value_of(param)):
            return Part(without_param(location, param), int(value), is_named=True)
    found = PART_OF_LISTING.search(path)
    if found and _COUNT.fullmatch(found[1]):
        thing = Location(origin, _without(found).rstrip("/"), params)
        return Part(thing, int(found[1]), is_named=True)
    for n, param in enumerate(params):
        found = _BEHIND_NUMBER.search(param)
        if found:
            others = (*params[:n], _without(found), *params[n + 1 :])
            return Part(Location(origin, path, others), int(found[1]), is_named=False)
    found = _BEHIND_NUMBER.search(path)
    if found:
        return Part(Location(origin, _without(found), params), int(found[1]), is_named=False)
    return None


class PartsSeen:
    """Tells for each kind of things what share of their parts was seen.

    A number without such a word counts only if all numbers of the kind have a common step, as the
    number of the first post on each page has.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> paths = ("t/7", "t/7/page-2", "t/7/page-4", "t/8/page-5", "t/8/page-4")
    >>> urls = [locate(f"http://a.example/{path}") for path in paths]
    >>> [*PartsSeen(urls).at([urls[:2]])]
    [Share(seen=2, of=5)]
    """

    def __init__(self, locations: Iterable[Location]) -> None:
        """Take the URLs that the crawl has seen."""
        things: dict[tuple[bool, Location], set[int]] = {}
        for location in locations:
            part = part_of(location)
            if part is not None:
                things.setdefault((part.is_named, part.thing), set()).add(part.number)
        kinds: dict[tuple[bool, Kind], list[set[int]]] = {}
        for (is_named, thing), numbers in things.items():
            kinds.setdefault((is_named, _kind(thing)), []).append(numbers)
        self._shares: dict[Kind, list[Share]] = {}
        for (is_named, kind), parts in kinds.items():
            step = gcd(*set().union(*parts))
            if step > 1 or (step and is_named):
                self._shares.setdefault(kind, []).append(_share(parts, step))

    def at(self, pages: Iterable[Iterable[Location]]) -> Iterator[Share]:
        """Yield the shares of the kinds of things at which most of *pages* are found.

        Shares of other kinds say nothing: other URLs may be linked more often, or less.

        :param pages: for each page, the URLs at which it is found.
        """
        found = [kinds for urls in pages if (kinds := {*map(_kind_of, urls)})]
        for kind, count in Counter(chain.from_iterable(found)).items():
            if 2 * count > len(found):
                yield from self._shares.get(kind, ())


def _share(things: Iterable[set[int]], step: int) -> Share:
    """Return how many parts were seen between the first one and the last one seen of each thing."""
    # With a step the numbers are offsets, which begin at 0.
    first = 0 if step > 1 else 1
    seen = of = 0
    for numbers in things:
        last = max(numbers) // step
        seen += sum(first < number // step < last for number in numbers)
        of += max(last - first - 1, 0)
    return Share(seen, of)


def _kind_of(location: Location) -> Kind:
    """Return the kind of the thing that a URL is, or is a part of."""
    part = part_of(location)
    return _kind(part.thing if part else location)


def _kind(thing: Location) -> Kind:
    origin, path, params = thing
    return host_of(origin), shape_of(path.rstrip("/")), tuple(map(name_of, params))


def _without(found: re.Match[str]) -> str:
    """Return the searched text without the match."""
    return found.string[: found.start()] + found.string[found.end() :]
