"""Finding the row of a value, in a few bytes for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from typing import Generic, Protocol, TypeVar

Value = TypeVar("Value")
_Value_co = TypeVar("_Value_co", covariant=True)

NO_ROW = -1
"""What stands for the row of a value that is not there."""

# Slots for each two rows; with fewer, what is looked for is seldom in its own.
_SLOTS, _ROWS = 3, 2

# Where a slot is taken the next one is told by what is left of the hash without so many bits, as in
# a dict: the lowest bits alone are the same of many simhashes.
SHIFT, POSITIVE = 5, (1 << 59) - 1

_LEAST = 16


class Rows(Protocol[_Value_co]):
    """Values by number."""

    def __getitem__(self, row: int, /) -> _Value_co: ...


class Slots(ABC, Generic[Value]):
    """Holds the rows of some values, each in the slot that its hash tells or in another one.

    What the values are held in it does not say: one that held itself would be in memory until the
    garbage collector comes, which is paused while much is learned.
    """

    def __init__(self, count: int) -> None:
        """Make room for so many rows at least."""
        self._slots = array("i")
        self._mask = self._free = 0
        self._make(count)

    def _make(self, count: int) -> None:
        """Make slots for so many rows at least."""
        size = max(_LEAST, 1 << (count * _SLOTS // _ROWS).bit_length())
        self._slots = array("i", [NO_ROW]) * size
        self._mask = size - 1
        self._free = size * _ROWS // _SLOTS

    def find(self, value: Value) -> int:
        """Return the row of a value; :data:`NO_ROW` where it has none."""
        return self._slots[self._slot_of(value)]

    def setdefault(self, value: Value, row: int) -> int:
        """Return the row of a value, which is *row* from now on where it had none.

        The value must be there under that row by the next call.
        """
        if not self._free:
            self._grow()
        slot = self._slot_of(value)
        known = self._slots[slot]
        if known != NO_ROW:
            return known
        self._slots[slot] = row
        self._free -= 1
        return row

    @abstractmethod
    def _value_of(self, row: int) -> Value:
        """Return the value of a row."""

    @abstractmethod
    def _slot_of(self, value: Value) -> int:
        """Return the slot that holds the row of a value, or the free one that would."""

    def _grow(self) -> None:
        rows = self._slots
        self._make(len(rows))
        for row in rows:
            if row != NO_ROW:
                self.setdefault(self._value_of(row), row)


class RowIndex(Slots[Value]):
    """The rows of some values that are held anyway, such as in a list or an array.

    A dict would hold the hash, the value and the row as objects, some 70 bytes for each. Here the
    row alone is held: 6 to 12 bytes. It takes four times as long.

    >>> paths = ["/", "/a"]
    >>> index = RowIndex(paths)
    >>> [index.setdefault(path, row) for row, path in enumerate(paths)]
    [0, 1]
    >>> index.setdefault("/a", 7), index.find("/a"), index.find("/b") == NO_ROW
    (1, 1, True)
    """

    def __init__(self, values: Rows[Value], count: int = 0) -> None:
        """Make an index of none of the values.

        :param count: how many are to come, where that is known: making room takes time.
        """
        super().__init__(count)
        self._values = values

    def _value_of(self, row: int) -> Value:
        return self._values[row]

    def _slot_of(self, value: Value) -> int:
        slots, values, mask = self._slots, self._values, self._mask
        left = hash(value)
        slot = left & mask
        while (row := slots[slot]) >= 0 and values[row] != value:
            left = left >> SHIFT & POSITIVE
            slot = 5 * slot + 1 + left & mask
        return slot
