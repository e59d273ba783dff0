"""Classifies responses by status and headers: a page, a part of a page, an error or a redirect."""

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
"""The statuses for a URL at which there is nothing."""
_REFUSALS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
CUT_SHORT: Final = "dataloss"
"""The flag of a response whose end is missing. Scrapy passes such responses on with
``DOWNLOAD_FAIL_ON_DATALOSS = False``."""
BREAKS_OFF: Final = "breaks off"
"""The flag of a page that seems to break off; see :class:`.PageEnds`."""
_BLANK: Final = 500
"""The most bytes of a document that counts as blank."""
# Compiled when the first document of this size comes.
_EMPTY_FRAME: Final = rb"(?i)<(?:!doctype|/?(?:html|head|body))\b[^<>]*>"
_PARTIAL: Final = frozenset({CUT_SHORT, BREAKS_OFF})


def is_success(response: Response) -> bool:
    """Tell whether *response* has a status from 200 to 299."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def is_error(response: Response) -> bool:
    """Tell whether *response* has a status of 400 or more."""
    return response.status >= HTTPStatus.BAD_REQUEST


def is_refusal(response: Response | None) -> bool:
    """Tell whether the server asks for fewer requests."""
    return response is not None and (
        response.status in _REFUSALS or "Retry-After" in response.headers
    )


def is_blank(response: Response) -> bool:
    """Tell whether *response* has no content, and nothing that a script could fill.

    An empty document also counts, since a browser makes one of an empty response.

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
    """Tell whether *response* is empty since other data comes with it, and was not sent by a site.

    Examples are ``DummyResponse`` of scrapy-poet, for callbacks that need no page, and the
    responses of scrapy-zyte-api with data that its service extracted. They have classes of their
    own and no headers.
    """
    is_own = type(response).__module__.partition(".")[0] != Response.__module__.partition(".")[0]
    return is_own and not response.headers and not isinstance(response, TextResponse)


def is_cut_short(response: Response) -> bool:
    """Tell whether *response* lacks a part of the page.

    Some servers and proxies send the beginning of a page with status 206, though no part was asked
    for.

    >>> [is_cut_short(HtmlResponse("http://a.example/", status)) for status in (200, 206)]
    [False, True]
    """
    is_partial = response.status == HTTPStatus.PARTIAL_CONTENT
    return is_partial or not _PARTIAL.isdisjoint(response.flags)


def location_of(response: Response) -> str | None:
    """Return the absolute URL to which *response* redirects, or None.

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
    """Tell whether *response* sends browsers to another URL, which Scrapy has not followed.

    That is a ``<meta http-equiv="refresh">`` which Scrapy would follow with ``METAREFRESH_ENABLED``
    (``downloadermiddlewares/redirect.py``).

    >>> from scrapy.settings import Settings
    >>> body = b'<meta http-equiv="refresh" content="0; url=/b">'
    >>> refreshes_elsewhere(HtmlResponse("http://a.example/", body=body), Settings())
    True
    """
    if not isinstance(response, HtmlResponse):
        return False
    try:
        # Scrapy caches the result for each response.
        seconds, url = get_meta_refresh(response, settings.getlist("METAREFRESH_IGNORE_TAGS"))
    except (LookupError, ValueError):
        # The page cannot be decoded, as with ``charset=undefined``, or the refresh has no valid
        # URL.
        return False
    is_soon = seconds is not None and seconds < settings.getint("METAREFRESH_MAXDELAY")
    return is_soon and url != response.url
