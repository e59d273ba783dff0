"""Parses each response once, for all parts of the plugin that read pages."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary, ref

from lxml import etree  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse, TextResponse, XmlResponse

from scrapy_urlcanon.pages.page import Page

if TYPE_CHECKING:
    from scrapy.http import Response

_MAX_LINKS: Final = 2_000

_pages: WeakKeyDictionary[Response, Page] = WeakKeyDictionary()
_links: WeakKeyDictionary[Response, list[tuple[etree._Element, str]]] = WeakKeyDictionary()


def page_of(response: Response) -> Page:
    """Return what *response* says; the same object as long as the response is in use.

    >>> response = HtmlResponse("http://a.example/", body=b"<title>A</title>", encoding="utf-8")
    >>> page_of(response).title, page_of(response) is page_of(response)
    ('A', True)
    """
    page = _pages.get(response)
    if page is None:
        page = _pages[response] = Page(
            response.url,
            response.body,
            _text_of(response),
            kind="html"
            if isinstance(response, HtmlResponse)
            else "xml"
            if isinstance(response, XmlResponse)
            else "plain",
            link_header=b", ".join(response.headers.getlist("Link")).decode("latin-1"),
            date=(response.headers.get("Date") or b"").decode("latin-1"),
            tree=partial(_tree, ref(response)) if isinstance(response, HtmlResponse) else None,
        )
    return page


def _text_of(response: Response) -> str | None:
    """Return the text of *response*, or None if it has none."""
    try:
        return response.text if isinstance(response, TextResponse) else None
    except (LookupError, UnicodeError):
        # A server may name any charset, such as ``undefined``, and some of Python's codecs decode
        # no bytes.
        return None


def forget(response: Response) -> None:
    """Forget what *response* says. It is parsed again if anybody asks later.

    Scrapy's responses live until the garbage collector runs, about a hundred pages later, and it
    would traverse each hash of each of their lines.
    """
    _pages.pop(response, None)


def read_ahead(response: Response) -> None:
    """Parse all of *response* that may be asked for. May be called from another thread.

    Later calls, and the spider's selectors, find it parsed.
    """
    page = page_of(response)
    _ = page.signature, page.digest, page.canonical


def tree_of(response: Response) -> etree._Element | None:
    """Return the parsed HTML of *response*, shared with the spider's selectors; None for no HTML.

    >>> tree_of(HtmlResponse("http://a.example/", body=b"<p>A", encoding="utf-8")).tag
    'html'
    """
    if not isinstance(response, HtmlResponse):
        return None
    try:
        return response.selector.root
    except (etree.LxmlError, LookupError, ValueError):
        return None


def links_of(response: Response) -> list[tuple[etree._Element, str]]:
    """Return the first links of *response*, each with its ``href`` as written.

    They are collected once for all who ask in turn, since lxml makes an element anew if nobody
    holds it. They are kept for one response only: responses live until the garbage collector runs,
    and it would traverse those of a hundred.

    >>> body = b'<a name=top></a><a href="/b">B</a>'
    >>> links = links_of(HtmlResponse("http://a.example/", body=body, encoding="utf-8"))
    >>> [(element.text, address) for element, address in links]
    [('B', '/b')]
    """
    found = _links.get(response)
    if found is None:
        document = tree_of(response)
        anchors = () if document is None else islice(document.iter("a"), _MAX_LINKS)
        _links.clear()
        found = _links[response] = [(a, address) for a in anchors if (address := a.get("href"))]
    return found


def _tree(response: ref[HtmlResponse]) -> etree._Element | None:
    # A weak reference: a page that holds its response would never be freed.
    found = response()
    return None if found is None else tree_of(found)
