"""What a page only repeats of its URL: a search for ``red shoes`` that says "red shoes"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from scrapy_urlcanon.pages.signature import Lines, lines_of_lower

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST: Final = 3
_MOST_TEXTS, _MOST_LENGTH = 20, 200
_BETWEEN = re.compile(r"[/&;?=]+")
_PLACE: Final = b"\0"


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
    """Return *text*, in lower case, with what it repeats of *url* made one sign."""
    for echo in echoes_of(url):
        text = text.replace(echo.encode("utf-8", "surrogatepass"), _PLACE)
    return text


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
