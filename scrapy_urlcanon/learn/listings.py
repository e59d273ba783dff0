"""Finds where listings end. Past its end a listing shows the same page for any number."""

from __future__ import annotations

from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.vocabulary import numbers_of_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_urlcanon.learn.held.locations import Locations

_Listing: TypeAlias = "tuple[int, str, tuple[str, ...]]"
"""A path by number, the name of the pagination parameter, and the other parameters."""


class _Part(NamedTuple):
    """One page of a listing."""

    page: int
    path: int
    params: int
    name: str
    """The name of the pagination parameter."""
    number: int


def ends_of_listings(
    locations: Locations, pages: Sequence[int], sizes: Sequence[int]
) -> dict[tuple[str, str], int]:
    """Return the number by which half of the listings have ended, by path and parameter name.

    Only listings with a known end count: they show one page at several numbers, and another page
    before these. What shows the same at any number is not a listing.

    :param pages: the page of each location; negative if it is not known.
    :param sizes: how many locations show a page.
    """
    parts = [tuple(numbers_of_parts(params)) for params in locations.params]

    def each_part() -> Iterator[_Part]:
        columns = (locations.path_of, locations.params_of, pages)
        for path, params, page in zip(*columns, strict=True):
            if page >= 0:
                for name, number in parts[params]:
                    yield _Part(page, path, params, name, number)

    def listing(part: _Part) -> _Listing:
        others = (p for p in locations.params[part.params] if name_of(p) != part.name)
        return part.path, part.name, tuple(others)

    first = _first_of_several(part for part in each_part() if sizes[part.page] > 1)
    ended = {
        listing(part): first[part.page, part.name]
        for part in each_part()
        if (part.page, part.name) in first
    }
    ends: dict[tuple[str, str], dict[_Listing, int]] = {}
    for part in each_part() if ended else ():
        of = listing(part)
        if part.number < ended.get(of, part.number):
            ends.setdefault((locations.paths[part.path], part.name), {})[of] = ended[of]
    return {place: median_low(found.values()) for place, found in ends.items()}


def _first_of_several(parts: Iterator[_Part]) -> dict[tuple[int, str], int]:
    """Return the least number of each page that has several, by page and parameter name."""
    first: dict[tuple[int, str], int] = {}
    several: set[tuple[int, str]] = set()
    for page, _, _, name, number in parts:
        known = first.setdefault((page, name), number)
        if known != number:
            several.add((page, name))
            first[page, name] = min(known, number)
    return {key: first[key] for key in several}
