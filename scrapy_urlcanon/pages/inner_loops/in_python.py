"""The loops over each byte and line in Python: the reference for the compiled ones."""

from __future__ import annotations

import re
import struct
import sys
from array import array
from itertools import chain
from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest, xxh32_intdigest

from scrapy_urlcanon.pages.smallest import smallest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    Columns = tuple[Sequence[int], Sequence[int], Sequence[int]]
    Known = tuple[Collection[int], Collection[int], Collection[int], Collection[int]]
    Counted = list[tuple[int, int]]

# ASCII white space as Python has it, without the space and the line feed.
RARE_SPACES = b"\t\r\v\f\x1c\x1d\x1e\x1f"
_SPACES = bytes.maketrans(RARE_SPACES, b" " * len(RARE_SPACES))
OTHER_SPACES = tuple(
    space.encode()
    for space in "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a"
)
"""White space outside ASCII, in UTF-8."""
_LOW = (1 << 32) - 1
_ALL = (1 << 64) - 1
_SIZE = 8  # bytes of a hash
_PACK = struct.Struct("<Q").pack
_HAS_NUMBER = 128
_WORDS = bytes(byte % _HAS_NUMBER for byte in range(256))
LONG_PASSAGE = 64
SIZE_OF_A_WORD = 6
ORIGIN = r"https?://[a-zA-Z0-9.-]+(?::[0-9]+)?"
_PLAIN_REFERENCE = re.compile(rf"({ORIGIN})?/[^?#;\t\r\n]*(?:\?[^#\t\r\n]+)?")
OTHER_FORM, PATH, WHOLE = range(3)
"""Forms of a reference: any other; a path from the root without dot segments; and a whole URL."""
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_HEX = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)
_TIME = re.compile(rb"[0-9]:[0-9]{2}")
_NUMBER = re.compile(rb"00+")
CUTS = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\x99\xb0\xb1", b"abcdefghijklmnopqrstuvwxyzdddd"
)


def fold_spaces(text: bytes) -> bytes:
    r"""Return the non-empty lines of *text*, UTF-8, with white space folded.

    >>> fold_spaces(b" one \t two\n\n three\xc2\xa0four")
    b'one two\nthree four'
    """
    if not text.isascii():
        for space in OTHER_SPACES:
            text = text.replace(space, b" ")
    # Searching for each takes a tenth of the time.
    if any(map(text.__contains__, RARE_SPACES)):
        text = text.translate(_SPACES)
    text = b"\n".join(filter(None, map(bytes.strip, text.split(b"\n"))))
    if b"  " in text:
        text = b"\n".join([b" ".join(line.split()) for line in text.split(b"\n")])
    return text


def has_time(text: bytes) -> bool:
    """Tell whether *text* contains a digit, a colon and two digits in a row.

    >>> has_time(b"at 7:30"), has_time(b"7:3 0:a1")
    (True, False)
    """
    return b":" in text and _TIME.search(text) is not None


def has_token(text: bytes, least: int) -> bool:
    """Tell whether *text* contains *least* hexadecimal digits in a row; *least* is 1 or more.

    >>> has_token(b"id 0123abCD", 8), has_token(b"0123 abCD", 8)
    (True, False)
    """
    return b"0" * least in text.translate(_HEX)


