"""Packs features into bytes, which take a ninth of the memory of numbers."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

BITS: Final = 18
"""Features are numbers below ``2 ** BITS``. Features with the same number share a weight."""
MASK: Final = (1 << BITS) - 1
SPREAD: Final = 0x9E3779B1  # 2**32 / golden ratio (Knuth, TAOCP 6.4)
_NUMBER: Final = "I"
"""The type code of a feature."""


def packed(numbers: Iterable[int]) -> bytes:
    """Return *numbers* as bytes.

    >>> list(unpacked(packed([1, 70_000])))
    [1, 70000]
    """
    return array(_NUMBER, numbers).tobytes()


def unpacked(features: bytes) -> array[int]:
    """Return the numbers in what :func:`packed` returned."""
    return array(_NUMBER, features)
