"""Hashed features of a URL and of the link to it: what a model learns from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BITS: Final = 18
"""Features are numbers below ``2 ** BITS``; what falls on one number is learned together."""
_MASK = (1 << BITS) - 1
_SPREAD = 0x9E3779B1  # 2**32 / golden ratio (Knuth, TAOCP 6.4)

_RARE = 4
"""A text that fewer URLs had is taken for any rare one: it says nothing, but that it is rare."""
_MOST = 255
_MAX_SEGMENTS, _MAX_PARAMETERS, _MAX_TOKEN = 6, 12, 60

_FOLDED = re.compile(
    r"(?P<u>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
    r"|(?P<d>(?<!\d)\d{4}[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:[0-2]\d|3[01])(?!\d))"
    r"|(?P<h>(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{7,}(?![0-9a-z]))"
    r"|(?P<t>(?<![0-9a-z])(?=[a-z]*\d)[0-9a-z]{16,}(?![0-9a-z]))"
    r"|(?P<n>\d+)"
)
_SEPARATOR = re.compile(r"[&;]")
_WORD = re.compile(r"[^a-z%]")


class Features(NamedTuple):
    """What is learned from of one request."""

    coarse: tuple[int, ...]
    """Of the shape of the URL alone: few kinds of these are on a site."""
    all: tuple[int, ...]
    """These and finer ones; requests with the same ones wait in one queue."""


def fold(text: str) -> str:
    """Return *text* in small letters, with digits, hashes, UUIDs and dates as one letter each.

    >>> fold("Page-12"), fold("3f2a9c01"), fold("2024-05-17"), fold("cafe")
    ('page-#n', '#h', '#d', 'cafe')
    """
    text = text[:_MAX_TOKEN].lower()
    return text if text.isalpha() else _FOLDED.sub(_kind, text)


def _kind(found: re.Match[str]) -> str:
    return f"#{found.lastgroup}"


class UrlFeatures:
    """Makes features of URLs, and remembers how often it has met what.

    Each feature counts twice: as one of its host, and as one of all hosts. So a new host starts
    where the others are. Texts that were rare so far share one feature: that most titles are
    new ones is all that can be learned of them.

    >>> features = UrlFeatures()
    >>> one, other = (features.of(f"http://a.example/post/{n}?page=2") for n in (7, 8))
    >>> one == other, one == features.of("http://a.example/post/7?sort=2")
    (True, False)
    """

    def __init__(self) -> None:
        self.counts = bytearray(_MASK + 1)
        """How often each hash was met, up to 255."""

    def of(
        self, url: str, context: Iterable[str] = (), linked_by: tuple[int, ...] = ()
    ) -> Features:
        """Return the features of *url*.

        :param context: further ones, of the link or of the page with the link.
        :param linked_by: the coarse features of the page with the link.
        """
        host, path, query = _parts(url)
        of_host = crc32(host.encode("utf-8", "replace")) * _SPREAD
        shape = _hashed(_shape(path, query), of_host)
        if shape == linked_by:
            context = (*context, "from its own kind")
        fine = [*shape, *_hashed(context, of_host)]
        counts = self.counts
        for text in _words(path, query):
            number = crc32(text.encode("utf-8", "replace"))
            place = (number * _SPREAD ^ of_host) >> 7 & _MASK
            count = counts[place]
            if count < _MOST:
                counts[place] = count + 1
            if count < _RARE:
                number = crc32(f"rare {text.partition('=')[0]}".encode("utf-8", "replace"))
                place = (number * _SPREAD ^ of_host) >> 7 & _MASK
            fine += (number & _MASK, place)
        return Features(shape, tuple(fine))

    @staticmethod
    def shape(url: str) -> tuple[int, ...]:
        """Return the coarse features of *url* alone."""
        host, path, query = _parts(url)
        return _hashed(_shape(path, query), crc32(host.encode("utf-8", "replace")) * _SPREAD)


def _hashed(texts: Iterable[str], of_host: int) -> tuple[int, ...]:
    numbers: list[int] = []
    for text in texts:
        number = crc32(text.encode("utf-8", "replace"))
        numbers += (number & _MASK, (number * _SPREAD ^ of_host) >> 7 & _MASK)
    return tuple(numbers)


def _parts(url: str) -> tuple[str, list[str], list[str]]:
    """Return host, segments of the path and parameters of *url*."""
    rest = url.partition("#")[0].partition("://")[2]
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    segments = path.split("/")
    if len(segments) > _MAX_SEGMENTS:
        segments = [*segments[: _MAX_SEGMENTS - 1], segments[-1]]
    pieces = _SEPARATOR.split(query)[:_MAX_PARAMETERS] if query else []
    return host, [fold(segment) for segment in segments], pieces


def _shape(path: list[str], pieces: list[str]) -> Iterator[str]:
    """Yield what tells kinds of URLs apart: of each there are few on a site."""
    leaf = path[-1]
    extension = leaf.rpartition(".")[2] if "." in leaf else ""
    kinds = "/".join("w" if segment.isalpha() else _WORD.sub("", segment)[:8] for segment in path)
    names = sorted({fold(piece.partition("=")[0]) for piece in pieces})
    yield "any"
    yield f"shape {kinds if len(path) == 1 else len(path)} {extension[:8]}"
    yield f"number {len(pieces)}"
    yield f"first {path[0]}" if len(path) > 1 else f"file {extension[:8]}"
    if pieces:
        yield f"names {' '.join(names)}"
        for name in names:
            yield f"name {name}"


def _words(path: list[str], pieces: list[str]) -> Iterator[str]:
    """Yield the texts in a URL that may be any; what stands before ``=`` says what they are."""
    for end in range(2, len(path)):
        yield f"prefix{end}=/{'/'.join(path[:end])}"
    yield f"leaf={path[-1]}"
    head = _WORD.split(path[-1], 1)[0]
    if head != path[-1]:
        yield f"head={head}"
    for piece in pieces:
        name, _, value = piece.partition("=")
        name, value = fold(name), fold(value)
        yield f"value {name}={value}"
        head = _WORD.split(value, 1)[0]
        if head != value:
            yield f"head {name}={head}"
