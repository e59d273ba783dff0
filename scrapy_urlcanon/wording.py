"""Formats numbers for a reader, and sorts counts."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def count_of(number: int, singular: str, plural: str = "") -> str:
    """Return *number* with its noun.

    >>> count_of(1, "page"), count_of(1200, "page"), count_of(2, "query", "queries")
    ('1 page', '1,200 pages', '2 queries')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return *counts* sorted by count, highest first, then by name, so that the order is fixed.

    >>> by_count({"ref": 1, "sid": 2, "lang": 1})
    [('sid', 2), ('lang', 1), ('ref', 1)]
    """
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def shortened(text: str, most: int = 400) -> str:
    """Return *text*, without its middle if it is longer than *most*.

    >>> shortened("expected a number, got 'aaaaaaaaaaaaaaaa'; did you mean 1?", 54)
    "expected a number, got 'aaaaaaaaaaaa … '; did you mean 1?"
    >>> shortened("short")
    'short'
    """
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]} … {text[-end:]}"


def seconds_of(text: object) -> float | None:
    """Return a number, or a number with a unit of time, in seconds; None if it is neither.

    >>> [seconds_of(text) for text in (90, "90", "1.5h", "30d", "2 w", "soon", True, -1)]
    [90.0, 90.0, 5400.0, 2592000.0, 1209600.0, None, None, None]
    """
    if isinstance(text, bool):
        return None
    number = str(text).strip()
    factor = _SECONDS.get(number[-1:].lower())
    try:
        seconds = float(number[:-1] if factor else number) * (factor or 1)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def status_text(status: int) -> str:
    """Return an HTTP status with its reason phrase.

    >>> status_text(429), status_text(799)
    ('429 Too Many Requests', '799')
    """
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
