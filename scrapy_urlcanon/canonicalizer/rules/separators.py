"""Options for what separates the parameters of a query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules.base import Classical, Example, Rule
from scrapy_urlcanon.canonicalizer.values import Choice

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


class EscapedAmpersand(Rule):
    """Read ``&amp;`` as ``&``.

    What it does: with ``decode``, ``?a=1&amp;b=2`` becomes ``?a=1&b=2``, however often the
    ampersand was escaped (``&amp;amp;``).

    Why it is safe: such a link was escaped once too often by a template or an editor. No server
    has a parameter named ``amp;b``, and many read it as ``b``.

    When it is wrong: the server does not, ignores what follows the first ``&`` of such a link, and
    so answers it with another page.
    """

    name = "escaped_ampersand"
    component = "query"
    # A `;` in a name is written `%3B` later.
    as_written = True
    values = Choice(("keep", "decode"))
    neutral = "keep"
    place = 18
    classical = (Classical("HTML-escaped `&`", "http://example.com/?a=1&amp;b=2", value="decode"),)
    changes = (
        Example("decode", "http://example.com/?b=2&amp;a=1", "http://example.com/?a=1&b=2"),
        Example("decode", "http://example.com/?a=1&amp;AMP;b", "http://example.com/?a=1&b="),
    )
    keeps = (
        Example("decode", "http://example.com/?a=1&amp=2", "http://example.com/?a=1&amp=2"),
        Example("decode", "http://example.com/?a=b%26amp%3Bc", "http://example.com/?a=b%26amp%3Bc"),
    )

    # Compiled where it is used.
    _escapes = "(?:amp;)+"

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        first, *others = url.query
        return url._replace(query=(first, *(self._without_escapes(piece) for piece in others)))

    def _without_escapes(self, piece: str) -> str:
        escapes = re.match(self._escapes, piece, re.IGNORECASE)
        return piece[escapes.end() :] if escapes else piece


class QuerySeparator(Rule):
    """Read ``;`` as a separator of parameters, as well as ``&``.

    What it does: with ``;``, both separate parameters, and the canonical URL has ``&``. A
    percent-encoded ``;`` separates nothing. With ``&``, a ``;`` is part of the value, as it is for
    browsers and for Scrapy.

    Why it is safe: HTML 4.01 (appendix B.2.2) asked servers to support both, because ``&`` has to
    be escaped in HTML. Those that do answer both with the same page.

    When it is wrong: the server does not support it, and the ``;`` belongs to a value.
    """

    name = "query_separator"
    component = "query"
    # Where it separates nothing, a `;` is written `%3B`.
    as_written = True
    values = Choice(("&", ";"))
    neutral = "&"
    place = 20
    classical = (Classical("`;` as separator", "http://example.com/?a=1;b=2", value=";"),)
    changes = (
        Example(";", "http://example.com/?b=2;a=1", "http://example.com/?a=1&b=2"),
        Example(";", "http://example.com/?b=2;;c=3&a=1;", "http://example.com/?a=1&b=2&c=3"),
    )
    keeps = (
        Example(";", "http://example.com/?a=1%3Bb%3D2", "http://example.com/?a=1%3Bb%3D2"),
        Example(";", "http://example.com/a;b=1", "http://example.com/a;b=1"),
    )

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        return url._replace(query=tuple(p for piece in url.query for p in piece.split(";")))
