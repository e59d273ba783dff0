"""Tells which classes a URL may belong to: templates for all URLs that one script may answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import IN_QUERY, as_template, name_of, readable_params, value_of
from scrapy_urlcanon.learn.vocabulary import (
    NUMBER,
    is_identifier,
    is_number,
    is_ordering,
    is_protected,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.learn.location import Location

_MAX_SEGMENTS, _MAX_PARAMS = 8, 5
"""How many segments and how many parameters the URLs of a class may have."""

_MAX_VALUE = 40
"""How many characters a value in a class may have."""

NUMBERED = re.compile(r"[A-Za-z][-_.]?[0-9]|[0-9][-_.]?[A-Za-z]")
"""A slug beside a number."""

_NUMBER_FIRST = re.compile("[0-9]+([-_.])")

# A title: several words.
_TITLE = re.compile(r"[^\W\d_]{2}[-_+][^\W\d_]{2}|%[8-F]")

# A text with more numbers than this is a token.
_MAX_NUMBERS = 3

# Words that stand for whichever version is the newest.
_VERSION = re.compile("latest|newest|current|stable|head|tip", re.IGNORECASE)

ANY_PATH = "/{rest:path}?"
"""The beginning of templates for any path."""

_NAMES = "abcdefghijklmnop"


def shape_of(path: str) -> str:
    """Return the first segment of a path, with 0 for its numbers, and the number of segments.

    >>> shape_of("/wiki/Main_Page"), shape_of("/Main_Page")
    ('wiki 2', ' 1')
    """
    segments = path.split("/")[1:]
    return (
        f"{NUMBER.sub('0', segments[0])} {len(segments)}"
        if len(segments) > 1
        else f" {len(segments)}"
    )


def templates_of(location: Location) -> Iterator[str]:
    """Yield the classes of a URL, as templates, the narrowest first.

    A URL without a number has none, since a class of all slugs would be the whole site; unless its
    path has a word for the latest version.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> list(templates_of(locate("http://a.example/?p=12")))
    ['/?p={a:digits}']
    >>> list(templates_of(locate("http://a.example/node/7"))), list(
    ...     templates_of(locate("http://a.example/some-slug/"))
    ... )
    (['/node/{a:digits}'], [])

    >>> list(templates_of(locate("http://a.example/simple/some-name/latest")))
    ['/{a}/{b}/latest']

    If a parameter has the number, there is also a class for any path.

    >>> for template in templates_of(locate("http://a.example/forum/cats-7/?post=345.msg8")):
    ...     print(template)
    /forum/{a}/?post={b:digits}.msg{c:digits}
    /{rest:path}?post={a:digits}.msg{b:digits}

    If a later segment has it, there is also one for any titles before that.

    >>> for template in templates_of(locate("http://a.example/d/12-some-title/345")):
    ...     print(template)
    /d/{a:digits}-some-title/{b:digits}
    /d/{a}/{b:digits}
    """
    segments = location.path.split("/")[1:]
    if len(segments) > _MAX_SEGMENTS or len(location.params) > _MAX_PARAMS:
        return
    params = [(name_of(param), value_of(param)) for param in readable_params(location)]
    if not all(_may_be_of_a_class(name, value) for name, value in params):
        return
    names = iter(_NAMES)
    parts = []
    for n, segment in enumerate(segments):
        if location.params and not is_number(segment) and NUMBERED.search(segment):
            # A field for any text. In a query that is a path it would match names of parameters, so
            # a number before the text stays.
            number = segments[n - 1] == IN_QUERY and _NUMBER_FIRST.match(segment)
            before = f"{_place(names, ':digits')}{number[1]}" if number else ""
            parts.append(before + _place(names))
        else:
            parts.append(_masked(segment, names))
    path = "/" + "/".join(parts)
    query = "&".join(f"{name}={_masked(value, names)}" for name, value in params)
    if not location.params and ":digits}" not in path:
        yield from _of_version(segments)
        return
    if ":digits}" not in path + query or next(names, "") == "":
        return
    yield as_template(f"{path}?{query}" if query else path)
    numbered = [n for n, segment in enumerate(segments) if NUMBER.search(segment)]
    last = 0 if query else numbered[-1]
    if any(map(is_title, segments[:last])):
        yield as_template(_with_any_titles(segments, last))
    if query and path != "/" and IN_QUERY not in segments:
        names = iter(_NAMES)
        query = "&".join(f"{name}={_masked(value, names)}" for name, value in params)
        if ":digits}" in query:
            yield ANY_PATH + query


def _with_any_titles(segments: list[str], last: int) -> str:
    """Return the class of a path for any titles before the segment number *last*."""
    names = iter(_NAMES)
    parts = [
        _place(names) if n < last and is_title(segment) else _masked(segment, names)
        for n, segment in enumerate(segments)
    ]
    return "/" + "/".join(parts)


def _of_version(segments: list[str]) -> Iterator[str]:
    """Yield the class of paths that have a word for the latest version where this path has it."""
    if any(map(_VERSION.fullmatch, segments)):
        names = iter(_NAMES)
        # If the path ends with a slash, the last segment is empty.
        said = (s if not s or _VERSION.fullmatch(s) else _place(names) for s in segments)
        yield "/" + "/".join(said)


def _may_be_of_a_class(name: str, value: str) -> bool:
    """Tell whether URLs with this parameter may be skipped as a class.

    Not if it numbers or orders the parts of a listing, which change when the listing grows, and not
    if it is a token, since one token says nothing about others.
    """
    is_of_listing = is_ordering(name) or (is_protected(name) and name != "p")
    is_token = is_identifier(value) and not is_number(value)
    return bool(name) and len(value) <= _MAX_VALUE and not is_of_listing and not is_token


def is_title(segment: str) -> bool:
    """Tell whether a segment of a path is a title of several words, or has a number beside a word.

    >>> is_title("some-title"), is_title("cats-7"), is_title("general")
    (True, True, False)
    """
    return bool(NUMBERED.search(segment) or _TITLE.search(segment))


def _place(names: Iterator[str], kind: str = "") -> str:
    """Return a field with the next name, or with the last name if there are no more."""
    return "{" + next(names, _NAMES[-1]) + kind + "}"


def _masked(text: str, names: Iterator[str]) -> str:
    """Return a text with fields for its numbers, unless it is encoded or has too many numbers."""
    text = text.replace("{", "%7B").replace("}", "%7D")
    if "%" in text or len(NUMBER.findall(text)) > _MAX_NUMBERS:
        return text
    return NUMBER.sub(lambda _: _place(names, ":digits"), text)
