"""What share of the URLs of a site a crawl has seen, told by parts that are numbered.

Where the third part of a topic was seen there is a second one. So of the parts between the first
one of a thing and the last one that was seen, how many were seen tells the share.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.classes.coverage import Share
from scrapy_urlcanon.learn.classes.shapes import shape_of
from scrapy_urlcanon.learn.location import Location, host_of, name_of, value_of
from scrapy_urlcanon.learn.vocabulary import PART_OF_LISTING, is_paging

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A number behind another one and a sign, such as in `7.15` or `topic7-15.html`.
_BEHIND_NUMBER = re.compile(r"(?<=[0-9])[^\w%]([0-9]{1,9})(?=[^0-9]*\Z)", re.ASCII)

# Longer ones count nothing.
_COUNT = re.compile("[0-9]{1,9}")

Kind: TypeAlias = "tuple[str, str, tuple[str, ...]]"
"""What the things of one script have in common: the host, how the path begins and how deep it is,
and the names of the parameters."""


class Part(NamedTuple):
    """A part of a thing."""

    thing: Location
    number: int
    is_named: bool
    """Whether a word says that it is the number of a part."""


def part_of(location: Location) -> Part | None:
    """Return which part of what a URL is.

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
            others = tuple([other for other in params if other != param])
            return Part(Location(origin, path, others), int(value), is_named=True)
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
    """Tells what share of its parts was seen of each kind of things.

    A number that no word says to be that of a part is one where all have a step in common, such as
    the number of the first post on a part.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> paths = ("t/7", "t/7/page-2", "t/7/page-4", "t/8/page-5", "t/8/page-4")
    >>> urls = [locate(f"http://a.example/{path}") for path in paths]
    >>> [*PartsSeen(urls).at([urls[:2]])]
    [Share(seen=2, of=5)]
    """

    def __init__(self, locations: Iterable[Location]) -> None:
        """Look at what was seen."""
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
        """Yield what is told of the kinds of things that most pages are found at.

        What is linked is not all that is there, so that parts tell nothing of other places.

        :param pages: of each page the URLs at which it is found.
        """
        found = [kinds for urls in pages if (kinds := {*map(_kind_of, urls)})]
        for kind, count in Counter(chain.from_iterable(found)).items():
            if 2 * count > len(found):
                yield from self._shares.get(kind, ())


def _share(things: Iterable[set[int]], step: int) -> Share:
    """Return how many were seen of the parts behind the first one and before the last one seen."""
    # Of offsets that of the first part is 0.
    first = 0 if step > 1 else 1
    seen = of = 0
    for numbers in things:
        last = max(numbers) // step
        seen += sum(first < number // step < last for number in numbers)
        of += max(last - first - 1, 0)
    return Share(seen, of)


def _kind_of(location: Location) -> Kind:
    """Return of which kind a thing is, or that of which a URL is a part."""
    part = part_of(location)
    return _kind(part.thing if part else location)


def _kind(thing: Location) -> Kind:
    origin, path, params = thing
    return host_of(origin), shape_of(path.rstrip("/")), tuple(map(name_of, params))


def _without(found: re.Match[str]) -> str:
    """Return the text without what was found in it."""
    return found.string[: found.start()] + found.string[found.end() :]
