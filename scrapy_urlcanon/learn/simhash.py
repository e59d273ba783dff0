"""Finding simhashes that differ in a few bits without comparing all pairs."""

from __future__ import annotations

from itertools import combinations

from scrapy_urlcanon.learn.observation import SIMHASH_BITS

_BITS = 64


class SimhashIndex:
    """Representatives of near-duplicate clusters, looked up by simhash.

    Two hashes that differ in at most ``k`` bits agree in at least one of ``k + 1`` blocks, and in at least two of
    ``k + 2`` (the pigeonhole principle; Manku, Jain and Das Sarma 2007, "Detecting near-duplicates for web crawling").
    One block of 12 bits is enough for some ten thousand pages; beyond that pairs of blocks keep the buckets short.

    >>> index = SimhashIndex(expected=10)
    >>> index.add(0b1111, 7)
    >>> index.find(0b1110), index.find(0)
    (7, 7)
    >>> index.find(1 << 40) is None
    True
    """

    def __init__(self, expected: int, bits: int = SIMHASH_BITS) -> None:
        """``expected``: about how many representatives there will be; more of them cost time, not correctness."""
        self.bits = bits
        blocks = bits + (1 if expected < 20_000 else 2)  # noqa: PLR2004
        together = blocks - bits
        edges = [_BITS * i // blocks for i in range(blocks + 1)]
        masks = [((1 << (high - low)) - 1) << low for low, high in zip(edges, edges[1:], strict=False)]
        self._masks = [sum(chosen) for chosen in combinations(masks, together)]
        self._tables: list[dict[int, list[tuple[int, int]]]] = [{} for _ in self._masks]
        self._exact: dict[int, int] = {}

    def find(self, simhash: int) -> int | None:
        """Return the lowest number of a representative within ``bits`` of the simhash, or None."""
        best = self._exact.get(simhash)
        if best is not None:
            return best
        for mask, table in zip(self._masks, self._tables, strict=True):
            for other, number in table.get(simhash & mask, ()):
                if (best is None or number < best) and (simhash ^ other).bit_count() <= self.bits:
                    best = number
        return best

    def add(self, simhash: int, number: int) -> None:
        """Make ``simhash`` a representative under ``number``."""
        self._exact.setdefault(simhash, number)
        for mask, table in zip(self._masks, self._tables, strict=True):
            table.setdefault(simhash & mask, []).append((simhash, number))
