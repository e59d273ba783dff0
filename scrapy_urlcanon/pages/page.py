"""One response, read once for all who ask what it says."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha1
from itertools import chain
from typing import TYPE_CHECKING, Literal

from scrapy_urlcanon.pages.canonical_link import declared_canonical, other_addresses
from scrapy_urlcanon.pages.markup import folded_lines, images_of, parse, title_of, visible_lines
from scrapy_urlcanon.pages.same_page import PageDigest, title_line
from scrapy_urlcanon.pages.signature import (
    Line,
    Signature,
    bounded,
    hash64,
    line_of,
    line_of_image,
    steady,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BODY = 4 << 20
"""Bytes and characters of a response that are read: what tells two pages apart stands before."""


class Page:
    """What one response says. Each part is read when somebody first asks for it.

    >>> page = Page("http://a.example/?b", b"", "<title>A</title><link rel=canonical href=/><p>B")
    >>> page.title, page.text, page.canonical
    ('A', ['A', 'B'], 'http://a.example/')
    >>> one, other = (Page("", b"", f"<title>T</title><p>{n} comments</p>") for n in (12, 7))
    >>> [a.masked == b.masked for a, b in zip(one.lines, other.lines)]
    [True, True]

    :param url: that was answered.
    :param body: as received, decompressed.
    :param text: the decoded body; None where it is no text.
    :param kind: what the text is.
    :param link_header: the value of ``Link``; of several their values between commas.
    :param date: the value of ``Date``. The page as it was at another time has the same lines,
        whatever clock they show.
    """

    def __init__(
        self,
        url: str,
        body: bytes = b"",
        text: str | None = None,
        *,
        kind: Literal["html", "xml", "plain"] = "html",
        link_header: str = "",
        date: str = "",
    ) -> None:
        self.url = url
        self.body = body
        self._source = None if text is None else text[:MAX_BODY]
        self._kind = kind
        self._link_header = link_header
        self._date = date

    @cached_property
    def canonical(self) -> str:
        """The canonical URL that it declares, absolute, or the empty text."""
        return declared_canonical(
            self._source if self._kind == "html" else None, self.url, self._link_header
        )

    @property
    def other_addresses(self) -> dict[str, str]:
        """What else its head calls itself, and the page that follows it, by name."""
        return other_addresses(self._source if self._kind == "html" else None, self.url)

    @property
    def text(self) -> list[str]:
        """The lines of text that a reader sees, white space folded; none of what is no text."""
        return self._reading[1]

    @property
    def title(self) -> str:
        """Its title, without what is another one at each visit; empty where there is none."""
        return self._reading[0]

    @property
    def lines(self) -> Iterator[Line]:
        """What is kept of each line of its text, and of each image; nothing of what is no text."""
        _, text, images = self._reading
        return chain(map(line_of, steady(text, self._date)), map(line_of_image, images))

    @property
    def legible_lines(self) -> Iterator[tuple[str, Line]]:
        """The text of its title and of each of :attr:`lines`, beside what is kept of it."""
        title, text, images = self._reading
        if title:
            yield title, title_line(title)
        for steady_text in steady(text, self._date):
            yield steady_text, line_of(steady_text)
        for image in images:
            yield image, line_of_image(image)

    @property
    def is_text(self) -> bool:
        """Whether there is any text to compare."""
        return any(self._reading)

    @cached_property
    def signature(self) -> Signature:
        """What a store keeps of it.

        What cannot be read is its own only line: no boilerplate, no near-duplicates.
        """
        raw = sha1(self.body[:MAX_BODY], usedforsecurity=False).hexdigest()
        if not self.is_text:
            exact = hash64(raw.encode())
            return Signature(raw, f"raw:{raw}", 0, (Line(exact, exact, ()),))
        digest = f"raw:{raw}"
        if self._kind != "plain":
            text = "\n".join(self.text).encode("utf-8", "surrogatepass")
            digest = sha1(text, usedforsecurity=False).hexdigest()
        return Signature(raw, digest, self._title_hash, bounded(self.lines))

    @cached_property
    def digest(self) -> PageDigest:
        """What there is to compare of it with another page of the crawl."""
        if not self.is_text:
            return PageDigest.of_bytes(self.body)
        return PageDigest.of_lines(self.title, self.lines)

    @cached_property
    def _reading(self) -> tuple[str, list[str], list[str]]:
        """Title, lines of text and images."""
        if self._source is None:
            return "", [], []
        if self._kind == "plain":
            return "", folded_lines(self._source), []
        document = parse(self._source)
        if document is None:
            return "", [], []
        # Before the lines, which use the document up.
        (title,) = steady([title_of(document)], self._date)
        images = images_of(document)
        return title, visible_lines(document), images

    @property
    def _title_hash(self) -> int:
        return hash64(self.title.encode("utf-8", "surrogatepass")) if self.title else 0
