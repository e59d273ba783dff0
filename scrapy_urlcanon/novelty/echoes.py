"""What says nothing in a text: what it repeats of its URL, and addresses on the same site."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from scrapy_urlcanon.pages.signature import Lines, lines_of_lower

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST: Final = 3
_MOST_TEXTS, _MOST_LENGTH = 20, 200
_BETWEEN = re.compile(r"[/&;?=]+")
_PLACE: Final = b"\0"
_HOSTS: Final = 1 << 8
# JSON may have a backslash before each slash. One pattern of both takes forty times as long, since
# they begin with nothing in common.
_PATH_AS_VALUE = re.compile(rb': ?"\\?/[^\s"<>]*')


def without_echoes(
    url: str, text: bytes, lines: Lines, is_known: Callable[[int], bool]
) -> tuple[Lines, Lines]:
    r"""Return *lines* with what they repeat of *url* made one sign, and those that have any of it.

    So a line that says the same of another URL is no other one. One that is known as it stands is
    left so: a text has any word, and not each URL with such a word makes another text of it. The
    latter are as they stand there: elsewhere, where they repeat nothing, they are old too.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> pages = [(f"http://a.example/find?q={word}", f"nothing found for {word}\nhelp".encode())
    ...     for word in ("apple", "pear")]
    >>> one, other = (
    ...     without_echoes(url, text, lines_of(text), lambda line: False) for url, text in pages
    ... )
    >>> one[0] == other[0], one[1] == other[1], len(one[1])
    (True, False, 1)

    :param text: what stands in the first of *lines*, in lower case.
    :param is_known: tells whether a line of this hash was seen.
    """
    without = text_without_echoes(url, text)
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


def text_without_echoes(url: str, text: bytes) -> bytes:
    r"""Return *text*, in lower case, with what it repeats of *url* made one sign.

    So are addresses on the same site, which data and feeds have in their text where other pages
    have them in attributes.

    >>> text = b'"next": "http://a.example/list?page=7"'
    >>> text_without_echoes("http://a.example/all", text)
    b'"next": "\x00"'
    """
    # To look for both takes a twentieth of the time that the patterns take.
    if b":" in text and b"/" in text:
        address = _address_on(url.partition("://")[2].partition("/")[0].lower())
        text = _PATH_AS_VALUE.sub(_PLACE, address.sub(_PLACE, text))
    for echo in echoes_of(url):
        text = text.replace(echo.encode("utf-8", "surrogatepass"), _PLACE)
    return text


@lru_cache(_HOSTS)
def _address_on(authority: str) -> re.Pattern[bytes]:
    """Return the pattern of an address there."""
    host = re.escape(authority.encode("utf-8", "surrogatepass"))
    return re.compile(rb"https?:(?:\\?/){2}" + host + rb"(?![\w.-])[^\s\"<>]*")


def echoes_of(url: str) -> list[str]:
    """Return what a page may repeat of *url*, in small letters, the longest first.

    >>> echoes_of("http://a.example/w/Main_Page?title=User:Ann+B&id=7")
    ['user:ann b', 'main_page', 'main page', 'title', 'ann b']
    """
    rest = url[: 10 * _MOST_LENGTH].partition("://")[2].partition("/")[2]
    found: dict[str, None] = {}
    for piece in _BETWEEN.split(rest)[:_MOST_TEXTS]:
        text = " ".join(unquote_plus(piece)[:_MOST_LENGTH].lower().split())
        spaced = text.replace("_", " ")
        # As it stands there, as words, and each without a namespace.
        forms = (text, spaced, spaced.replace("-", " "))
        for each in (*forms, *(form.rpartition(":")[2] for form in forms)):
            if len(each) >= _LEAST and not each.isdecimal():
                found[each] = None
    return sorted(found, key=len, reverse=True)
