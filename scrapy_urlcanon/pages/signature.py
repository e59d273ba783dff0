"""Signatures: hashes of the text of a page, line by line, kept in place of the page."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from functools import partial
from hashlib import sha1
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple, overload

from xxhash import xxh3_64_intdigest

from scrapy_urlcanon.pages.inner_loops import (
    lines_and_shapes,
    lines_by_kind,
    packed_lines,
    simhash,
    sorted_hashes,
    unpacked_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

MAX_LINES = 1000
"""How many lines of a page are kept, some 6 bytes each; real pages have 50 to 400."""

_FIRST_LINES = 500
"""Of a longer page the first lines are kept, and a sample of the rest: two source files may differ
only after a thousand line numbers."""

MIN_WORDS = 20
"""Texts with fewer words, in different lines, are too short for a simhash."""

BOILERPLATE_SHARE = 0.2
"""A line in more than this share of a site's distinct texts is boilerplate."""

RAW = "raw:"
"""The prefix of the digest of a body, used if there is no text for readers: no text at all, or data
for a program."""

_OTHER_DIGITS = re.compile(r"[^\D0-9]")
_BEGIN_OTHER_DIGITS = b"\xd9\xdb\xdf\xe0\xe1\xea\xef\xf0"
"""The first UTF-8 bytes of such digits; few texts in Latin, Greek or Cyrillic contain them."""
_WORDS_OF_A_FEATURE = 4
# The packed form of lines: bytes of a hash, the largest number of words, and a bit that marks
# packed lines, which no number of lines has.
_BYTES, _MOST_WORDS, _PACKED = 5, 127, 1 << 15
_KEPT = (1 << 8 * _BYTES) - 1

MAX_PACKED = 4 + MAX_LINES * (1 + 2 * _BYTES)
"""The most bytes of the packed lines of a page."""


hash64: Callable[[bytes], int] = xxh3_64_intdigest
"""Returns a 64-bit hash of bytes, the same on every machine."""


class Line(NamedTuple):
    """The hashes of a line of the visible text, ignoring case, or of the address of a medium."""

    masked: int
    """Hash of the line with each number replaced by ``0``: equal for "12 comments" and "7
    comments"."""
    exact: int
    """Hash of the line."""
    words: int
    """An estimate of its number of words: one for each 6 bytes."""


class Lines(Sequence[Line]):
    """The hashes of the lines of a page, in order, in columns.

    Making an object for each line, and traversing it for garbage collection, would take longer than
    all that is done with it.

    >>> lines = Lines([1, 2], [1, 3], [5, 7])
    >>> lines[1], len(lines), lines.columns
    (Line(masked=2, exact=3, words=7), 2, ([1, 2], [1, 3], [5, 7]))
    """

    __slots__ = ("columns",)

    def __init__(
        self, masked: Sequence[int] = (), exact: Sequence[int] = (), words: Sequence[int] = ()
    ) -> None:
        self.columns = masked, exact, words
        """The columns :attr:`Line.masked`, :attr:`Line.exact` and :attr:`Line.words`."""

    def __len__(self) -> int:
        """Return how many lines there are."""
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Line]:
        """Yield each line."""
        return map(_line, zip(*self.columns, strict=True))

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> Lines: ...

    def __getitem__(self, index: int | slice) -> Line | Lines:
        """Return one line, or some of them."""
        if isinstance(index, slice):
            return Lines(*(column[index] for column in self.columns))
        return Line(*(column[index] for column in self.columns))

    def __eq__(self, other: object) -> bool:
        """Tell whether *other* has the same lines in the same order."""
        return isinstance(other, Lines) and [*self] == [*other]

    def __hash__(self) -> int:
        """Return the hash of all lines."""
        return hash((*self,))


class Boilerplate(NamedTuple):
    """Lines that do not distinguish the pages of a site."""

    masked: Collection[int] = ()
    """Masked hashes of lines on too many pages: menus, and counters with any number."""
    exact: Collection[int] = ()
    """Exact hashes of lines on too many pages."""
    steady: Collection[int] = ()
    """Masked hashes of lines whose numbers stayed the same at all second visits."""
    noise: Collection[int] = ()
    """Masked hashes of lines that changed at second visits."""


NO_BOILERPLATE = Boilerplate()
"""For a site that is too small to have known boilerplate, or a single page."""


