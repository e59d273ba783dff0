"""What differs between two URLs, marked in each of them."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.report.redaction import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_COMPARED = 400
"""Of more tokens the middle is taken for different: the comparison is quadratic."""


class Piece(NamedTuple):
    """A part of a URL as it is shown."""

    text: str
    differs: bool
    """Whether the other URL does not have it, or not there."""


class _Token(NamedTuple):
    text: str
    """With its delimiter."""
    key: tuple[str, str]
    """What is compared: component and content. Which delimiter it has depends on its place."""


def difference(url: str, other: str) -> tuple[Piece, ...]:
    """Return the pieces of *url*, which joined make it, marked where *other* differs.

    What was redacted differs: there is no telling whether it does.

    >>> difference("http://www.example.com/a?sid=1&id=2", "http://example.com/a?id=2")
    ... # doctest: +NORMALIZE_WHITESPACE
    (Piece(text='http://', differs=False), Piece(text='www.', differs=True),
     Piece(text='example.com/a', differs=False), Piece(text='?sid=1', differs=True),
     Piece(text='&id=2', differs=False))
    """
    tokens, others = list(_tokens(url)), list(_tokens(other))
    return tuple(_joined(tokens, _marks(tokens, others)))


def _marks(tokens: Sequence[_Token], others: Sequence[_Token]) -> list[bool]:
    marks = [REDACTED in token.text for token in tokens]
    ours, theirs = [token.key for token in tokens], [token.key for token in others]
    shorter = min(len(ours), len(theirs))
    start = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    shorter -= start
    end = next((i for i in range(shorter) if ours[-1 - i] != theirs[-1 - i]), shorter)
    ours, theirs = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    if max(len(ours), len(theirs)) > _MAX_COMPARED:
        marks[start : start + len(ours)] = [True] * len(ours)
        return marks
    for tag, low, high, _, _ in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            marks[start + low : start + high] = [True] * (high - low)
    return marks


def _joined(tokens: Sequence[_Token], marks: Sequence[bool]) -> Iterator[Piece]:
    text, differs = "", False
    for token, mark in zip(tokens, marks, strict=True):
        if mark != differs and text:
            yield Piece(text, differs)
            text = ""
        text += token.text
        differs = mark
    if text:
        yield Piece(text, differs)


def _tokens(url: str) -> Iterator[_Token]:
    """Split *url* where a reader would; unlike a parser it takes any text and keeps all of it."""
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
        yield _Token("/" + name, ("path", name))
        for parameter in parameters:
            yield _Token(";" + parameter, ("path parameter", parameter))
