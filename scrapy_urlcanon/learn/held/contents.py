"""What captures showed, in a few bytes for each."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.held.row_index import NO_ROW, RowIndex
from scrapy_urlcanon.learn.simhash import SimhashIndex
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.location import Location

HAS_MAIN, HAS_SIMHASH, IS_CANONICAL, IS_DATA = 1, 2, 4, 8

DECLARED_BITS = 8
"""In how many bits the simhashes of a page and of its declared canonical may differ. Pairs 5 to 8
bits apart had 96 to 100 % of their lines in common."""

Shown: TypeAlias = "tuple[int, int, int]"
"""What a capture showed: flags for what is known, 64 bits of the digest, and the simhash."""


def weight(shown: Shown) -> tuple[bool, int, bool, int]:
    """Return a sort key for the captures of one URL: those with evidence first."""
    flags, main, simhash = shown
    return not flags & HAS_MAIN, main, not flags & HAS_SIMHASH, simhash


class Contents:
    """What captures showed, 17 bytes each."""

    __slots__ = ("_flags", "_main", "_simhash")

    def __init__(self) -> None:
        # In arrays: a million objects would take many times the memory, and fragment it when freed.
        self._flags = bytearray()
        self._main, self._simhash = array("Q"), array("Q")

    def __getitem__(self, number: int) -> Shown:
        return self._flags[number], self._main[number], self._simhash[number]

    def __iter__(self) -> Iterator[Shown]:
        return zip(self._flags, self._main, self._simhash, strict=True)

    def __setitem__(self, number: int, shown: Shown) -> None:
        self._flags[number], self._main[number], self._simhash[number] = shown

    def append(self, shown: Shown) -> None:
        flags, main, simhash = shown
        self._flags.append(flags)
        self._main.append(main)
        self._simhash.append(simhash)

    def extend(self, other: Contents) -> None:
        self._flags += other._flags
        self._main += other._main
        self._simhash += other._simhash

    def pages(self) -> array[int]:
        """Return the page number of each capture.

        Captures are of one page if their digests are equal, or if their simhashes are near that of
        its first capture.
        """
        near = SimhashIndex(simhash for flags, _, simhash in self if flags & HAS_SIMHASH)
        # The first row of each digest.
        equal: RowIndex[int] = RowIndex(self._main, len(self._main))
        pages = array("i")
        count = 0
        for row, (flags, main, simhash) in enumerate(self):
            first = equal.setdefault(main, row) if flags & HAS_MAIN else row
            page = None if first == row else pages[first]
            if page is None and flags & (HAS_MAIN | HAS_SIMHASH):
                page = near.setdefault(simhash, count) if flags & HAS_SIMHASH else count
                count += page == count
            pages.append(NO_EVIDENCE if page is None else page)
        return pages

    def with_flag(self, flag: int, pages: array[int]) -> bytearray:
        """Return for each page whether any capture of it had a flag."""
        found = bytearray(max(pages, default=NO_EVIDENCE) + 1)
        for page, flags in zip(pages, self._flags, strict=True):
            if flags & flag:
                found[page] = True
        return found

    def simhashes(self, pages: array[int]) -> array[int]:
        """Return for each page the simhash of a capture that has one; 0 where none has."""
        found = array("Q", [0]) * (max(pages, default=NO_EVIDENCE) + 1)
        for page, flags, simhash in zip(pages, self._flags, self._simhash, strict=True):
            if flags & HAS_SIMHASH and not found[page]:
                found[page] = simhash
        return found

    def join_declared(
        self, pages: array[int], declared: Mapping[int, Location], locations: Locations
    ) -> None:
        """Join a page with the canonical URL that it declares if their texts are nearly the same.

        Declaration and text support each other, so less similarity is asked for than otherwise.
        """
        same: dict[int, int] = {}

        def first(page: int) -> int:
            while page in same:
                page = same[page]
            return page

        for row in sorted(declared):
            other = locations.find(declared[row])
            if other == NO_ROW or NO_EVIDENCE in {pages[row], pages[other]}:
                continue
            one, two = first(pages[row]), first(pages[other])
            if one != two and self._flags[row] & self._flags[other] & HAS_SIMHASH:
                apart = self._simhash[row] ^ self._simhash[other]
                if apart.bit_count() <= DECLARED_BITS:
                    same[max(one, two)] = min(one, two)
        if same:
            left = sorted({first(page) for page in pages if page != NO_EVIDENCE})
            numbers_of = {page: number for number, page in enumerate(left)}
            for row, page in enumerate(pages):
                if page != NO_EVIDENCE:
                    pages[row] = numbers_of[first(page)]