class Signature(NamedTuple):
    """What is stored of a page."""

    raw_sha1: str
    """SHA-1 digest of the body as received, in hexadecimal."""
    text_sha1: str
    """Digest of the visible text, in hexadecimal; that of the body if it is not HTML."""
    title: int
    """64-bit hash of the title; 0 if it has none."""
    lines: Lines

    def main(self, boilerplate: Boilerplate = NO_BOILERPLATE) -> tuple[str, int | None]:
        """Return digest and simhash of the text without boilerplate.

        Numbers that stay the same at each visit are content: two pages that differ in one are two
        pages. If nothing is known about second visits, the numbers of a page count as content if it
        has more of them than words of its own, such as a stock quote or a measurement. The digest
        is empty if nothing is left; the simhash is None if too little is left.

        Data for a program has no menus, and each member of it matters. So everything counts in it
        that does not change at each visit.
        """
        is_data = self.text_sha1.startswith(RAW)
        if is_data:
            boilerplate = Boilerplate(noise=boilerplate.noise)
        own, numbers, doubtful = lines_by_kind(self.lines.columns, boilerplate)
        if _words(doubtful) > _words(own) + _words(numbers):
            numbers += doubtful
        lines = own + numbers
        if not lines:
            return "", None
        digest = digest_of([line for line, _ in lines]).hex()
        # Each line counts once: what every row of a listing repeats ("by", "last post", a date)
        # would outweigh the rest.
        words = dict(lines)
        if is_data or sum(words.values()) < MIN_WORDS:
            return digest, None
        # So near simhashes stay near if the numbers are equal, and become far if they differ.
        told = int.from_bytes(digest_of([line for line, _ in numbers])[:8], "big") if numbers else 0
        counts = [count // _WORDS_OF_A_FEATURE or 1 for count in words.values()]
        return digest, simhash([*words], counts) ^ told

    def pack(self) -> bytes:
        """Return the lines as bytes: their number, then column by column.

        40 bits of each hash are enough to distinguish the lines of one site.
        """
        columns = self.lines[:MAX_LINES].columns
        packed = packed_lines(*columns, _MOST_WORDS, _BYTES)
        count = len(columns[0])
        others = (len(packed) - count) // _BYTES - count
        return struct.pack("<HH", _PACKED | count, others) + packed


def unpack(data: bytes) -> Lines:
    """Return the lines that :meth:`Signature.pack` packed; none for no bytes.

    :raises ValueError: if the data are truncated or something else.
    """
    if not data:
        return Lines()
    if not isinstance(data, bytes):
        raise ValueError(f"expected bytes, got {type(data).__name__}")  # noqa: TRY004
    try:
        count, others = struct.unpack_from("<HH", data)
        columns = unpacked_lines(data[4:], count ^ _PACKED, others, _BYTES)
    except struct.error as error:
        raise ValueError(str(error)) from None
    return Lines(*columns)


def digest_of(exact: Sequence[int]) -> bytes:
    """Return the digest of lines from their *exact* hashes, whatever their order.

    So a listing in another order is the same.
    """
    return sha1(sorted_hashes(exact), usedforsecurity=False).digest()


def _words(lines: Iterable[tuple[int, int]]) -> int:
    return sum([count for _, count in lines])


def kept_of(line: int) -> int:
    """Return the bits of a line's hash that :meth:`Signature.pack` keeps."""
    return line & _KEPT


def pack_hashes(hashes: Iterable[int]) -> bytes:
    """Return the hashes of some lines as bytes, shortened as by :meth:`Signature.pack`."""
    kept = sorted(map(kept_of, hashes))
    return struct.pack(f"<{len(kept)}Q", *kept)


def unpack_hashes(data: bytes) -> tuple[int, ...]:
    """Return the hashes that :func:`pack_hashes` packed.

    :raises ValueError: if *data* was truncated or is something else.

    >>> unpack_hashes(pack_hashes([7, 1 << 50]))
    (0, 7)
    """
    if not isinstance(data, bytes) or len(data) % 8:
        raise ValueError("expected hashes of 8 bytes each")
    return struct.unpack(f"<{len(data) // 8}Q", data)


def lines_of(text: bytes) -> Lines:
    """Return the hashes of each line of *text*."""
    return lines_of_lower(lower_case(text))


def lines_of_lower(text: bytes, media: Iterable[bytes] = ()) -> Lines:
    """Return the hashes of each line of *text*, which is in lower case, and of each of *media*.

    Numbers in addresses of media are not masked, as they are part of a name.
    """
    exact: list[int] = []
    masked: list[int] = []
    words: list[int] = []
    if text:
        lines, words, shapes = lines_and_shapes(text)
        exact += map(hash64, lines)
        masked += exact
        others = text if text.isascii() else _without_other_digits(text)
        if others is not text:
            without, _, shapes = lines_and_shapes(others)
            shapes = {**dict(enumerate(without)), **shapes}
        for number, shape in shapes.items():
            masked[number] = hash64(shape)
    of_media = [*map(hash_of_medium, media)]
    return Lines(masked + of_media, exact + of_media, words + [1] * len(of_media))


def kept_lines(lines: Lines) -> Lines:
    """Return *lines*, or if there are too many, :data:`MAX_LINES` of them: the first and a sample.

    The sample has the lines with the smallest hashes, so that two long pages that share most lines
    share most of what is kept. The last line is a hash of all lines after the first ones. Like any
    other line it may have numbers, and may change at each visit.
    """
    if len(lines) <= MAX_LINES:
        return lines
    masked, exact, _ = lines.columns
    others = slice(_FIRST_LINES, None)
    rows = {exact[row]: row for row in reversed(range(_FIRST_LINES, len(exact)))}
    some = sorted(map(rows.__getitem__, nsmallest(MAX_LINES - _FIRST_LINES - 1, rows)))
    columns = ([*column[:_FIRST_LINES], *map(column.__getitem__, some)] for column in lines.columns)
    of_all = _hash_of_all(masked[others]), _hash_of_all(exact[others]), 1
    return Lines(*([*column, last] for column, last in zip(columns, of_all, strict=True)))


def _hash_of_all(hashes: Sequence[int]) -> int:
    return int.from_bytes(digest_of(hashes)[:8], "big")


def hash_of_medium(source: bytes) -> int:
    """Return the hash for the address of embedded media, which no line of text has."""
    return hash64(b"\0" + source)


_line = partial(tuple.__new__, Line)


def _without_other_digits(text: bytes) -> bytes:
    if not any(map(text.__contains__, _BEGIN_OTHER_DIGITS)):
        return text
    decoded = text.decode("utf-8", "surrogatepass")
    if not _OTHER_DIGITS.search(decoded):
        return text
    return _OTHER_DIGITS.sub("0", decoded).encode("utf-8", "surrogatepass")


def lower_case(text: bytes) -> bytes:
    """Return *text*, UTF-8, in lower case."""
    if text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")


def line_of(text: str) -> Line:
    """Return the hashes of one line of text."""
    return lines_of(text.encode("utf-8", "surrogatepass"))[0]
