"""Finds what differs between two URLs."""

from __future__ import annotations

from difflib import SequenceMatcher
from enum import Enum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.redaction import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_COMPARED = 400
"""The most tokens that are compared, since that takes quadratic time. In longer URLs the middle
counts as different."""


class Side(Enum):
    """Which of two URLs has a piece."""

    BOTH = "both"
    FIRST = "first"
    SECOND = "second"


class Piece(NamedTuple):
    """A part of a URL to be shown."""

    text: str
    side: Side


class _Token(NamedTuple):
    text: str
    """The text with its delimiter."""
    key: tuple[str, str]
    """What is compared: component and content, without the delimiter, which depends on the
    place."""


def difference(first: str, second: str) -> tuple[Piece, ...]:
    """Return both URLs in one: what they share, and between that what only one of them has.

    The pieces of both and of the first, joined, give the first URL. Redacted texts count as
    different, since they may be.

    >>> for piece in difference("http://www.example.com/a?id=2", "http://example.com/b?id=2"):
    ...     print(piece.side.value, piece.text)
    both http://
    first www.
    both example.com/
    first a
    second b
    both ?id=2
    """
    return tuple(_joined(_pieces(list(_tokens(first)), list(_tokens(second)))))


def _pieces(first: Sequence[_Token], second: Sequence[_Token]) -> Iterator[Piece]:
    shorter = min(len(first), len(second))
    start = next((i for i in range(shorter) if first[i].key != second[i].key), shorter)
    shorter -= start
    end = next((i for i in range(shorter) if first[-1 - i].key != second[-1 - i].key), shorter)
    yield from _shared(first[:start])
    yield from _differing(first[start : len(first) - end], second[start : len(second) - end])
    yield from _shared(first[len(first) - end :])


def _differing(first: Sequence[_Token], second: Sequence[_Token]) -> Iterator[Piece]:
    if max(len(first), len(second)) > _MAX_COMPARED:
        yield from (Piece(token.text, Side.FIRST) for token in first)
        yield from (Piece(token.text, Side.SECOND) for token in second)
        return
    matcher = SequenceMatcher(
        None, [token.key for token in first], [token.key for token in second], autojunk=False
    )
    for tag, low, high, second_low, second_high in matcher.get_opcodes():
        if tag == "equal":
            yield from _shared(first[low:high])
        else:
            yield from (Piece(token.text, Side.FIRST) for token in first[low:high])
            yield from (Piece(token.text, Side.SECOND) for token in second[second_low:second_high])


def _shared(tokens: Sequence[_Token]) -> Iterator[Piece]:
    for token in tokens:
        yield Piece(token.text, Side.FIRST if REDACTED in token.text else Side.BOTH)


def _joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    for side, group in groupby(pieces, key=attrgetter("side")):
        text = "".join(piece.text for piece in group)
        if text:
            yield Piece(text, side)


def _tokens(url: str) -> Iterator[_Token]:
    """Split *url* where a reader would. Unlike a parser this takes any text and keeps all."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    rest, hash_, fragment = rest.partition("#")
    rest, question_mark, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    userinfo, at, host = authority.rpartition("@")
    host, colon, port = host.partition(":")
    if separator:
        yield _Token(scheme + separator, ("scheme", scheme))
    if at:
        yield _Token(userinfo + at, ("userinfo", userinfo))
    *parents, last = host.split(".")
    for label in parents:
        yield _Token(label + ".", ("host", label))
    yield _Token(last, ("host", last))
    if colon:
        yield _Token(colon + port, ("port", port))
    if slash:
        yield from _path(path)
    if question_mark:
        first, *others = query.split("&")
        yield _Token("?" + first, ("query", first))
        for parameter in others:
            yield _Token("&" + parameter, ("query", parameter))
    if hash_:
        yield _Token(hash_ + fragment, ("fragment", fragment))


def _path(path: str) -> Iterator[_Token]:
    for segment in path.split("/"):
        name, *parameters = segment.split(";")
        yield _Token("/", ("path", "/"))
        yield _Token(name, ("path", name))
        for parameter in parameters:
            yield _Token(";" + parameter, ("path parameter", parameter))
