"""What is kept of a page instead of the page: digests of its text, line by line."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from hashlib import blake2b, sha1
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import etree, html  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

#: Bounds on what is kept of one page: some 20 kB in the worst case, 3 kB usually.
MAX_LINES, MAX_BIGRAMS = 1000, 3000

#: Texts of fewer words say too little for a near-duplicate signature.
MIN_WORDS = 20

#: A line that stands on more than this share of a site's distinct texts is boilerplate.
BOILERPLATE_SHARE = 0.2

_SKIPPED = ("script", "style", "noscript", "template", "svg")
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset"),
        *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("li", "main", "nav", "ol", "option", "p", "pre", "section", "table", "td", "th"),
        *("title", "tr", "ul"),
    )
)
_SPACE = re.compile(r"\s+")
_DIGITS = re.compile(r"\d+")
_LINK = re.compile(r'<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;\s]*))*)')
_LINE = struct.Struct("<QQH")
_MIX = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads 32 bits over 64 (Knuth, TAOCP 6.4)


@dataclass(frozen=True, slots=True)
class Line:
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
            b"".join(line.exact.to_bytes(8, "big") for line in lines), usedforsecurity=False
        )
        bigrams = [bigram for line in lines for bigram in line.bigrams]
        return digest.hexdigest(), simhash(bigrams) if len(bigrams) >= MIN_WORDS else None

    def pack(self) -> bytes:
        """Return the lines as bytes."""
        return b"".join(
            _LINE.pack(line.masked, line.exact, len(line.bigrams))
            + struct.pack(f"<{len(line.bigrams)}I", *line.bigrams)
            for line in self.lines
        )


def unpack(data: bytes) -> tuple[Line, ...]:
    """Return the lines that :meth:`Signature.pack` made bytes of.

    :raises ValueError: where they were cut short.
    """
    lines, position = [], 0
    try:
        while position < len(data):
            masked, exact, count = _LINE.unpack_from(data, position)
            position += _LINE.size
            lines.append(Line(masked, exact, struct.unpack_from(f"<{count}I", data, position)))
            position += 4 * count
    except struct.error as error:
        raise ValueError(str(error)) from None
    return tuple(lines)


def simhash(features: Sequence[int]) -> int:
    """Return Charikar's simhash (2002) of 32-bit features.

    >>> simhash([1, 2, 3]) == simhash([3, 2, 1])
    True
    """
    counts = [0] * 64
    for feature in features:
        mixed = (feature + 1) * _MIX
        mixed = ((mixed ^ (mixed >> 29)) * _MIX) & 0xFFFFFFFFFFFFFFFF
        for bit in range(64):
            counts[bit] += 1 if mixed >> bit & 1 else -1
    return sum(1 << bit for bit, count in enumerate(counts) if count > 0)


def signature_of(body: bytes, text: str | None = None) -> Signature:
    """Return the signature of a page.

    :param body: as received, for its digest.
    :param text: the decoded HTML; None for what is no text, of which only the body's digest counts.

    >>> one = signature_of(b"", "<title>T</title><p>12 comments</p><script>x</script>")
    >>> other = signature_of(b"", "<title>T</title><p>7 comments</p>")
    >>> [a.masked == b.masked for a, b in zip(one.lines, other.lines)]
    [True, True]
    >>> one.text_sha1 == other.text_sha1
    False
    """
    raw = sha1(body, usedforsecurity=False).hexdigest()
    if text is None:
        # What cannot be read is its own only line: no boilerplate, no near-duplicates.
        exact = _hash(raw)
        return Signature(raw, f"raw:{raw}", (Line(exact, exact, ()),))
    lines: list[Line] = []
    bigrams = 0
    digest = sha1(usedforsecurity=False)
    for line in visible_lines(text):
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
        if len(lines) < MAX_LINES:
            pairs = _bigrams(line)[: MAX_BIGRAMS - bigrams]
            bigrams += len(pairs)
            lines.append(Line(_hash(_DIGITS.sub("0", line)), _hash(line), pairs))
    return Signature(raw, digest.hexdigest(), tuple(lines))


def visible_lines(text: str) -> Iterator[str]:
    """Yield the lines of an HTML text that a reader sees, white space folded."""
    document = _document(text)
    if document is None:
        return
    for element in document.iter():
        if not isinstance(element.tag, str) or element.tag in _SKIPPED:
            # A comment or a script; what follows it is still text of its parent.
            element.text = None
            for child in element:
                element.remove(child)
        elif element.tag in _BLOCKS:
            element.text = "\n" + (element.text or "")
            element.tail = "\n" + (element.tail or "")
    for line in "".join(document.itertext()).split("\n"):
        folded = _SPACE.sub(" ", line).strip()
        if folded:
            yield folded


def absolute(base: str, reference: str) -> str:
    """Return the URL that *reference* means on the page *base*, or the empty text for none.

    >>> absolute("http://a.example/b", " ../c"), absolute("http://a.example/", "http://[")
    ('http://a.example/c', '')
    """
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return ""


def declared_canonical(text: str | None, url: str, link_header: str = "") -> str:
    """Return the canonical URL that a page declares, absolute, or the empty text.

    A ``Link`` header (RFC 8288, RFC 6596) wins over the link element; of several elements that
    disagree none is believed.

    >>> declared_canonical('<link rel="canonical" href="/x">', "http://a.example/y?z=1")
    'http://a.example/x'
    >>> declared_canonical("", "http://a.example/y", '</x>; rel="canonical"')
    'http://a.example/x'
    """
    for target, params in _LINK.findall(link_header):
        if re.search(r'rel\s*=\s*"?[^"]*\bcanonical\b', params, re.IGNORECASE):
            return absolute(url, str(target))
    document = _document(text) if text and "canonical" in text else None
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


def _document(text: str) -> html.HtmlElement | None:
    try:
        # As bytes, because lxml refuses text with an encoding declaration.
        parser = html.HTMLParser(encoding="utf-8", huge_tree=False)
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError):
        return None


def _bigrams(line: str) -> tuple[int, ...]:
    words = line.lower().split()
    pairs = pairwise(words) if len(words) > 1 else [(word, "") for word in words]
    return tuple(_hash(f"{one} {other}") & 0xFFFFFFFF for one, other in pairs)


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
