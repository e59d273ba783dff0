"""Finds simhashes that differ in a few bits without comparing all pairs."""

from __future__ import annotations

from array import array
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.held.row_index import NO_ROW, RowIndex
from scrapy_urlcanon.pages.same_page import SIMHASH_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BITS = 64
_PART_BITS = 4


class SimhashIndex:
    """Representatives of near-duplicate clusters, looked up by simhash.

    Two hashes that differ in at most ``k`` bits agree in at least two of ``k + 2`` blocks (the
    pigeonhole principle; Manku, Jain and Das Sarma 2007, "Detecting near-duplicates for web
    crawling"). So only hashes that agree in two are compared. The choices of blocks are taken one
    after the other: tables of all at once would take ten times the memory.

    >>> index = SimhashIndex([0b1111, 0b1110, 0, 1 << 40])
    >>> index.setdefault(0b1111, 7), index.setdefault(0b1110, 8), index.setdefault(0, 9)
    (7, 7, 7)
    >>> index.setdefault(1 << 40, 10)
    10
    """

    def __init__(self, simhashes: Iterable[int]) -> None:
        """``simhashes``: all those that will ever be asked for."""
        # Sorted part by part and without a set: a million integer objects would take more memory
        # than all the rest.
        parts = [array("Q") for _ in range(1 << _PART_BITS)]
        for simhash in simhashes:
            parts[simhash >> _BITS - _PART_BITS].append(simhash)
        values = array("Q")
        for part in parts:
            values.extend(value for value, _ in groupby(sorted(part)))
        del parts
        self._representatives, self._numbers = array("Q"), array("i")
        self._index: RowIndex[int] = RowIndex(self._representatives, len(values))
        self._near: dict[int, list[int]] = {}
        for one, other in _near_pairs(values, SIMHASH_BITS):
            self._near.setdefault(one, []).append(other)
            self._near.setdefault(other, []).append(one)

    def setdefault(self, simhash: int, number: int) -> int:
        """Return the lowest number of a representative near the simhash.

        If there is none, the simhash becomes one, with the given *number*.
        """
        numbers, count = self._numbers, len(self._numbers)
        near = self._near.get(simhash)
        if near is not None and self._index.find(simhash) == NO_ROW:
            rows = map(self._index.find, near)
            best = min([numbers[row] for row in rows if row != NO_ROW], default=None)
            if best is not None:
                return best
        row = self._index.setdefault(simhash, count)
        if row != count:
            return numbers[row]
        self._representatives.append(simhash)
        numbers.append(number)
        return number


def _near_pairs(values: array[int], bits: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of different values within *bits* of each other; some pairs repeatedly."""
    edges = [_BITS * i // (bits + 2) for i in range(bits + 3)]
    blocks = [(start, (1 << (end - start)) - 1) for start, end in pairwise(edges)]
    for number, block in enumerate(blocks[:-1]):
        for group in _groups(values, *block):
            # A group fits into the processor's cache; one table of all values would not.
            for start, mask in blocks[number + 1 :]:
                first: dict[int, int] = {}
                agreeing: dict[int, list[int]] = {}
                for value in group:
                    key = value >> start & mask
                    one = first.setdefault(key, value)
                    if one == value:  # as most are: a list for each would take three times as long
                        continue
                    others = agreeing.setdefault(key, [one])
                    for other in others:
                        if (value ^ other).bit_count() <= bits:
                            yield value, other
                    others.append(value)


def _groups(values: array[int], start: int, mask: int) -> Iterator[array[int]]:
    """Yield each group of two or more values that agree in a block."""
    groups: dict[int, array[int]] = {}
    for value in values:
        key = value >> start & mask
        group = groups.get(key)
        if group is None:
            groups[key] = array("Q", (value,))
        else:
            group.append(value)
    for group in groups.values():
        if len(group) > 1:
            yield group