def lines_and_shapes(text: bytes) -> tuple[list[bytes], list[int], dict[int, bytes]]:
    r"""Return the lines of *text*, an estimate of the words of each, and masked lines by index.

    A masked line has each number replaced by ``0``. Only lines with numbers have one.

    >>> lines_and_shapes(b"none\npage 12 of 400")
    ([b'none', b'page 12 of 400'], [1, 3], {1: b'page 0 of 0'})
    """
    lines = text.split(b"\n")
    words = [size // SIZE_OF_A_WORD + 1 for size in map(len, lines)]
    masked = _NUMBER.sub(b"0", text.translate(_ZEROS))
    if masked == text:
        return lines, words, {}
    pairs = enumerate(zip(lines, masked.split(b"\n"), strict=True))
    return lines, words, {number: shape for number, (line, shape) in pairs if line != shape}


def form_of_reference(reference: str) -> int:
    """Return whether *reference* is a whole URL, or a path from the root, as ``urljoin`` leaves it.

    >>> [form_of_reference(each) for each in ("http://a.example/b?c", "/b?c", "/../b", "b", "/?")]
    [2, 1, 0, 0, 0]
    """
    plain = _PLAIN_REFERENCE.fullmatch(reference)
    if plain is None:
        return OTHER_FORM
    if plain[1]:
        return WHOLE
    return OTHER_FORM if reference.startswith("//") or "/." in reference else PATH


def lines_by_kind(columns: Columns, boilerplate: Known) -> tuple[Counted, Counted, Counted]:
    """Return own lines, lines told by numbers, and doubtful ones, each with its words.

    Lines that are noise, or boilerplate with the same numbers, are left out. Lines that are
    boilerplate with any number are identified by the number if that is known to be steady, and else
    doubtful.

    :param columns: masked and exact hashes of the lines, and their words.
    :param boilerplate: the fields of :class:`~scrapy_urlcanon.pages.signature.Boilerplate`.

    >>> columns = [1, 2, 3, 4, 5], [1, 2, 8, 9, 7], [6, 6, 6, 6, 6]
    >>> lines_by_kind(columns, ({3, 4}, {1}, {4}, {5}))
    ([(2, 6)], [(9, 6)], [(8, 6)])
    """
    common, common_exact, steady, noise = boilerplate
    own: Counted = []
    numbers: Counted = []
    doubtful: Counted = []
    for shape, line, count in zip(*columns, strict=True):
        if line in common_exact or shape in noise:
            continue
        if shape in steady:
            numbers.append((line, count))
        elif shape in common:
            doubtful.append((line, count))
        else:
            own.append((line, count))
    return own, numbers, doubtful


def sorted_hashes(hashes: Sequence[int]) -> bytes:
    """Return *hashes*, numbers of 64 bits, sorted and packed."""
    return array("Q", sorted(hashes)).tobytes()


def smallest_lines(masked: Sequence[int], exact: Sequence[int], count: int) -> bytes:
    """Return the *count* smallest distinct lines with these hashes, sorted and packed.

    Each is a number of 64 bits: the lower halves of the hash without numbers and of the exact one.

    >>> array("Q", smallest_lines([2, 1, 2], [5, 1 << 40 | 3, 5], 9)).tolist()
    [4294967299, 8589934597]
    """
    lines = [(shape & _LOW) << 32 | one & _LOW for shape, one in zip(masked, exact, strict=True)]
    return array("Q", smallest(lines, count, 64)).tobytes()


def packed_lines(
    masked: Sequence[int], exact: Sequence[int], words: Sequence[int], most: int, width: int
) -> bytes:
    r"""Return lines as bytes: one byte for each, then their hashes of *width* bytes.

    The byte is the number of words, at most *most*, plus 128 if the line has a number. The hashes
    without numbers of such lines come last. The lowest bytes of all hashes come first, then the
    next ones, and so on, since that compresses better.

    >>> packed_lines([2, 5], [2, 258], [300, 1], 127, 2)
    b'\x7f\x81\x02\x02\x05\x00\x01\x00'
    """
    others = [shape for shape, one in zip(masked, exact, strict=True) if shape != one]
    hashes = array("Q", exact)
    hashes.extend(others)
    if sys.byteorder == "big":
        hashes.byteswap()
    data = hashes.tobytes()
    told = bytes(
        [
            # A call of min would take longer than everything else.
            (count if count < most else most) | (shape != one) << 7  # noqa: FURB136
            for shape, one, count in zip(masked, exact, words, strict=True)
        ]
    )
    return b"".join((told, *(data[byte::8] for byte in range(width))))


def unpacked_lines(data: bytes, count: int, others: int, width: int) -> Columns:
    r"""Return the hashes and words of *count* lines that :func:`packed_lines` packed into *data*.

    :param others: how many of them have a number.
    :raises ValueError: if *data* does not have that size.

    >>> [[*column] for column in unpacked_lines(b"\x7f\x81\x02\x02\x05\x00\x01\x00", 2, 1, 2)]
    [[2, 5], [2, 258], [127, 1]]
    """
    words, total = data[:count], count + others
    numbered = [byte >= _HAS_NUMBER for byte in words]
    if len(data) != count + width * total or sum(numbered) != others:
        raise ValueError(f"expected {width * total} bytes to unpack, got {len(data) - count}")
    whole = bytearray(_SIZE * total)
    for byte in range(width):
        whole[byte::_SIZE] = data[count + byte * total :][:total]
    hashes = struct.unpack(f"<{total}Q", whole)
    shapes = iter(hashes[count:])
    exact = hashes[:count]
    masked = [next(shapes) if has else one for has, one in zip(numbered, exact, strict=True)]
    return masked, exact, words.translate(_WORDS)


def simhash(starts: Sequence[int], counts: Sequence[int]) -> int:
    """Return the simhash (Charikar, 2002) of numbers, given as ranges: each start with its count.

    A range with a count of four weighs four times as much as one with a count of one. Numbers are
    taken modulo 2**64.

    >>> simhash([7, 9], [2, 1]) == simhash([9, 8, 7], [1, 1, 1])
    True
    """
    ends = [start + count for start, count in zip(starts, counts, strict=True)]
    numbers: Iterable[int] = chain.from_iterable(map(range, starts, ends))
    if max(ends, default=0) > _ALL:
        numbers = (number & _ALL for number in numbers)
    return _in_most(b"".join(map(xxh3_64_digest, map(_PACK, numbers))))


def _in_most(hashes: bytes) -> int:
    """Return the bits that are set in more than half of the packed 64-bit numbers.

    All 64 bits are counted at once. ``sums[i]`` holds the binary digit *i* of the count of each bit
    of each number. One half of the numbers is added to the other, until a single one is left.
    """
    count = left = len(hashes) // _SIZE
    sums = [int.from_bytes(hashes, "big")]
    while left > 1:
        left = (left + 1) // 2
        width = 8 * _SIZE * left
        low = (1 << width) - 1
        carry, added = 0, []
        for digit in sums:
            one, other = digit & low, digit >> width
            differing = one ^ other
            added.append(differing ^ carry)
            carry = (one & other) | (differing & carry)
        sums = [*added, carry]
    more, equal = 0, _ALL
    for place, digit in reversed([*enumerate(sums)]):
        if count // 2 >> place & 1:
            equal &= digit
        else:
            more |= equal & digit
            equal &= ~digit
    return more


def smallest_passages(text: bytes, count: int) -> bytes:
    r"""Return the *count* smallest 32-bit hashes of the passages of *text*, sorted.

    A passage is a few words. The text is cut at each letter d, so that a passage is cut at the same
    places wherever it occurs (Muthitacharoen, Chen and Mazieres, "A low-bandwidth network file
    system", 2001, section 3.1, which cuts by hashes). Cutting at a letter is the fastest, and about
    one in 25 letters is a d in most languages in Latin script; some bytes of other scripts are used
    as well. The words of passages without one that are long count each as well. The case of ASCII
    letters is ignored.

    >>> array("I", smallest_passages(b"Had", 9)) == array("I", smallest_passages(b"had\n", 9))
    True
    """
    passages = text.translate(CUTS).split(b"d")
    long = [passage for passage in passages if len(passage) > LONG_PASSAGE]
    if long:
        passages += b" ".join(long).split(b" ")
    hashes = list(map(xxh32_intdigest, passages))
    return array("I", smallest(hashes, count, 32)).tobytes()
