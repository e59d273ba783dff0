"""How figures are worded for a reader."""

from __future__ import annotations


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return *number* with its noun.

    >>> count_of(1, "page"), count_of(1200, "page"), count_of(2, "query", "queries")
    ('1 page', '1,200 pages', '2 queries')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
