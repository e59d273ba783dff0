"""Removes from the text of a page what changes at each visit and is no content."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.inner_loops import has_time, has_token

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_CLOCK = re.compile(rb"(\d{1,2}):([0-5]\d)(?::[0-5]\d)?(?!\d)")
_MERIDIEM = re.compile(rb" ?([ap])\.?m\b", re.IGNORECASE)
# All offsets from UTC in minutes (IANA time zone database), and one minute more.
_ZONES = range(-12 * 60 - 1, 14 * 60 + 2)
# A date is within this many characters before or after its time of day.
_BESIDE = 32
_ISOLATED = re.compile(rb"(?<!\d)\d{1,4}(?!\d)")
_NUMBER = re.compile(rb"\d+")
_YEAR = re.compile(rb"(?:19|20)\d\d")
# An age in hours or less, which depends on the time of the visit. An age in days is the same
# throughout most crawls.
_AGE = re.compile(
    rb"(?:\b\d+ days?,? (?:and )?)?"
    rb"(?:\b(?:\d+|an?) (?:hour|minute|second)s?,? (?:and )?){0,2}"
    rb"\b(?:\d+|an?) (?:hour|minute|second)s?\Z"
)
_AGO = re.compile(rb" ago\b")
_LONGEST_AGE = 80
# An arrow at the end of a line, in UTF-8. It shows by which column a table is sorted.
_MARK = re.compile(
    rb"(?:\xe2(?:\x86[\x91\x93]|\x87[\xa7\xa9]|\x96[\xb2-\xb5\xbc-\xbf]|\xac[\x86\x87]))+(?=\n|\Z)"
)
_AFTER_ADDRESS = b" \n\"'<>"
# Tokens and digests in forms and assets, which change at each visit.
_LONG = 32
_TOKEN = re.compile(rb"\b[0-9a-fA-F]{%d,}\b" % _LONG)


class _Day(NamedTuple):
    """A day that it may be somewhere on Earth at the time of a visit."""

    year: int
    number: int
    """The day of the month."""
    minutes: int
    """From midnight before the visit in UTC to the midnight at which this day begins, in
    minutes."""


def steady(text: bytes, date: str) -> bytes:
    """Return *text*, a number of lines, without what changes at each visit.

    Replaced are tokens of 32 or more hexadecimal digits; English ages in hours, minutes or seconds;
    and times of day within a minute of *date* in any time zone, which differ by half hours. Any
    other time may be content, such as a departure. So may a time beside a date on which it is that
    time in no time zone. And so may times in a list of which most lines have other times: of thirty
    posts about three would match by chance, and others at the next visit.

    :param date: the value of the ``Date`` header (RFC 9110, section 6.6.1), or empty.
    """
    if has_token(text, _LONG):
        text = _TOKEN.sub(b"0", text)
    if b" ago" in text:
        text = _without_ages(text)
    now = _time_of(date) if date and has_time(text) else None
    return _without_now(text, *now) if now else text


def without_marks(text: bytes) -> bytes:
    r"""Return *text*, a number of lines, without arrows after the titles of columns.

    A table with a single row is the same in any order. An arrow after a number is content.

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
    r"""Return *text*, a number of lines, without the *url* of the page: a feed states its own.

    >>> without_address(b"id\nhttp://a.example/b\nhttp://a.example/b/7", "http://a.example/b")
    b'id\n\nhttp://a.example/b/7'
    """
    address = url.encode("utf-8", "surrogatepass")
    first, *others = text.split(address) if address else [text]
    pieces = (b if b[:1] in _AFTER_ADDRESS else address + b for b in others)
    return first + b"".join(pieces)


