"""Takes out of the text of a page what is another one at each visit, and says nothing."""

from __future__ import annotations

import re
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_CLOCK = re.compile(rb"\d{1,2}:([0-5]\d)(?::[0-5]\d)?(?!\d)")
# A date stands so near to its time of day, before or after it.
_BESIDE = 32
_ISOLATED = re.compile(rb"(?<!\d)\d{1,4}(?!\d)")
_YEAR = re.compile(rb"(?:19|20)\d\d")
# How long ago something was, to the hour or less: it says when the page was made. An age in days is
# the same throughout most crawls.
_AGE = re.compile(
    rb"(?:\b\d+ days?,? (?:and )?)?"
    rb"(?:\b(?:\d+|an?) (?:hour|minute|second)s?,? (?:and )?){0,2}"
    rb"\b(?:\d+|an?) (?:hour|minute|second)s?\Z"
)
_AGO = re.compile(rb" ago\b")
_LONGEST_AGE = 80
# An arrow at the end of a line, in UTF-8: it says by which column a table is put in order.
_MARK = re.compile(
    rb"(?:\xe2(?:\x86[\x91\x93]|\x87[\xa7\xa9]|\x96[\xb2-\xb5\xbc-\xbf]|\xac[\x86\x87]))+(?=\n|\Z)"
)
_AFTER_ADDRESS = b" \n\"'<>"
# The tokens and digests of forms and assets, which are others at each visit.
_TOKEN = re.compile(rb"\b[0-9a-fA-F]{32,}\b")
_LONG = b"0" * 32
_HEX = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)


def steady(text: bytes, date: str) -> bytes:
    """Return *text*, some lines, without what is another one at each visit.

    That is a token of 32 hexadecimal digits or more, an age in hours, minutes or seconds, in
    English, and a time of day within a minute of *date*, in whichever time zone; those differ by
    half hours. Any other time may be what tells two pages apart, such as two departures. So is one
    beside another date: of thirty posts three would be as many minutes past an hour by chance, and
    other ones at the next visit.

    :param date: the value of the ``Date`` header (RFC 9110, section 6.6.1), empty where there is
        none.
    """
    zeros = text.translate(_HEX)
    if _LONG in zeros:
        text = _TOKEN.sub(b"0", text)
    if b" ago" in text:
        text = _without_ages(text)
    now = _time_of(date) if date and b"0:00" in zeros else None
    if now is None:
        return text
    minute, days = now

    def clock(found: re.Match[bytes]) -> bytes:
        is_now = (int(found[1]) - minute + 1) % 30 <= 2  # noqa: PLR2004
        return b"0:00" if is_now and _may_be_of(days, found) else found[0]

    return _CLOCK.sub(clock, text)


def without_marks(text: bytes) -> bytes:
    r"""Return *text*, some lines, without the arrows behind the titles of columns.

    A table with one row is the same in any order. Behind a number an arrow says something.

    >>> without_marks("Name ▲\nSize▼\n7 ▲\n▲".encode()).decode().split("\n")
    ['Name', 'Size', '7 ▲', '▲']
    """
    if b"\xe2" not in text:
        return text
    pieces: list[bytes] = []
    done = 0
    for mark in _MARK.finditer(text):
        end = mark.start()
        end -= text[end - 1 : end] == b" "
        last = text[end - 1 : end]
        if last.isalpha() or last > b"\x7f":
            pieces.append(text[done:end])
            done = mark.end()
    return b"".join([*pieces, text[done:]])


def without_address(text: bytes, url: str) -> bytes:
    r"""Return *text*, some lines, without the *url* that it was got from: a feed names its own.

    >>> without_address(b"id\nhttp://a.example/b\nhttp://a.example/b/7", "http://a.example/b")
    b'id\n\nhttp://a.example/b/7'
    """
    address = url.encode("utf-8", "surrogatepass")
    first, *others = text.split(address) if address else [text]
    pieces = (b if b[:1] in _AFTER_ADDRESS else address + b for b in others)
    return first + b"".join(pieces)


def _without_ages(text: bytes) -> bytes:
    """Return *text* with ``0`` for each age; only what stands before an "ago" is looked at."""
    pieces: list[bytes] = []
    done = 0
    for ago in _AGO.finditer(text):
        age = _AGE.search(text, max(done, ago.start() - _LONGEST_AGE), ago.start())
        if age:
            pieces += text[done : age.start()], b"0"
            done = ago.start()
    return b"".join([*pieces, text[done:]])


def _may_be_of(days: Collection[tuple[int, int]], found: re.Match[bytes]) -> bool:
    """Tell whether a time of day may be that of one of some days, by the date beside it."""
    text, start, end = found.string, found.start(), found.end()
    before = text[max(0, start - _BESIDE) : start].rpartition(b"\n")[2]
    numbers = _ISOLATED.findall(before + text[end : end + _BESIDE].partition(b"\n")[0])
    years = [int(number) for number in numbers if _YEAR.fullmatch(number)]
    there = {int(number) for number in numbers}
    return not years or any(year in years and day in there for year, day in days)


@lru_cache(maxsize=8)
def _time_of(date: str) -> tuple[int, frozenset[tuple[int, int]]] | None:
    """Return the minute of a date, and what day it may be then on the earth: year and day."""
    try:
        now = parsedate_to_datetime(date)
        days = [now + timedelta(days=offset) for offset in (-1, 0, 1)]
    except (ValueError, OverflowError):
        return None
    return now.minute, frozenset([(day.year, day.day) for day in days])
