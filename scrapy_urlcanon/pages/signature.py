"""What is kept of a page instead of the page: digests of its text, line by line."""

from __future__ import annotations

import re
import struct
from email.utils import parsedate_to_datetime
from functools import lru_cache
from hashlib import blake2b, sha1
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

#: Bounds on what is kept of one page: some 30 kB in the worst case, 3 to 15 kB usually.
MAX_LINES, MAX_BIGRAMS = 1000, 3000

#: Texts of fewer different pairs of words say too little for a near-duplicate signature.
MIN_WORDS = 20

#: A line that stands on more than this share of a site's distinct texts is boilerplate.
BOILERPLATE_SHARE = 0.2

#: Lines that are remembered, because most of a page stands on the page before it too.
_REMEMBERED_LINES = 4096

_CLOCK = re.compile(r"\d{1,2}:([0-5]\d)(?::[0-5]\d)?(?!\d)")
# The tokens and digests of forms and assets, which are others at each visit.
_TOKEN = re.compile(r"\b[0-9a-fA-F]{32,}\b")
_LONG = 32
_DIGITS = re.compile(r"\d+")
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_MIX = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads 32 bits over 64 (Knuth, TAOCP 6.4)


class Line(NamedTuple):
    """One line of a page's visible text, or one of its images."""

    masked: int
    """Hash of the line with every number made ``0``: equal for "12 comments" and "7 comments"."""
    exact: int
    """Hash of the line."""
    bigrams: tuple[int, ...]
    """Hashes of its pairs of words, 32 bits each."""


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
        lines = [line for line in self.lines if line.masked not in boilerplate]
        if not lines:
            return "", None
        # Each pair of words once: what every row of a listing repeats ("by", "last post", a date)
        # would outvote all that tells one listing from another.
        bigrams = {bigram for line in lines for bigram in line.bigrams}
        return digest_of(lines).hex(), simhash([*bigrams]) if len(bigrams) >= MIN_WORDS else None

    def pack(self) -> bytes:
        """Return the lines as bytes: their number, and then all of one field after the other."""
        lines = self.lines
        bigrams = [bigram for line in lines for bigram in line.bigrams]
        count = len(lines)
        return struct.pack(
            f"<H{2 * count}Q{count}H{len(bigrams)}I",
            count,
            *[line.masked for line in lines],
            *[line.exact for line in lines],
            *[len(line.bigrams) for line in lines],
            *bigrams,
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
        fields = struct.unpack_from(f"<{2 * count}Q{count}H", data, 2)
        lengths = fields[2 * count :]
        bigrams = struct.unpack_from(f"<{sum(lengths)}I", data, 2 + 18 * count)
    except struct.error as error:
        raise ValueError(str(error)) from None
    ends = [0, *accumulate(lengths)]
    return tuple(
        Line(masked, exact, bigrams[start:end])
        for masked, exact, start, end in zip(
            fields[:count], fields[count:], ends, ends[1:], strict=False
        )
    )


def bounded(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return as much of *lines* as is kept of one page."""
    kept: list[Line] = []
    room = MAX_BIGRAMS
    for line in islice(lines, MAX_LINES):
        kept.append(
            line if len(line.bigrams) <= room else line._replace(bigrams=line.bigrams[:room])
        )
        room -= len(kept[-1].bigrams)
    return tuple(kept)


def digest_of(lines: Iterable[Line]) -> bytes:
    """Return the digest of *lines*, whatever their order: a listing in another one is the same."""
    exact = sorted(line.exact.to_bytes(8, "big") for line in lines)
    return sha1(b"".join(exact), usedforsecurity=False).digest()


def simhash(features: Sequence[int]) -> int:
    """Return Charikar's simhash (2002) of 32-bit features.

    >>> simhash([1, 2, 3]) == simhash([3, 2, 1])
    True
    """
    # All of them as binary digits, one after the other: a column is a slice.
    digits = "".join([f"{_mixed(feature):064b}" for feature in features])
    majority = len(features) // 2
    return sum(1 << bit for bit in range(64) if digits[63 - bit :: 64].count("1") > majority)


def _mixed(feature: int) -> int:
    mixed = (feature + 1) * _MIX
    return ((mixed ^ (mixed >> 29)) * _MIX) & 0xFFFFFFFFFFFFFFFF


def steady(texts: Iterable[str], date: str) -> Iterator[str]:
    """Yield *texts* without what is another one at each visit.

    That is a token of 32 hexadecimal digits or more, and a time of day within a minute of *date*,
    in whichever time zone; those differ by half hours. Any other time may be what tells two pages
    apart, such as two departures.

    :param date: the value of the ``Date`` header (RFC 9110, section 6.6.1), empty where there is
        none.
    """
    minute = _minute_of(date)
    for text in texts:
        steady_text = text
        if minute is not None and ":" in text:

            def clock(found: re.Match[str], minute: int = minute) -> str:
                is_now = (int(found[1]) - minute + 1) % 30 <= 2  # noqa: PLR2004
                return "0:00" if is_now else found[0]

            steady_text = _CLOCK.sub(clock, text)
        yield _TOKEN.sub("0", steady_text) if len(text) >= _LONG else steady_text


def _minute_of(date: str) -> int | None:
    try:
        return parsedate_to_datetime(date).minute if date else None
    except ValueError:
        return None


@lru_cache(_REMEMBERED_LINES)
def line_of(text: str) -> Line:
    """Return what is kept of one line of text."""
    data = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        # The same as below, in a third of the time.
        lower, masked = data.lower(), data.translate(_ZEROS)
        while b"00" in masked:
            masked = masked.replace(b"00", b"0")
    else:
        lower = text.lower().encode("utf-8", "surrogatepass")
        masked = _DIGITS.sub("0", text).encode("utf-8", "surrogatepass")
    words = lower.split(b" ")
    # The checksum of a word goes on from that of the word before.
    pairs = tuple(map(crc32, words[1:] or (b"",), map(crc32, words)))
    exact = hash64(data)
    return Line(exact if masked == data else hash64(masked), exact, pairs)


def line_of_image(source: str) -> Line:
    """Return what is kept of one image; of two with other numbers none is the other's frame."""
    data = b"\0" + source.encode("utf-8", "surrogatepass")
    exact = hash64(data)
    return Line(exact, exact, (crc32(data),))


def hash64(data: bytes) -> int:
    """Return 64 bits of a digest of *data*."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
