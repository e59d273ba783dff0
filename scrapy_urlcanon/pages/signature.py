"""What is kept of a page instead of the page: digests of its text, line by line."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from hashlib import blake2b, sha1
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin
from zlib import crc32

from lxml import etree  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

#: Bounds on what is kept of one page: some 30 kB in the worst case, 3 to 15 kB usually.
MAX_LINES, MAX_BIGRAMS = 1000, 3000

#: Texts of fewer different pairs of words say too little for a near-duplicate signature.
MIN_WORDS = 20

#: A line that stands on more than this share of a site's distinct texts is boilerplate.
BOILERPLATE_SHARE = 0.2

#: Lines that are remembered, because most of a page stands on the page before it too.
_REMEMBERED_LINES = 4096

_SKIPPED = (
    *("script", "style", "noscript", "template", "svg"),
    *(etree.Comment, etree.ProcessingInstruction),
)
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"),
    *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
    *("li", "main", "nav", "ol", "option", "p", "pre", "section", "table", "td", "th"),
    *("title", "tr", "ul"),
)
# In one case or the other, by first letter: without regard to case it takes four times as long.
_BORDER = re.compile(
    r"<(?=/?(?:"
    + "|".join(
        f"{letter}(?:{'|'.join(name[1:] for name in names)})"
        for case in (str.lower, str.upper)
        for letter, names in groupby(map(case, _BLOCKS), itemgetter(0))
    )
    + r")[\s/>])"
)
_CLOCK = re.compile(r"\d{1,2}:([0-5]\d)(?::[0-5]\d)?(?!\d)")
_DIGITS = re.compile(r"\d+")
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LINK = re.compile(r'<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)')
_MIX = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads 32 bits over 64 (Knuth, TAOCP 6.4)


class Line(NamedTuple):
    """One line of a page's visible text."""

    masked: int
    """Hash of the line with every number made ``0``: equal for "12 comments" and "7 comments"."""
    exact: int
    """Hash of the line."""
    bigrams: tuple[int, ...]
    """Hashes of its pairs of words, 32 bits each."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What is kept of a page."""

    raw_sha1: str
    text_sha1: str
    lines: tuple[Line, ...]

    def main(self, boilerplate: Collection[int]) -> tuple[str, int | None]:
        """Return digest and simhash of the text without the lines whose masked hash is boilerplate.

        The digest is empty where nothing is left; the simhash None where too little is.
        """
        lines = [line for line in self.lines if line.masked not in boilerplate]
        if not lines:
            return "", None
        digest = sha1(
            b"".join(sorted(line.exact.to_bytes(8, "big") for line in lines)),
            usedforsecurity=False,
        )
        # Each pair of words once: what every row of a listing repeats ("by", "last post", a date)
        # would outvote all that tells one listing from another.
        bigrams = {bigram for line in lines for bigram in line.bigrams}
        return digest.hexdigest(), simhash([*bigrams]) if len(bigrams) >= MIN_WORDS else None

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

    :raises ValueError: where they were cut short.
    """
    if not data:
        return ()
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


def signature_of(
    body: bytes, document: etree._Element | None = None, *, date: str = ""
) -> Signature:
    """Return the signature of a page.

    :param body: as received, for its digest.
    :param document: what :func:`parse` made of it; it is used up. None for what is no text, of
        which only the body's digest counts.
    :param date: the value of the ``Date`` header (RFC 9110, section 6.6.1), where there is one.
        The page as it was at another time has the same lines, whatever clock they show.

    >>> one = signature_of(b"", parse("<title>T</title><p>12 comments</p><script>x</script>"))
    >>> other = signature_of(b"", parse("<title>T</title><p>7 comments</p>"))
    >>> [a.masked == b.masked for a, b in zip(one.lines, other.lines)]
    [True, True]
    >>> one.text_sha1 == other.text_sha1
    False
    """
    raw = sha1(body, usedforsecurity=False).hexdigest()
    if document is None:
        # What cannot be read is its own only line: no boilerplate, no near-duplicates.
        exact = _hash(raw.encode())
        return Signature(raw, f"raw:{raw}", (Line(exact, exact, ()),))
    text = visible_lines(document)
    digest = sha1("\n".join(text).encode("utf-8", "surrogatepass"), usedforsecurity=False)
    lines: list[Line] = []
    room = MAX_BIGRAMS
    for line in map(_line, _timeless(text[:MAX_LINES], date)):
        cut = line if len(line.bigrams) <= room else line._replace(bigrams=line.bigrams[:room])
        room -= len(cut.bigrams)
        lines.append(cut)
    return Signature(raw, digest.hexdigest(), tuple(lines))


def parse(text: str) -> etree._Element | None:
    """Return the document that a text of HTML is, or None where there is none in it."""
    # The borders of the blocks are those of the lines. They are marked in the text: to visit the
    # elements one by one takes longer than all else together.
    text = _BORDER.sub("\n<", text)
    try:
        # As bytes, because lxml refuses text with an encoding declaration.
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=False)
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None


def visible_lines(document: etree._Element) -> list[str]:
    """Return the lines of a document that a reader sees, white space folded; it is used up."""
    etree.strip_elements(document, *_SKIPPED, with_tail=False)
    text: str = etree.tostring(document, method="text", encoding="unicode")
    return [" ".join(words) for line in text.split("\n") if (words := line.split())]


def _timeless(lines: list[str], date: str) -> list[str]:
    """Return the lines without the time at which the page was made, where they show it.

    That is a time of day within a minute of the date, in whichever time zone; those differ by
    half hours. Any other time may be what tells two pages apart, such as two departures.
    """
    if not date:
        return lines
    try:
        minute = parsedate_to_datetime(date).minute
    except ValueError:
        return lines

    def timeless(clock: re.Match[str]) -> str:
        return "0:00" if (int(clock[1]) - minute + 1) % 30 <= 2 else clock[0]  # noqa: PLR2004

    return [_CLOCK.sub(timeless, line) if ":" in line else line for line in lines]


def absolute(base: str, reference: str) -> str:
    """Return the URL that *reference* means on the page *base*, or the empty text for none.

    >>> absolute("http://a.example/b", " ../c"), absolute("http://a.example/", "http://[")
    ('http://a.example/c', '')
    """
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return ""


def declared_canonical(document: etree._Element | None, url: str, link_header: str = "") -> str:
    """Return the canonical URL that a page declares, absolute, or the empty text.

    A ``Link`` header (RFC 8288, RFC 6596) wins over the link element; of several elements that
    disagree none is believed.

    >>> document = parse('<link rel="canonical" href="/x">')
    >>> declared_canonical(document, "http://a.example/y?z=1")
    'http://a.example/x'
    >>> declared_canonical(None, "http://a.example/y", '</x>; rel="canonical"')
    'http://a.example/x'

    :param document: what :func:`parse` made of the page, or None where it is no HTML.
    """
    for target, params in _LINK.findall(link_header):
        if re.search(r'rel\s*=\s*"?[^"]*\bcanonical\b', params, re.IGNORECASE):
            return absolute(url, str(target))
    if document is None:
        return ""
    base = url
    for element in document.iter("base"):
        base = absolute(url, element.get("href") or "") or url
        break
    found = {
        absolute(base, href)
        for element in document.iter("link")
        if "canonical" in (element.get("rel") or "").lower().split()
        and (href := element.get("href"))
    }
    return str(found.pop()) if len(found) == 1 else ""


@lru_cache(_REMEMBERED_LINES)
def _line(text: str) -> Line:
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
    exact = _hash(data)
    return Line(exact if masked == data else _hash(masked), exact, pairs)


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
