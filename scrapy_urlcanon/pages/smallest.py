"""Selects the smallest of many hashes: a sample that is equal for equal sets."""

from __future__ import annotations


def smallest(hashes: list[int], count: int, bits: int) -> list[int]:
    """Return the *count* smallest distinct *hashes*, sorted.

    :param bits: the hashes are evenly distributed below 2 to this power.
    """
    if len(hashes) > 2 * count:
        bound = (count + count // 2 << bits) // len(hashes)
        few = {number for number in hashes if number < bound}
        if len(few) >= count:
            return sorted(few)[:count]
    return sorted(set(hashes))[:count]
