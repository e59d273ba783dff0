"""Finding simhashes that differ in a few bits without comparing all pairs."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from scrapy_urlcanon.pages.same_page import SIMHASH_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BITS = 64


class SimhashIndex:
    """Representatives of near-duplicate clusters, looked up by simhash.

    Two hashes that differ in at most ``k`` bits agree in at least one of ``k + 1`` blocks, and in
    at least two of ``k + 2`` (the pigeonhole principle; Manku, Jain and Das Sarma 2007,
    "Detecting near-duplicates for web crawling"). Only those that agree there are compared, one
    choice of blocks after the other: the tables of all choices would take ten times the memory.

    >>> index = SimhashIndex([0b1111, 0b1110, 0])
    >>> index.add(0b1111, 7)
    >>> index.find(0b1110), index.find(0)
    (7, 7)
    >>> SimhashIndex([1 << 40]).find(1 << 40) is None
    True
    """

    def __init__(self, simhashes: Iterable[int], bits: int = SIMHASH_BITS) -> None:
        """``simhashes``: all those that will ever be asked for."""
        self._pages: dict[int, int] = {}
        self._near: dict[int, list[int]] = {}
        # Sorted without a set: the objects of a million numbers would take more than all the rest.
        values = array("Q", (value for value, _ in groupby(sorted(array("Q", simhashes)))))
        for one, other in _near_pairs(values, bits):
            self._near.setdefault(one, []).append(other)
            self._near.setdefault(other, []).append(one)

    def find(self, simhash: int) -> int | None:
        """Return the lowest number of a representative near the simhash, or None."""
        best = self._pages.get(simhash)
        if best is not None:
            return best
        for other in self._near.get(simhash, ()):
            number = self._pages.get(other)
            if number is not None and (best is None or number < best):
                best = number
        return best

    def add(self, simhash: int, number: int) -> None:
        """Make ``simhash`` a representative under ``number``."""
        self._pages.setdefault(simhash, number)


def _near_pairs(values: array[int], bits: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of different values within ``bits``, some of them more than once."""
    # With one block of 12 bits the groups of some ten thousand values are small enough.
    agree = 1 if len(values) < 20_000 else 2  # noqa: PLR2004
    edges = [_BITS * i // (bits + agree) for i in range(bits + agree + 1)]
    blocks = [(start, (1 << (end - start)) - 1) for start, end in pairwise(edges)]
    for number, block in enumerate(blocks[: len(blocks) + 1 - agree]):
        for group in _groups(values, *block):
            # A group fits into the processor's cache, where one table of all would not.
            for start, mask in blocks[number + 1 :] if agree > 1 else [(0, 0)]:
                agreeing: defaultdict[int, list[int]] = defaultdict(list)
                for value in group:
                    others = agreeing[value >> start & mask]
                    for other in others:
                        if (value ^ other).bit_count() <= bits:
                            yield value, other
                    others.append(value)


def _groups(values: array[int], start: int, mask: int) -> Iterator[array[int]]:
    """Yield the values that agree in a block, where they are several."""
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
