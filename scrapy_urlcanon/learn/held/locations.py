"""The URLs of a site, split into parts and stored in columns."""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scrapy_urlcanon.learn.held.row_index import POSITIVE, SHIFT, Slots
from scrapy_urlcanon.learn.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.location import Origin

_Part = TypeVar("_Part")

# Calling the class would take twice as long: a named tuple has a constructor in Python.
_location = partial(tuple.__new__, Location)


class Locations(Slots[Location]):
    """Distinct URLs; the row of a URL is its index in insertion order.

    As objects they would take 64 bytes each, without the paths and parameters that they share, and
    as much again in a dict. Here it is some 20 bytes; objects are made on access.
    :class:`Collector` fills it.
    """

    def __init__(self, count: int) -> None:
        """Make room for at most *count* URLs."""
        super().__init__(count)
        self.origins: list[Origin] = []
        self.paths: list[str] = []
        self.params: list[tuple[str, ...]] = []
        self.origin_of = array("i")
        """By row: the index of its origin; likewise for paths and parameters."""
        self.path_of, self.params_of = array("i"), array("i")

    def __len__(self) -> int:
        return len(self.origin_of)

    def __getitem__(self, row: int, /) -> Location:
        return _location(
            (
                self.origins[self.origin_of[row]],
                self.paths[self.path_of[row]],
                self.params[self.params_of[row]],
            )
        )

    def __iter__(self) -> Iterator[Location]:
        return self._made_of(self.origin_of, self.path_of, self.params_of)

    def at(self, rows: Sequence[int]) -> Iterator[Location]:
        """Yield the URLs of these rows."""
        columns = (self.origin_of, self.path_of, self.params_of)
        return self._made_of(*(map(column.__getitem__, rows) for column in columns))

    def _made_of(
        self, origins: Iterable[int], paths: Iterable[int], params: Iterable[int]
    ) -> Iterator[Location]:
        """Yield the URLs with these parts."""
        parts = zip(
            map(self.origins.__getitem__, origins),
            map(self.paths.__getitem__, paths),
            map(self.params.__getitem__, params),
            strict=True,
        )
        return map(_location, parts)

    def _slot_of(self, value: Location) -> int:
        # Compares the parts, without making an object for each row.
        origin, path, params = value
        slots, mask, paths, path_of = self._slots, self._mask, self.paths, self.path_of
        left = hash(value)
        slot = left & mask
        while (row := slots[slot]) >= 0 and (
            paths[path_of[row]] != path
            or self.params[self.params_of[row]] != params
            or self.origins[self.origin_of[row]] != origin
        ):
            left = left >> SHIFT & POSITIVE
            slot = 5 * slot + 1 + left & mask
        return slot


class Collector:
    """Collects URLs, and stores each distinct part once.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> urls = ["http://a.example/", "http://a.example/?b", "HTTP://a.example"]
    >>> collector = Collector(len(urls))
    >>> [collector.add(locate(url)) for url in urls]
    [0, 1, 0]
    >>> collector.locations[1].url, collector.locations.find(locate("http://a.example/?b="))
    ('http://a.example/?b=', 1)
    """

    def __init__(self, count: int) -> None:
        """Make room for at most *count* URLs."""
        self.locations = Locations(count)
        self._origins: dict[Origin, int] = {}
        self._paths: dict[str, int] = {}
        self._params: dict[tuple[str, ...], int] = {}
        self._texts: dict[str, str] = {}

    def add(self, location: Location) -> int:
        """Return the row of a URL, which is added if it is new."""
        locations = self.locations
        count = len(locations.origin_of)
        row = locations.setdefault(location, count)
        if row == count:
            origin, path, params = location
            locations.origin_of.append(_number(origin, self._origins, locations.origins))
            locations.path_of.append(_number(path, self._paths, locations.paths))
            if params not in self._params:
                share = self._texts.setdefault
                params = tuple([share(param, param) for param in params])
            locations.params_of.append(_number(params, self._params, locations.params))
        return row


def _number(part: _Part, numbers: dict[_Part, int], parts: list[_Part]) -> int:
    """Return the index of a part, which is added if it is new."""
    number = numbers.setdefault(part, len(parts))
    if number == len(parts):
        parts.append(part)
    return number
