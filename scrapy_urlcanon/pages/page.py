"""A response whose contents are read once, when they are first needed."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha1
from typing import TYPE_CHECKING, Literal, NamedTuple

from scrapy_urlcanon.pages.canonical_link import declared_canonical, other_addresses
from scrapy_urlcanon.pages.markup import (
    data_of,
    folded_lines,
    is_json,
    media_and_scripts_of,
    parse,
    text_of,
    title_of,
    with_lines_of_members,
)
from scrapy_urlcanon.pages.same_page import PageDigest, title_line
from scrapy_urlcanon.pages.signature import (
    MAX_LINES,
    RAW,
    Line,
    Lines,
    Signature,
    hash64,
    kept_lines,
    lines_of_lower,
    lower_case,
)
from scrapy_urlcanon.pages.steady_text import steady, without_address, without_marks, without_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml import etree  # type: ignore[import-untyped]

MAX_BODY = 4 << 20
"""How many bytes and characters of a response are read."""


class _Reading(NamedTuple):
    """What a reader sees of a page."""

    title: str
    text: bytes
    """The lines, in UTF-8."""
    media: tuple[bytes, ...]
    scripts: bytes = b""
    """The scripts that make the page, if its markup shows nothing but the title."""
    is_blank: bool = False
    """Whether scripts make the whole page, so that its markup does not even show a title."""
    inline: str = ""
    """The inline scripts, which may have data that they show in a browser; on a page without text
    also such data in attributes."""


_NOTHING = _Reading("", b"", ())


class Page:
    """The contents of one response. Each part is read when it is first needed.

    >>> page = Page("http://a.example/?b", b"", "<title>A</title><link rel=canonical href=/><p>B")
    >>> page.title, page.has_text, page.canonical
    ('A', True, 'http://a.example/')
    >>> one, other = (Page("", b"", f"<title>T</title><p>{n} comments</p>") for n in (12, 7))
    >>> [a.masked == b.masked for a, b in zip(one.lines, other.lines)]
    [True, True]

    :param url: the URL of the response.
    :param body: as received, decompressed.
    :param text: the decoded body; None if it is not text.
    :param kind: the declared kind of the text. JSON is recognised whatever is declared.
    :param link_header: the value of the ``Link`` header; several values are joined with commas.
    :param date: the value of the ``Date`` header. That time is masked in the lines, so that a clock
        does not change them.
    :param tree: returns the parsed document, if the caller has it already.
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
        tree: Callable[[], etree._Element | None] | None = None,
    ) -> None:
        self.url = url
        self.body = body
        self._source = None if text is None else text[:MAX_BODY]
        self._kind = "plain" if kind == "html" and text and is_json(text) else kind
        self._link_header = link_header
        self._date = date
        self._tree = tree

    @cached_property
    def canonical(self) -> str:
        """The absolute canonical URL that the page declares, or the empty string."""
        return declared_canonical(
            self._source if self._kind == "html" else None, self.url, self._link_header
        )

    @property
    def other_addresses(self) -> dict[str, str]:
        """The addresses ``og:url`` and ``next`` in the head; see :func:`.other_addresses`."""
        return other_addresses(self._source if self._kind == "html" else None, self.url)

    @property
    def has_text(self) -> bool:
        """Whether a reader sees any text."""
        return bool(self._reading.text)

    @property
    def title(self) -> str:
        """The title, without tokens that change at each visit; empty if there is none."""
        return self._reading.title

    @cached_property
    def lower(self) -> bytes:
        """The text in lower case, in UTF-8."""
        return lower_case(self._reading.text)

    @cached_property
    def lines(self) -> Lines:
        """The hashes of the lines of the text and of the addresses of embedded media."""
        return lines_of_lower(self.lower, self._reading.media)

    @property
    def legible_lines(self) -> Iterator[tuple[str, Line]]:
        """The title and each of :attr:`lines` as text, with its hashes."""
        title, text, media, *_ = self._reading
        if title:
            yield title, title_line(title)
        lines = text.split(b"\n") if text else []
        for line, kept in zip([*lines, *media], self.lines, strict=True):
            yield line.decode("utf-8", "surrogatepass"), kept

    @property
    def inline_scripts(self) -> str:
        """The inline scripts of HTML, and data for scripts in attributes if it has no text."""
        return self._reading.inline

    @property
    def is_text(self) -> bool:
        """Whether there is any text to compare."""
        return any(self._reading[:3])

    @cached_property
    def signature(self) -> Signature:
        """What a store keeps of the page.

        A body that is not text, or a page made by a script, is a single line: no boilerplate, no
        near-duplicates. So are data with more lines than are kept, since any line of a listing may
        be the one that differs. A page that is made by scripts without inline data has no line.
        """
        raw = sha1(self.body[:MAX_BODY], usedforsecurity=False).hexdigest()
        scripts = self._reading.scripts
        if self._reading.is_blank and not scripts:
            return Signature(raw, RAW + raw, 0, Lines())
        is_data = self._kind != "html"
        if scripts or not self.is_text or (is_data and len(self.lines) > MAX_LINES):
            main = sha1(scripts, usedforsecurity=False).hexdigest() if scripts else raw
            exact = hash64(main.encode())
            return Signature(raw, RAW + main, self._title_hash, Lines([exact], [exact], [1]))
        digest = RAW + raw
        if not is_data:
            digest = sha1(self._reading.text, usedforsecurity=False).hexdigest()
        return Signature(raw, digest, self._title_hash, kept_lines(self.lines))

    @cached_property
    def digest(self) -> PageDigest:
        """What is compared with other pages of the crawl."""
        if not self.is_text and not self._reading.is_blank:
            return PageDigest.of_bytes(self.body)
        title, text, media, scripts, _, inline = self._reading
        lines = b"\n".join((text, *media))
        return PageDigest.of_text(title, lines, self.lines, scripts, media, inline=inline)

    @cached_property
    def _reading(self) -> _Reading:
        if self._source is None:
            return _NOTHING
        if self._kind == "plain":
            text = folded_lines(with_lines_of_members(self._source))
            return _Reading("", steady(without_address(text, self.url), self._date), ())
        document = self._document()
        if document is None:
            return _NOTHING
        title = steady(title_of(document).encode("utf-8", "surrogatepass"), self._date)
        text = folded_lines(text_of(document, self._kind, self.url))
        # Before tokens are masked: the URL may contain one.
        text = (without_address if self._kind == "xml" else without_query)(text, self.url)
        text = without_marks(steady(text, self._date))
        sources, inline = media_and_scripts_of(document)
        media = tuple(source.encode("utf-8", "surrogatepass") for source in sources)
        is_empty = text in {b"", title} and not media
        if is_empty:
            inline = "\n".join(filter(None, (inline, *data_of(document))))
        scripts = inline.encode("utf-8", "surrogatepass") if is_empty else b""
        # Then the body is not content: it may just repeat the URL.
        is_blank = is_empty and not title and document.find(".//script") is not None
        title_text = title.decode("utf-8", "surrogatepass")
        return _Reading(title_text, text, media, scripts, is_blank, inline)

    def _document(self) -> etree._Element | None:
        if self._tree is None or self._source is None or len(self._source) == MAX_BODY:
            return parse(self._source or "")
        return self._tree()

    @property
    def _title_hash(self) -> int:
        return hash64(self.title.encode("utf-8", "surrogatepass")) if self.title else 0
