"""What is kept of a page instead of the page: digests of its text, line by line."""

from __future__ import annotations

import re
import struct
import sys
from array import array
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import sha1
from typing import TYPE_CHECKING, NamedTuple

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

#: Lines that are kept of one page, some 6 bytes each; real ones have 50 to 400.
MAX_LINES = 1000

#: Texts of fewer words in different lines say too little for a near-duplicate signature.
MIN_WORDS = 20

#: A line that stands on more than this share of a site's distinct texts is boilerplate.
BOILERPLATE_SHARE = 0.2

#: Begins the digest of the body that stands for that of a text which there is not.
RAW = "raw:"

_CLOCK = re.compile(rb"\d{1,2}:([0-5]\d)(?::[0-5]\d)?(?!\d)")
# The tokens and digests of forms and assets, which are others at each visit.
_TOKEN = re.compile(rb"\b[0-9a-fA-F]{32,}\b")
_LONG = b"0" * 32
_HEX = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)
_OTHER_DIGITS = re.compile(r"[^\D0-9]")
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_NUMBER = re.compile(rb"00+")
_SIZE_OF_A_WORD = 6
_ALL = (1 << 64) - 1
_WORDS_OF_A_FEATURE = 4
_PACK_FEATURE = struct.Struct("<Q").pack
# How lines are packed: bytes of a hash, the most that is told of words, and a bit that no number
# of lines has, by which they are told from those of version 3.
_BYTES, _MOST_WORDS, _PACKED = 5, 127, 1 << 15
_KEPT = (1 << 8 * _BYTES) - 1

#: Bytes that the lines of one page are packed into, at most.
MAX_PACKED = 4 + MAX_LINES * (1 + 2 * _BYTES)

_LENGTHS = bytes(byte & _MOST_WORDS for byte in range(256))
_UNMASKED = bytes(range(_MOST_WORDS + 1))


hash64: Callable[[bytes], int] = xxh3_64_intdigest
"""Returns 64 bits of a digest of some bytes, the same on every machine."""


class Line(NamedTuple):
    """One line of a page's visible text, or one of its images; the case of letters is no matter."""

    masked: int
    """Hash of the line with every number made ``0``: equal for "12 comments" and "7 comments"."""
    exact: int
    """Hash of the line."""
    words: int
    """About how many words it has: one for each 6 bytes."""


class Signature(NamedTuple):
    """What is kept of a page."""

    raw_sha1: str
    """Digest of the body as received, in hexadecimal."""
    text_sha1: str
    """Digest of the visible text, in hexadecimal; that of the body where it is no markup."""
    title: int
    """64-bit hash of the title; 0 where there is none."""
    lines: tuple[Line, ...]

    def main(self, boilerplate: Collection[int]) -> tuple[str, int | None]:
        """Return digest and simhash of the text without the lines whose masked hash is boilerplate.

        The digest is empty where nothing is left; the simhash None where too little is.
        """
        lines = [line for line in self.lines if line[0] not in boilerplate]
        if not lines:
            return "", None
        # Each line once: what every row of a listing repeats ("by", "last post", a date) would
        # outvote all that tells one listing from another.
        words = {exact: count for _, exact, count in lines}
        is_enough = sum(words.values()) >= MIN_WORDS
        return digest_of(lines).hex(), simhash(_features(words)) if is_enough else None

    def pack(self) -> bytes:
        """Return the lines as bytes: their number, and then all of one field after the other.

        Of their hashes 40 bits are enough to tell the lines of one site apart.
        """
        lines = self.lines[:MAX_LINES]
        others = [masked for masked, exact, _ in lines if masked != exact]
        hashes = array("Q", [exact for _, exact, _ in lines] + others)
        if sys.byteorder == "big":
            hashes.byteswap()
        data = hashes.tobytes()
        return b"".join(
            (
                struct.pack("<HH", _PACKED | len(lines), len(others)),
                bytes(
                    [
                        min(words, _MOST_WORDS) | (masked != exact) << 7
                        for masked, exact, words in lines
                    ]
                ),
                *(data[byte::8] for byte in range(_BYTES)),
            )
        )


def unpack(data: bytes) -> tuple[Line, ...]:
    """Return the lines that :meth:`Signature.pack` made bytes of; none of no bytes.

    :raises ValueError: where they were cut short, or are something else.
    """
    if not data:
        return ()
    if not isinstance(data, bytes):
        raise ValueError(f"expected bytes, got {type(data).__name__}")  # noqa: TRY004
    try:
        (count,) = struct.unpack_from("<H", data)
        if not count & _PACKED:
            return _unpack_pairs(data, count)
        count, masked = count ^ _PACKED, struct.unpack_from("<H", data, 2)[0]
        words = data[4 : 4 + count]
        columns = data[4 + count :]
        total = count + masked
        if len(columns) != _BYTES * total or len(words.translate(None, _UNMASKED)) != masked:
            raise ValueError(f"expected {_BYTES * total} bytes to unpack, got {len(columns)}")
    except struct.error as error:
        raise ValueError(str(error)) from None
    whole = bytearray(8 * total)
    for byte in range(_BYTES):
        whole[byte::8] = columns[byte * total : (byte + 1) * total]
    hashes = struct.unpack(f"<{total}Q", whole)
    others = iter(hashes[count:])
    exact = hashes[:count]
    shapes = [
        next(others) if word > _MOST_WORDS else one for one, word in zip(exact, words, strict=True)
    ]
    lengths = words.translate(_LENGTHS)
    return tuple(map(_line, zip(shapes, exact, lengths, strict=True)))


