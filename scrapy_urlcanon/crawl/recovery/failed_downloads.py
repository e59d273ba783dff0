"""Remembers failed downloads: what a middleware returns in place of one is not the page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy_urlcanon.crawl.answers import BREAKS_OFF, is_blank, is_error, is_success
from scrapy_urlcanon.crawl.own_requests import REWRITTEN, mark_of
from scrapy_urlcanon.crawl.recovery.page_ends import breaks_off_packed

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_failed: WeakSet[Request] = WeakSet()


class UrlCanonFailureMiddleware:
    """Notes failed downloads before any middleware can answer for them, or unpack half of them.

    A project's ``process_exception`` may return a response with status 200 that no site ever sent,
    and nothing else tells it from the page. The middleware stands nearest to the downloader, since
    ``process_exception`` is called in that order.
    """

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that *request* failed."""
        del exception
        _failed.add(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Flag *response* with ``BREAKS_OFF`` if the end of its compressed body is missing."""
        del request
        if breaks_off_packed(response):
            response.flags.append(BREAKS_OFF)
        return response


def forget_failure(request: Request) -> None:
    """Note that *request* is sent: a middleware may return the very object that failed."""
    if _failed:
        _failed.discard(request)


def is_made_up(request: Request, response: Response) -> bool:
    """Tell whether *response* was made by a middleware after the download had failed.

    The HTTP cache may answer a failed download with the stored page, which counts as the page
    (Scrapy 2.19, ``downloadermiddlewares/httpcache.py``, ``process_exception``).

    >>> from scrapy import Request
    >>> from scrapy.http import Response
    >>> request, response = Request("http://a.example/"), Response("http://a.example/")
    >>> UrlCanonFailureMiddleware().process_exception(request, OSError())
    >>> is_made_up(request, response), is_made_up(request, response.replace(flags=["cached"]))
    (True, False)
    """
    return request in _failed and "cached" not in response.flags


def brings_nothing(request: Request, response: Response) -> bool:
    """Tell whether *response* has no content of the page that *request* is for."""
    is_empty = is_success(response) and is_blank(response) and request.method != "HEAD"
    # With ``URLCANON_REWRITE`` the canonical URL was linked by no page. Its error says nothing
    # about the URLs that were.
    is_failure = is_error(response) and mark_of(request, REWRITTEN) is not None
    return is_empty or is_failure or is_made_up(request, response)
