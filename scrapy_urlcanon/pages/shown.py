"""The contents of one response in the form in which they are compared."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from scrapy_urlcanon.pages.same_page import key_of
from scrapy_urlcanon.pages.signature import hash64, hash_of_medium

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.pages.page import Page
    from scrapy_urlcanon.pages.same_page import LineKey, PageDigest

_LONG_VALUE = 8
"""The least length of a query value to be treated as an echo where the page repeats it."""


_PHRASE = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}(?: [^\W\d_]{2,})+")


class Shown:
    """What one response showed, line by line.

    A body that is not text, or too long to be read, is one line.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> page = Page("http://a.example/", b"PNG ...")
    >>> [*Shown(page, page.digest).texts.values()]
    ['7 bytes with the checksum 8987e3c8']

    :param digest: the digest of the page; if it has no lines, the text is not read.
    """

    def __init__(self, page: Page, digest: PageDigest) -> None:
        self.digest = digest
        self._scripts = "" if digest.lines is None else page.inline_scripts
        self.texts: dict[LineKey, str] = {}
        """The text of each line, by its masked and its exact hash."""
        if digest.lines is None:
            whole = hash64(_whole(page))
            key = key_of(whole, whole)
            self.texts[key] = f"{len(page.body):,} bytes with the checksum {key[0]:08x}"
            return
        for text, line in page.legible_lines:
            self.texts[key_of(line.masked, line.exact)] = text

    def has(self, own: frozenset[LineKey]) -> bool:
        """Tell whether most of *own*, lines or phrases that only another page has, are here."""
        return 2 * sum(line in self.texts or line in self.phrases for line in own) > len(own)

    @cached_property
    def phrases(self) -> dict[LineKey, str]:
        """The phrases in inline scripts, by keys that no line of the text has.

        A phrase is two or more words with a space between them, such as the name of a product in
        the data of which a script makes the page. Names and values in programs seldom are.

        >>> from scrapy_urlcanon.pages.page import Page
        >>> page = Page("", b"", "<title>T</title><script>item = {'name': 'Red shoes'}</script>")
        >>> [*Shown(page, page.digest).phrases.values()]
        ['Red shoes']
        """
        found = dict.fromkeys(_PHRASE.findall(self._scripts))
        hashes = ((hash64(f"script: {text}".encode()), text) for text in found)
        return {key_of(phrase, phrase): text for phrase, text in hashes}

    @cached_property
    def media(self) -> frozenset[LineKey]:
        """The lines that are addresses of embedded media."""
        sources = (text.encode("utf-8", "surrogatepass") for text in self.texts.values())
        # Numbers are not masked in addresses.
        media = {key_of(medium, medium) for medium in map(hash_of_medium, sources)}
        return frozenset(media & self.texts.keys())

    @cached_property
    def lines(self) -> dict[int, set[int]]:
        """The exact hashes of the lines, by masked hash."""
        found: dict[int, set[int]] = {}
        for shape, exact in self.texts:
            found.setdefault(shape, set()).add(exact)
        return found


def _whole(page: Page) -> bytes:
    """Return the text of *page*, or its body if it has none: markup repeats the URL in links."""
    if not page.is_text:
        return page.body
    text = "\n".join(text for text, _ in page.legible_lines)
    return without(echoes(page.url, ""), text).encode("utf-8", "surrogatepass")


def echoes(url: str, other: str) -> tuple[str, ...]:
    """Return the parts of *url* that a page may repeat and *other* does not have, longest first."""
    parts = urlsplit(url)
    values = {piece.partition("=")[2] for piece in parts.query.split("&")}
    others = {piece.partition("=")[2] for piece in urlsplit(other).query.split("&")}
    long_values = {value for value in values - others if len(value) >= _LONG_VALUE}
    relative = f"{parts.path}?{parts.query}" if parts.query else parts.path
    found = {url, *long_values, *map(unquote, long_values)}
    if len(relative) > 1:
        found.add(relative)
    return tuple(sorted(found, key=len, reverse=True))


def without(parts: Iterable[str], text: str) -> str:
    """Return *text* with *parts* removed and white space folded."""
    for part in parts:
        text = text.replace(part, "")
    return " ".join(text.split())
