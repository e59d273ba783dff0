"""A set of seen fingerprints that keeps 64 or 128 bits of each in memory."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.seen_sets.base import bits_of_digest
from scrapy_urlcanon.crawl.seen_sets.word_file import WordFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TABLES = 1024
_SMALLEST = 8
_WORD = 64


class CompactSet:
    """Keeps 64 or 128 bits of each fingerprint in hash tables with open addressing.

    The last bits of the first word select one of 1,024 tables, so that growing one takes little
    time. A table grows by half when two thirds are full. A word's preferred place is proportional
    to its value; if that is taken, it goes to the next free one (linear probing). The word 0 marks
    a free place.

    With 64 bits and *n* fingerprints, a new one is taken for seen with a probability of *n* /
    2**64.

    >>> seen = CompactSet(64)
    >>> seen.add(b"a"), seen.add(b"a"), b"a" in seen, b"b" in seen, len(seen)
    (True, False, True, False, 1)
    >>> seen.discard(b"a")
    >>> b"a" in seen, len(seen)
    (False, 0)

    :param bits: 64 or 128.
    :param path: the file that has them from run to run.
    :param bits_of: returns at least 16 hashed bytes of a fingerprint.
    :raises ConfigurationError: if the file cannot be read, or another process has it.
    """

    def __init__(
        self,
        bits: int,
        path: Path | None = None,
        *,
        bits_of: Callable[[bytes], bytes] = bits_of_digest,
    ) -> None:
        self._bits_of = bits_of
        self._is_wide = bits > _WORD
        self._words = [_free(_SMALLEST) for _ in range(_TABLES)]
        self._rests = [_free(_SMALLEST) for _ in range(_TABLES if self._is_wide else 0)]
        self._counts = [0] * _TABLES
        self._file = WordFile(path, bits // _WORD) if path else None
        if self._file:
            for word, rest, is_removed in self._file.read():
                (self._remove if is_removed else self._insert)(word, rest)

    def add(self, fingerprint: bytes) -> bool:
        """Add *fingerprint*; return whether it is new."""
        word, rest = self._split(fingerprint)
        if not self._insert(word, rest):
            return False
        if self._file:
            self._file.add(word, rest)
        return True

    def discard(self, fingerprint: bytes) -> None:
        """Remove *fingerprint* if it is there."""
        word, rest = self._split(fingerprint)
        if self._remove(word, rest) and self._file:
            self._file.remove(word, rest)

    def __contains__(self, fingerprint: object) -> bool:
        return isinstance(fingerprint, bytes) and self._find(*self._split(fingerprint)) >= 0

    def __len__(self) -> int:
        return sum(self._counts)

    def close(self) -> None:
        """Write what is not written yet, and close the file."""
        if self._file:
            self._file.close()

    def _split(self, fingerprint: bytes) -> tuple[int, int]:
        """Return the first word of a fingerprint and the second one, which is 0 with 64 bits."""
        bits = self._bits_of(fingerprint)
        word = int.from_bytes(bits[:8], "big") or 1
        return word, int.from_bytes(bits[8:16], "big") if self._is_wide else 0

    def _find(self, word: int, rest: int) -> int:
        """Return the place of a fingerprint, or ``~place`` of the free place where it belongs."""
        number = word % _TABLES
        words = self._words[number]
        size = len(words)
        place = word * size >> _WORD
        while found := words[place]:
            if found == word and (not self._is_wide or self._rests[number][place] == rest):
                return place
            place += 1
            if place == size:
                place = 0
        return ~place

    def _insert(self, word: int, rest: int) -> bool:
        """Insert a fingerprint; return whether it is new."""
        place = self._find(word, rest)
        if place >= 0:
            return False
        number = word % _TABLES
        self._words[number][~place] = word
        if self._is_wide:
            self._rests[number][~place] = rest
        self._counts[number] += 1
        if self._counts[number] * 3 > len(self._words[number]) * 2:
            self._grow(number)
        return True

    def _remove(self, word: int, rest: int) -> bool:
        """Remove a fingerprint; return whether it was there."""
        free = self._find(word, rest)
        if free < 0:
            return False
        number = word % _TABLES
        self._counts[number] -= 1
        # Move up the words behind it, so that no gap separates one from its preferred place.
        words = self._words[number]
        size = len(words)
        place = (free + 1) % size
        while words[place]:
            distance = (place - (words[place] * size >> _WORD)) % size
            if distance >= (place - free) % size:
                words[free] = words[place]
                if self._is_wide:
                    self._rests[number][free] = self._rests[number][place]
                free = place
            place = (place + 1) % size
        words[free] = 0
        return True

    def _grow(self, number: int) -> None:
        words = self._words[number]
        rests = self._rests[number] if self._is_wide else words
        size = len(words) * 3 // 2
        self._words[number] = _free(size)
        if self._is_wide:
            self._rests[number] = _free(size)
        self._counts[number] = 0
        for word, rest in zip(words, rests, strict=True):
            if word:
                self._insert(word, rest)


def _free(size: int) -> array[int]:
    return array("Q", [0]) * size
