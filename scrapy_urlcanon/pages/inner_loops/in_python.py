"""What is asked of each byte, in Python: the reference of what is compiled."""

from __future__ import annotations

from array import array

from xxhash import xxh32_intdigest

from scrapy_urlcanon.pages.smallest import smallest

# What Python takes for white space, but for the end of a line.
RARE_SPACES = b"\t\r\v\f\x1c\x1d\x1e\x1f"
_SPACES = bytes.maketrans(RARE_SPACES, b" " * len(RARE_SPACES))
LONG_PASSAGE = 64
CUTS = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\x99\xb0\xb1", b"abcdefghijklmnopqrstuvwxyzdddd"
)


def fold_spaces(text: bytes) -> bytes:
    r"""Return the lines of *text* that hold anything, white space folded.

    >>> fold_spaces(b" one \t two\n\n three")
    b'one two\nthree'
    """
    # To look for each takes a tenth of the time.
    if any(map(text.__contains__, RARE_SPACES)):
        text = text.translate(_SPACES)
    text = b"\n".join(filter(None, map(bytes.strip, text.split(b"\n"))))
    if b"  " in text:
        text = b"\n".join([b" ".join(line.split()) for line in text.split(b"\n")])
    return text


def smallest_passages(text: bytes, count: int) -> bytes:
    r"""Return the *count* smallest hashes of the passages of *text*, of 32 bits, sorted.

    A passage is some words. The text is cut at each letter d, and so at the same places wherever
    the same passage stands (Muthitacharoen, Chen and Mazieres, "A low-bandwidth network file
    system", 2001, section 3.1, cut by hashes). No letter is cut at faster, and d is about one in
    25 in most languages that are written in Latin letters; some bytes of other scripts stand for
    it. Of what is long without one each word counts as well. The case of ASCII letters does not
    matter.

    >>> array("I", smallest_passages(b"Had", 9)) == array("I", smallest_passages(b"had\n", 9))
    True
    """
    passages = text.translate(CUTS).split(b"d")
    long = [passage for passage in passages if len(passage) > LONG_PASSAGE]
    if long:
        passages += b" ".join(long).split(b" ")
    hashes = list(map(xxh32_intdigest, passages))
    return array("I", smallest(hashes, count, 32)).tobytes()
