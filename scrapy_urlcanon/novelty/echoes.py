"""Masks what says nothing in a text: repetitions of its own URL, and URLs on the same site."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from scrapy_urlcanon.pages.signature import Lines, lines_of_lower

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_urlcanon.pages.page import Page

_LEAST: Final = 3
_MOST_TEXTS, _MOST_LENGTH = 20, 200
_BETWEEN = re.compile(r"[/&;?=]+")
_PLACE: Final = b"\0"
_HOSTS: Final = 1 << 8
# JSON may have a backslash before each slash. A single pattern for paths and absolute URLs would
# take forty times as long, since they have no common prefix.
_PATH_AS_VALUE = re.compile(rb': ?"\\?/[^\s"<>]*')


def without_echoes(
    url: str, page: Page, is_known: Callable[[int], bool], labels: Sequence[str] = ()
) -> tuple[Lines, Lines]:
    r"""Return the lines of *page* with repetitions of *url* masked, and the originals of these.

    So a line that says the same of another URL counts as the same line. A line that is known in its
    original form is not masked: any text may contain a word of some URL, and does not become
    another text by that. The original lines are returned too, so that they are old on other pages,
    where they repeat nothing.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> one, other = (
    ...     without_echoes(url, Page(url, b"", f"<p>Nothing for {word}<p>Help"), lambda line: False)
    ...     for word in ("apple", "pear")
    ...     for url in [f"http://a.example/find?q={word}"]
    ... )
    >>> one[0] == other[0], one[1] == other[1], len(one[1])
    (True, False, 1)

    :param is_known: tells whether a line with this hash was seen.
    :param labels: other texts, in lower case, that are masked as what repeats the URL is.
    """
    text, lines = page.lower, page.lines
    without = text_without_echoes(url, text, labels)
    if without == text:
        return lines, Lines()
    masked, exact, words = ([*column] for column in lines.columns)
    repeating: list[int] = []
    for number, (line, bare) in enumerate(
        zip(text.split(b"\n"), without.split(b"\n"), strict=True)
    ):
        if line != bare:
            repeating.append(number)
            if not is_known(exact[number]):
                masked[number], exact[number], _ = lines_of_lower(bare)[0]
    as_they_stand = Lines(*([column[n] for n in repeating] for column in lines.columns))
    return Lines(masked, exact, words), as_they_stand


def text_without_echoes(url: str, text: bytes, labels: Sequence[str] = ()) -> bytes:
    r"""Return *text*, which is in lower case, with *labels* and what it repeats of *url* masked.

    URLs on the same site are masked too: data and feeds have them in their text, where pages have
    them in attributes.

    >>> text = b'"next": "http://a.example/list?page=7"'
    >>> text_without_echoes("http://a.example/all", text)
    b'"next": "\x00"'
    """
    # This test takes a twentieth of the time of the patterns.
    if b":" in text and b"/" in text:
        address = _address_on(url.partition("://")[2].partition("/")[0].lower())
        text = _PATH_AS_VALUE.sub(_PLACE, address.sub(_PLACE, text))
    for echo in sorted((*labels, *echoes_of(url)), key=len, reverse=True):
        text = text.replace(echo.encode("utf-8", "surrogatepass"), _PLACE)
    return text


@lru_cache(_HOSTS)
def _address_on(authority: str) -> re.Pattern[bytes]:
    """Return the pattern of absolute URLs with this authority."""
    host = re.escape(authority.encode("utf-8", "surrogatepass"))
    return re.compile(rb"https?:(?:\\?/){2}" + host + rb"(?![\w.-])[^\s\"<>]*")


def echoes_of(url: str) -> list[str]:
    """Return the texts of *url* that a page may repeat, in lower case, the longest first.

    >>> echoes_of("http://a.example/w/Main_Page?title=User:Ann+B&id=7")
    ['user:ann b', 'main_page', 'main page', 'title', 'ann b']
    """
    rest = url[: 10 * _MOST_LENGTH].partition("://")[2].partition("/")[2]
    found: dict[str, None] = {}
    for piece in _BETWEEN.split(rest)[:_MOST_TEXTS]:
        text = as_shown(unquote_plus(piece)[:_MOST_LENGTH])
        spaced = text.replace("_", " ")
        # Unchanged, as words, and each without a namespace.
        forms = (text, spaced, spaced.replace("-", " "))
        for each in (*forms, *(form.rpartition(":")[2] for form in forms)):
            if is_telling(each):
                found[each] = None
    return sorted(found, key=len, reverse=True)


def as_shown(text: str) -> str:
    """Return *text* in lower case, with single spaces, so that it compares with that of a page."""
    return " ".join(text.lower().split())


def is_telling(text: str) -> bool:
    """Tell whether *text* is long enough, and no number, so that no page has it by chance."""
    return len(text) >= _LEAST and not text.isdecimal()