def _unpack_pairs(data: bytes, count: int) -> tuple[Line, ...]:
    """Return the lines of a store of version 3, which kept a hash of each pair of words."""
    fields = struct.unpack_from(f"<{2 * count}Q{count}H", data, 2)
    lengths = fields[2 * count :]
    if len(data) != 2 + 18 * count + 4 * sum(lengths):
        raise ValueError("expected pairs of words to unpack")
    return tuple(
        Line(masked & _KEPT, exact & _KEPT, length + 1)
        for masked, exact, length in zip(fields, fields[count:], lengths, strict=False)
    )


def digest_of(lines: Iterable[Line]) -> bytes:
    """Return the digest of *lines*, whatever their order: a listing in another one is the same."""
    exact = array("Q", sorted([exact for _, exact, _ in lines]))
    return sha1(exact.tobytes(), usedforsecurity=False).digest()


def _features(words: Mapping[int, int]) -> list[int]:
    """Return numbers for lines, given how many words each has: the longer, the more of them."""
    found: list[int] = []
    for line, count in words.items():
        end = line + (count // _WORDS_OF_A_FEATURE or 1)
        found += range(line, end) if end <= _ALL else [n & _ALL for n in range(line, end)]
    return found


def simhash(features: Sequence[int]) -> int:
    """Return Charikar's simhash (2002) of *features*, numbers of up to 64 bits.

    >>> simhash([1, 2, 3]) == simhash([3, 2, 1])
    True
    """
    mixed = array("Q", map(hash64, map(_PACK_FEATURE, features)))
    if sys.byteorder == "big":
        mixed.byteswap()
    data = mixed.tobytes()
    majority = len(mixed) // 2
    masks = [int.from_bytes(bytes([1 << bit]) * len(mixed), "little") for bit in range(8)]
    found = 0
    for byte in range(8):
        # One byte of each as one number: a column of bits is what a mask leaves of it.
        column = int.from_bytes(data[byte::8], "little")
        for bit, mask in enumerate(masks, 8 * byte):
            if (column & mask).bit_count() > majority:
                found |= 1 << bit
    return found


def steady(text: bytes, date: str) -> bytes:
    """Return *text*, some lines, without what is another one at each visit.

    That is a token of 32 hexadecimal digits or more, and a time of day within a minute of *date*,
    in whichever time zone; those differ by half hours. Any other time may be what tells two pages
    apart, such as two departures.

    :param date: the value of the ``Date`` header (RFC 9110, section 6.6.1), empty where there is
        none.
    """
    zeros = text.translate(_HEX)
    if _LONG in zeros:
        text = _TOKEN.sub(b"0", text)
    minute = _minute_of(date) if date and b"0:00" in zeros else None
    if minute is None:
        return text

    def clock(found: re.Match[bytes]) -> bytes:
        is_now = (int(found[1]) - minute + 1) % 30 <= 2  # noqa: PLR2004
        return b"0:00" if is_now else found[0]

    return _CLOCK.sub(clock, text)


def _minute_of(date: str) -> int | None:
    try:
        return parsedate_to_datetime(date).minute
    except ValueError:
        return None


def lines_of(text: bytes) -> list[Line]:
    """Return what is kept of each line of *text*."""
    if not text:
        return []
    # All at once: the lines one by one take several times as long.
    lower = lower_case(text)
    masked = lower.translate(_ZEROS)
    if not text.isascii():
        masked = _without_other_digits(masked)
    masked = _NUMBER.sub(b"0", masked)
    lines = lower.split(b"\n")
    exact = list(map(hash64, lines))
    shapes = exact if masked == lower else list(map(hash64, masked.split(b"\n")))
    words = [size // _SIZE_OF_A_WORD + 1 for size in map(len, lines)]
    return list(map(_line, zip(shapes, exact, words, strict=True)))


_line = partial(tuple.__new__, Line)


def _without_other_digits(text: bytes) -> bytes:
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
    """Return what is kept of one line of text."""
    return lines_of(text.encode("utf-8", "surrogatepass"))[0]


def line_of_image(source: bytes) -> Line:
    """Return what is kept of one image; of two with other numbers none is the other's frame."""
    exact = hash64(b"\0" + source)
    return Line(exact, exact, 1)
