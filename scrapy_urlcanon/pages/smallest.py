"""The smallest of many hashes: a sample that is the same of whatever is the same."""

from __future__ import annotations


def smallest(hashes: list[int], count: int, bits: int) -> list[int]:
    """Return the *count* smallest of *hashes*, each once, sorted; they are spread over *bits*."""
    if len(hashes) > 2 * count:
        bound = (count + count // 2 << bits) // len(hashes)
        few = {number for number in hashes if number < bound}
        if len(few) >= count:
            return sorted(few)[:count]
    return sorted(set(hashes))[:count]