def without_query(text: bytes, url: str) -> bytes:
    r"""Return *text*, a number of lines, without the query of the *url* of the page.

    A page may repeat what was asked of it, as a print view does in its footer. That is no content.
    Other URLs in it are kept.

    >>> text = b"GET /b?c=1\nfrom http://a.example/b?c=1.\n/b?c=12"
    >>> without_query(text, "http://a.example/b?c=1").decode().split("\n")
    ['GET /b', 'from http://a.example/b.', '/b?c=12']
    """
    rest = url.partition("#")[0].partition("://")[2]
    before, _, query = rest.partition("?")
    asked = f"/{before.partition('/')[2]}?{query}".encode("utf-8", "surrogatepass")
    if not query or asked not in text:
        return text
    path = asked[: -len(query.encode("utf-8", "surrogatepass")) - 1]
    return re.sub(re.escape(asked) + rb"(?![\w%&=+/-])", lambda _: path, text)


def _without_ages(text: bytes) -> bytes:
    """Return *text* with ``0`` for each age; only the text before each "ago" is examined."""
    pieces: list[bytes] = []
    done = 0
    for ago in _AGO.finditer(text):
        age = _AGE.search(text, max(done, ago.start() - _LONGEST_AGE), ago.start())
        if age:
            pieces += text[done : age.start()], b"0"
            done = ago.start()
    return b"".join([*pieces, text[done:]])


def _without_now(text: bytes, now: int, days: Collection[_Day]) -> bytes:
    """Return *text* with ``0:00`` for each time that is the time of the visit."""
    times = list(_CLOCK.finditer(text))
    of_visit = [
        (int(time[2]) - now + 1) % 30 <= 2  # noqa: PLR2004
        and _may_be_of(now, days, time)
        for time in times
    ]
    if not any(of_visit):
        return text
    lines = list(_lines_of(text, times))
    all_times = Counter(lines)
    visits = Counter(compress(lines, of_visit))
    pieces: list[bytes] = []
    done = 0
    for time, line in compress(zip(times, lines, strict=True), of_visit):
        if 2 * visits[line] >= all_times[line]:
            pieces += text[done : time.start()], b"0:00"
            done = time.end()
    return b"".join([*pieces, text[done:]])


def _lines_of(text: bytes, times: Iterable[re.Match[bytes]]) -> Iterator[bytes]:
    """Yield for each time the line that it is in, with numbers masked."""
    line, end = b"", 0
    for time in times:
        # One line may have very many times.
        if time.start() >= end:
            start = text.rfind(b"\n", end, time.start()) + 1 or end
            end = text.find(b"\n", time.end())
            end = len(text) if end < 0 else end
            line = _NUMBER.sub(b"0", text[start:end])
        yield line


def _may_be_of(now: int, days: Collection[_Day], time: re.Match[bytes]) -> bool:
    """Tell whether a time of day may be that of the visit, judged by the date beside it."""
    text, start, end = time.string, time.start(), time.end()
    before = text[max(0, start - _BESIDE) : start].rpartition(b"\n")[2]
    after = text[end : end + _BESIDE].partition(b"\n")[0]
    numbers = _ISOLATED.findall(before + after)
    years = [int(number) for number in numbers if _YEAR.fullmatch(number)]
    if not years:
        return True
    there = {int(number) for number in numbers}
    from_utc = _minutes(time, after) - now
    return any(
        day.year in years and day.number in there and day.minutes + from_utc in _ZONES
        for day in days
    )


def _minutes(time: re.Match[bytes], after: bytes) -> int:
    """Return the minutes from midnight to a time; "am" or "pm" may come *after* it."""
    hour = int(time[1])
    if half := _MERIDIEM.match(after):
        hour = hour % 12 + 12 * (half[1] in b"pP")
    return 60 * hour + int(time[2])


@lru_cache(maxsize=8)
def _time_of(date: str) -> tuple[int, tuple[_Day, ...]] | None:
    """Return the minutes from midnight to *date* (UTC), and the days it may be then on Earth."""
    try:
        now = parsedate_to_datetime(date)
        days = [(now + timedelta(days), 24 * 60 * days) for days in (-1, 0, 1)]
    except (ValueError, OverflowError):
        return None
    return 60 * now.hour + now.minute, tuple(
        _Day(day.year, day.day, minutes) for day, minutes in days
    )
