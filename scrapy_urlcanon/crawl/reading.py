"""Reads each response once, for all parts of the crawl that ask what it says."""

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
    """Return what *response* says; the same object for as long as the response is in use.

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
    """Return the text of *response*; None where it has none."""
    try:
        return response.text if isinstance(response, TextResponse) else None
    except (LookupError, UnicodeError):
        # Servers name what they like, such as ``charset=undefined``, and some of Python's codecs
        # make no text of bytes.
        return None


def forget(response: Response) -> None:
    """Forget what *response* says; it is read anew for who asks later.

    Scrapy's responses live until the garbage collector comes by, a hundred pages later, and it
    would look at each hash of each line of these.
    """
    _pages.pop(response, None)


def read_ahead(response: Response) -> None:
    """Read all of *response* that somebody may ask for; may be called from another thread.

    Who asks then has it at once, and so has the spider the tree.
    """
    page = page_of(response)
    _ = page.signature, page.digest, page.canonical


def tree_of(response: Response) -> etree._Element | None:
    """Return the document that *response* is, which the spider finds parsed; None of no HTML.

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
    """Return the first links of *response*, each with its address as it stands there.

    They are looked for once for all who ask in turn, since an element of lxml that nobody holds is
    made anew each time; and held for one response, or the garbage collector would look through
    those of a hundred: Scrapy's responses live until it comes by.

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
    # A page that held its response would never be forgotten.
    found = response()
    return None if found is None else tree_of(found)
