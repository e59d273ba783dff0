"""Hash tables from values to their rows, in a few bytes for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Value = TypeVar("Value")

NO_ROW = -1
"""The row of a value that is not in the table."""

# At least three slots for two rows; with fewer there are too many collisions.
_SLOTS, _ROWS = 3, 2

# Collisions are resolved as in a dict, by shifting in higher bits of the hash: the lowest bits of
# many simhashes are the same.
SHIFT, POSITIVE = 5, (1 << 59) - 1

_LEAST = 16


class Slots(ABC, Generic[Value]):
    """An open-addressing hash table of the rows of values.

    Subclasses say where the values are stored, without a reference to themselves: a reference cycle
    would stay in memory until garbage is collected, which is off during learning.
    """

    def __init__(self, count: int) -> None:
        """Make room for at most *count* rows."""
        size = max(_LEAST, 1 << (count * _SLOTS // _ROWS).bit_length())
        self._slots = array("i", [NO_ROW]) * size
        self._mask = size - 1

    def find(self, value: Value) -> int:
        """Return the row of a value; :data:`NO_ROW` if it has none."""
        return self._slots[self._slot_of(value)]

    def setdefault(self, value: Value, row: int) -> int:
        """Return the row of a value; if it has none, it gets *row*.

        The value must be stored under that row before the next call.
        """
        slot = self._slot_of(value)
        known = self._slots[slot]
        if known != NO_ROW:
            return known
        self._slots[slot] = row
        return row

    @abstractmethod
    def _slot_of(self, value: Value) -> int:
        """Return the slot that holds the row of a value, or the free slot where it belongs."""


class RowIndex(Slots[Value]):
    """The rows of values that are stored elsewhere, such as in a list or an array.

    A dict would store hash, value and row as objects, some 70 bytes for each. This stores the row
    only, in 6 to 12 bytes, and takes four times as long.

    >>> paths = ["/", "/a"]
    >>> index = RowIndex(paths, len(paths))
    >>> [index.setdefault(path, row) for row, path in enumerate(paths)]
    [0, 1]
    >>> index.setdefault("/a", 7), index.find("/a"), index.find("/b") == NO_ROW
    (1, 1, True)
    """

    def __init__(self, values: Sequence[Value], count: int) -> None:
        """Make an empty index of *values*, with room for at most *count* of them."""
        super().__init__(count)
        self._values = values

    def _slot_of(self, value: Value) -> int:
        slots, values, mask = self._slots, self._values, self._mask
        left = hash(value)
        slot = left & mask
        while (row := slots[slot]) >= 0 and values[row] != value:
            left = left >> SHIFT & POSITIVE
            slot = 5 * slot + 1 + left & mask
        return slot
