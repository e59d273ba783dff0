"""Finding simhashes that differ in a few bits without comparing all pairs."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.observation import SIMHASH_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BITS = 64


class SimhashIndex:
    """Representatives of near-duplicate clusters, looked up by simhash.

    Two hashes that differ in at most ``k`` bits agree in at least one of ``k + 1`` blocks, and in
    at least two of ``k + 2`` (the pigeonhole principle; Manku, Jain and Das Sarma 2007,
    "Detecting near-duplicates for web crawling"). Sorted by what must agree, such hashes are
    neighbours. One sorted list at a time takes a tenth of the memory of their hash tables.

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
        values = sorted(set(simhashes))
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


def _near_pairs(values: list[int], bits: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of different values within ``bits``, some of them more than once."""
    # With one block of 12 bits the runs of some ten thousand values are short enough.
    blocks = bits + (1 if len(values) < 20_000 else 2)  # noqa: PLR2004
    edges = [_BITS * i // blocks for i in range(blocks + 1)]
    masks = [((1 << (b - a)) - 1) << a for a, b in pairwise(edges)]
    for chosen in combinations(masks, blocks - bits):
        mask = sum(chosen)
        # Masked value and whole value in one integer sort faster than with a key function.
        both = sorted([(value & mask) << _BITS | value for value in values])
        start = 0
        for end in range(1, len(both) + 1):
            if end < len(both) and both[end] >> _BITS == both[start] >> _BITS:
                continue
            if end - start > 1:
                for one, other in combinations(both[start:end], 2):
                    # Equal above the value, so that those bits cancel out.
                    if (one ^ other).bit_count() <= bits:
                        low = (1 << _BITS) - 1
                        yield one & low, other & low
            start = end
