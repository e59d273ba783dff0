"""What an answer is, as far as it tells without being read: a page, a part of one, a way to one."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.response import get_meta_refresh
from w3lib.url import safe_url_string

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
"""What a server answers where there is nothing."""
_REFUSALS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
CUT_SHORT: Final = "dataloss"
"""The flag of a response that lacks its end, which Scrapy passes on if told to
(``DOWNLOAD_FAIL_ON_DATALOSS``)."""
BREAKS_OFF: Final = "breaks off"
"""The flag of a page that lacks its end, as far as its host tells."""
_BLANK: Final = 500
"""Bytes that a document without content has at most."""
# Compiled where so short a one comes.
_EMPTY_FRAME: Final = rb"(?i)<(?:!doctype|/?(?:html|head|body))\b[^<>]*>"
_PARTIAL: Final = frozenset({CUT_SHORT, BREAKS_OFF})


def is_success(response: Response) -> bool:
    """Tell whether the server says that *response* is what was asked for."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def is_error(response: Response) -> bool:
    """Tell whether the server says that there is nothing, or that it failed."""
    return response.status >= HTTPStatus.BAD_REQUEST


def is_gone(response: Response) -> bool:
    """Tell whether the server says that there is nothing."""
    return response.status in GONE


def is_refusal(response: Response | None) -> bool:
    """Tell whether the server answered that it does not want to be asked so much."""
    return response is not None and (
        response.status in _REFUSALS or "Retry-After" in response.headers
    )


def is_blank(response: Response) -> bool:
    """Tell whether there is nothing in *response*, and nothing that a script may fill.

    A browser has a document for an empty answer too.

    >>> body = b"<html><head></head><body></body></html>"
    >>> is_blank(HtmlResponse("http://a.example/", body=body))
    True
    """
    body = response.body
    if not body:
        return not _stands_for_data(response)
    return len(body) < _BLANK and not re.sub(_EMPTY_FRAME, b"", body).strip()


def has_nothing(response: Response) -> bool:
    """Tell whether *response* neither has content nor leads to any.

    >>> [has_nothing(HtmlResponse("http://a.example/", status)) for status in (200, 304, 404)]
    [True, True, True]
    >>> has_nothing(HtmlResponse("http://a.example/", 301, {"Location": "/b"}))
    False
    """
    return is_error(response) or (is_blank(response) and location_of(response) is None)


def _stands_for_data(response: Response) -> bool:
    """Tell whether *response*, which is empty, is no answer of a site, but comes with other data.

    Such are those of scrapy-poet (``DummyResponse``), where what a callback takes needs no page,
    and of scrapy-zyte-api, with what that service extracted: of a class of their own, and without
    any header.
    """
    is_own = type(response).__module__.partition(".")[0] != Response.__module__.partition(".")[0]
    return is_own and not response.headers and not isinstance(response, TextResponse)


def is_cut_short(response: Response) -> bool:
    """Tell whether *response* is not all of what is there.

    Some servers and proxies answer with the beginning of a page, status 206, though nobody asked
    for a part of it.

    >>> [is_cut_short(HtmlResponse("http://a.example/", status)) for status in (200, 206)]
    [False, True]
    """
    is_partial = response.status == HTTPStatus.PARTIAL_CONTENT
    return is_partial or not _PARTIAL.isdisjoint(response.flags)


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
    try:
        # Where Scrapy looked for it that is remembered.
        seconds, url = get_meta_refresh(response, settings.getlist("METAREFRESH_IGNORE_TAGS"))
    except (LookupError, ValueError):
        # No text can be made of it, as of ``charset=undefined``, or it leads to no URL.
        return False
    is_soon = seconds is not None and seconds < settings.getint("METAREFRESH_MAXDELAY")
    return is_soon and url != response.url
