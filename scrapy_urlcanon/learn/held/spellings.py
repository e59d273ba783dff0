"""Collects URLs that were seen with their parameters in several orders."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.held.contents import HAS_MAIN, HAS_SIMHASH, weight
from scrapy_urlcanon.learn.location import host_of
from scrapy_urlcanon.learn.orders import Reordered, separator_of
from scrapy_urlcanon.pages.same_page import SIMHASH_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.learn.held.contents import Shown
    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.location import Location


class Spellings:
    """The spellings of URLs that were seen with their parameters in several orders."""

    def __init__(self) -> None:
        self.several: dict[int, dict[bytes, Shown]] = {}
        """By row, for URLs with several spellings: what was captured under each."""
        # The first spelling of each URL, if it is not the normal form.
        self._rows, self._ends, self._urls = array("Q"), array("Q"), bytearray()

    def begin(self, row: int, text: bytes, location: Location) -> None:
        """Note the first spelling of a URL. Rows must come in ascending order."""
        if len(location.params) > 1 and text != _normal(location):
            self._rows.append(row)
            self._urls += text
            self._ends.append(len(self._urls))

    def add(self, row: int, location: Location, text: bytes, shown: Shown, before: Shown) -> None:
        """Add what was captured under a spelling, which may be the first one again.

        :param before: what was captured under the first spelling, if this is the second.
        """
        of_row = self.several.get(row)
        if of_row is None:
            if len(location.params) < 2:  # noqa: PLR2004 - an order takes two
                return
            of_row = self.several[row] = {self._first(row, location): before}
        of_row[text] = min(shown, of_row.get(text, shown), key=weight)

    def reordered(self, locations: Locations) -> Iterator[Reordered]:
        """Yield the captures of one URL that have its parameters in two orders."""
        for row, spellings in self.several.items():
            yield from _reordered(host_of(locations[row].origin), spellings)

    def _first(self, row: int, location: Location) -> bytes:
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            return _normal(location)
        return bytes(self._urls[self._ends[place - 1] if place else 0 : self._ends[place]])


def _normal(location: Location) -> bytes:
    """Return the normal form of a URL that has parameters."""
    (scheme, host), path, params = location
    return f"{scheme}://{host}{path}?{'&'.join(params)}".encode("utf-8", "surrogatepass")


def _reordered(host: str, spellings: Mapping[bytes, Shown]) -> Iterator[Reordered]:
    """Yield the captures of one URL that have its parameters in two orders."""
    (first, one), *others = (
        (url.decode("utf-8", "surrogatepass"), shown) for url, shown in spellings.items()
    )
    for url, other in others:
        flags = one[0] & other[0]
        separator = separator_of(first, url)
        if separator and flags & (HAS_MAIN | HAS_SIMHASH):
            near = (one[2] ^ other[2]).bit_count() <= SIMHASH_BITS
            is_same = one[1] == other[1] if flags & HAS_MAIN else False
            is_same = is_same or (near and bool(flags & HAS_SIMHASH))
            yield Reordered(host, first, url, is_same, separator)
