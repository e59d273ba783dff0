"""What one response showed, as it is compared with what others did."""

from __future__ import annotations

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
"""From how many characters on a value of the query that a page repeats is an echo of its URL."""


class Shown:
    """What one response showed, line by line.

    What is no text, or more than is read of a page, is one line, whatever it has.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> page = Page("http://a.example/", b"PNG ...")
    >>> [*Shown(page, page.digest).texts.values()]
    ['7 bytes with the checksum 8987e3c8']

    :param digest: without lines where its text is not to be read.
    """

    def __init__(self, page: Page, digest: PageDigest) -> None:
        self.digest = digest
        self.texts: dict[LineKey, str] = {}
        """Each line by its hashes, without numbers and exact."""
        if digest.lines is None:
            whole = hash64(_whole(page))
            key = key_of(whole, whole)
            self.texts[key] = f"{len(page.body):,} bytes with the checksum {key[0]:08x}"
            return
        for text, line in page.legible_lines:
            self.texts[key_of(line.masked, line.exact)] = text

    def has(self, own: frozenset[LineKey]) -> bool:
        """Tell whether it shows most of the lines that are another page's *own*."""
        return 2 * sum(line in self.texts for line in own) > len(own)

    @cached_property
    def media(self) -> frozenset[LineKey]:
        """Those lines that are addresses of what it embeds."""
        sources = (text.encode("utf-8", "surrogatepass") for text in self.texts.values())
        # No number is masked in them.
        media = {key_of(medium, medium) for medium in map(hash_of_medium, sources)}
        return frozenset(media & self.texts.keys())

    @cached_property
    def lines(self) -> dict[int, set[int]]:
        """The exact hashes of the lines by those without numbers."""
        found: dict[int, set[int]] = {}
        for shape, exact in self.texts:
            found.setdefault(shape, set()).add(exact)
        return found


def _whole(page: Page) -> bytes:
    """Return all that *page* shows; its text where it has one: markup repeats the URL in links."""
    if not page.is_text:
        return page.body
    text = "\n".join(text for text, _ in page.legible_lines)
    return without(echoes(page.url, ""), text).encode("utf-8", "surrogatepass")


def echoes(url: str, other: str) -> tuple[str, ...]:
    """Return what of *url*, and not of the *other* one, a page may repeat: the longest first."""
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
    """Return *text* without any of *parts*, white space folded."""
    for part in parts:
        text = text.replace(part, "")
    return " ".join(text.split())
