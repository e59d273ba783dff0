"""Reads the canonical URL that a page declares in its head or in a ``Link`` header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy_urlcanon.pages.inner_loops import form_of_reference
from scrapy_urlcanon.pages.inner_loops.in_python import ORIGIN, PATH, WHOLE
from scrapy_urlcanon.pages.markup import parse, text_of_head

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINK_HEADER = 1 << 14
"""How many characters of a ``Link`` header are read. Servers send less than half of that."""

_NO_ADDRESS = frozenset({"None", "null", "undefined"})
"""What templates print for a missing address. As a relative reference it would be a valid URL."""

_ORIGIN_OF_BASE = re.compile(rf"{ORIGIN}(?=[/?#]|\Z)")


def declared_canonical(text: str | None, url: str, link_header: str = "") -> str:
    """Return the canonical URL that a page declares, absolute, or the empty string.

    A ``Link`` header (RFC 8288, RFC 6596) takes precedence over the link element. Elements are
    ignored if they disagree, or if they are outside the head, where visitors may write. ``None``,
    ``null`` and ``undefined``, which templates print for a missing address, are ignored too.

    >>> declared_canonical('<link rel="canonical" href="/x">', "http://a.example/y?z=1")
    'http://a.example/x'
    >>> declared_canonical(None, "http://a.example/y", '</x>; rel="canonical"')
    'http://a.example/x'
    >>> declared_canonical("<body><link rel=canonical href=/x>", "http://a.example/y")
    ''

    :param text: the decoded page, or None if it is not HTML.
    :param url: the URL of the page.
    :param link_header: the value of the ``Link`` header; several values are joined with commas.
    """
    for target, params in links_of(link_header[:MAX_LINK_HEADER]):
        is_canonical = "canonical" in params.get("rel", "").lower().split()
        # With an anchor the link is about another page (RFC 8288, section 3.2).
        if is_canonical and "anchor" not in params and _is_address(target):
            return absolute(url, target)
    text = text_of_head(text or "")
    # Only the head is lower-cased: for a whole page beyond ASCII that takes longer than all else.
    head = parse(text) if "canonical" in text.lower() else None
    if head is None:
        return ""
    # The first base element with an address counts (HTML standard, section 2.4.3). Others may only
    # have a target.
    bases = filter(None, (element.get("href") for element in head.iter("base")))
    base = absolute(url, next(bases, "")) or url
    found = {
        absolute(base, href)
        for element in head.iter("link")
        if "canonical" in (element.get("rel") or "").lower().split()
        and (href := element.get("href"))
        and _is_address(href)
    }
    return str(found.pop()) if len(found) == 1 else ""


def other_addresses(text: str | None, url: str) -> dict[str, str]:
    """Return the addresses besides its canonical URL that the head of a page states, absolute.

    These are its ``og:url`` (Open Graph protocol) and the page that follows it (``rel="next"``,
    HTML standard, section 4.6.7.14).

    >>> html = '<meta property="og:url" content="/x?a=1"><link rel="next" href="/x?a=1&amp;page=2">'
    >>> other_addresses(html, "http://a.example/x")
    {'og:url': 'http://a.example/x?a=1', 'next': 'http://a.example/x?a=1&page=2'}
    """
    head = parse(text_of_head(text or ""))
    if head is None:
        return {}
    found: dict[str, str] = {}
    for element in head.iter("meta", "link"):
        is_next = "next" in (element.get("rel") or "").lower().split()
        name = "next" if is_next else (element.get("property") or "").lower()
        target = element.get("href") if is_next else element.get("content")
        if name in {"next", "og:url"} and target and _is_address(target):
            found.setdefault(name, absolute(url, target))
    return found


def _is_address(reference: str) -> bool:
    return reference.strip() not in _NO_ADDRESS


def absolute(base: str, reference: str) -> str:
    """Return the URL that *reference* means on the page *base*, or the empty string if none.

    >>> absolute("http://a.example/b", " ../c"), absolute("http://a.example/", "http://[")
    ('http://a.example/c', '')
    """
    reference = reference.strip()
    # Most references have one of two simple forms, for which ``urljoin`` does too much.
    form = form_of_reference(reference)
    if form == WHOLE:
        return reference
    if form == PATH:
        origin = _ORIGIN_OF_BASE.match(base)
        if origin:
            return origin[0] + reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return ""


def links_of(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the target and the parameters of each link in a ``Link`` header (RFC 8288, section 3).

    The time is linear in the length of *header*, which is read once from left to right.

    >>> list(links_of('<a,b>; rel="x y"; title="1,<2>", <c>;rel=z'))
    [('a,b', {'rel': 'x y', 'title': '1,<2>'}), ('c', {'rel': 'z'})]
    """
    end = 0
    while (start := header.find("<", end)) >= 0:
        end = header.find(">", start)
        if end < 0:
            return
        target = header[start + 1 : end]
        params: dict[str, str] = {}
        end += 1
        for name, value, stop in _params(header, end):
            # The first of several parameters with one name counts (section 3.3).
            params.setdefault(name, value)
            end = stop
        yield target, params


def _params(header: str, position: int) -> Iterator[tuple[str, str, int]]:
    """Yield each parameter from *position* to the end of the link, with the position after it."""
    size = len(header)
    while True:
        while position < size and header[position] in " \t;":
            position += 1
        start = position
        while position < size and header[position] not in '=;,"<':
            position += 1
        name = header[start:position].strip().lower()
        if position >= size or header[position] != "=" or not name:
            return
        position += 1
        while position < size and header[position] in " \t":
            position += 1
        if header[position : position + 1] == '"':
            quote = header.find('"', position + 1)
            stop = size if quote < 0 else quote + 1
            value = header[position + 1 : size if quote < 0 else quote]
        else:
            stop = position
            while stop < size and header[stop] not in ";,":
                stop += 1
            value = header[position:stop].strip()
        yield name, value, stop
        position = stop
