"""Reads each response once, for all parts of the crawl that ask what it says."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin
from weakref import WeakKeyDictionary, ref

from lxml import etree  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse, TextResponse, XmlResponse
from scrapy.utils.response import get_meta_refresh
from w3lib.url import safe_url_string

from scrapy_urlcanon.pages.page import Page

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

CUT_SHORT: Final = "dataloss"
"""The flag of a response that lacks its end, which Scrapy passes on if told to
(``DOWNLOAD_FAIL_ON_DATALOSS``)."""
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
            response.text if isinstance(response, TextResponse) else None,
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
    except (etree.LxmlError, ValueError):
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


def is_cut_short(response: Response) -> bool:
    """Tell whether *response* is not all of what is there.

    Some servers and proxies answer with the beginning of a page, status 206, though nobody asked
    for a part of it.

    >>> [is_cut_short(HtmlResponse("http://a.example/", status)) for status in (200, 206)]
    [False, True]
    """
    return response.status == HTTPStatus.PARTIAL_CONTENT or CUT_SHORT in response.flags


def location_of(response: Response) -> str | None:
    """Return the URL to which *response* redirects, if it does to any.

    >>> location_of(HtmlResponse("http://a.example/b", 302, {"Location": "c"}))
    'http://a.example/c'
    """
    location = response.headers.get("Location")
    if not location:
        return None
    try:
        return urljoin(response.url, safe_url_string(location))
    except ValueError:
        return None


def refreshes_elsewhere(response: Response, settings: BaseSettings) -> bool:
    """Tell whether *response* sends browsers on to another URL, which nobody has followed.

    That is a ``<meta http-equiv="refresh">`` that Scrapy would follow, were it told to
    (``METAREFRESH_ENABLED``; ``downloadermiddlewares/redirect.py``).

    >>> from scrapy.settings import Settings
    >>> body = b'<meta http-equiv="refresh" content="0; url=/b">'
    >>> refreshes_elsewhere(HtmlResponse("http://a.example/", body=body), Settings())
    True
    """
    if not isinstance(response, HtmlResponse):
        return False
    # Where Scrapy looked for it that is remembered.
    seconds, url = get_meta_refresh(response, settings.getlist("METAREFRESH_IGNORE_TAGS"))
    is_soon = seconds is not None and seconds < settings.getint("METAREFRESH_MAXDELAY")
    return is_soon and url != response.url


def _tree(response: ref[HtmlResponse]) -> etree._Element | None:
    # A page that held its response would never be forgotten.
    found = response()
    return None if found is None else tree_of(found)
