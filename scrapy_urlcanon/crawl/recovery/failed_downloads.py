"""Which downloads failed: what a middleware answers with in their place is not the page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy_urlcanon.crawl.answers import is_blank, is_error, is_success
from scrapy_urlcanon.crawl.own_requests import REWRITTEN, mark_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_failed: WeakSet[Request] = WeakSet()


class UrlCanonFailureMiddleware:
    """Notes which downloads failed, before all middlewares that may answer for them.

    The ``process_exception`` of a project may return a response, with status 200, that no site ever
    sent: nothing else tells it from the page.
    """

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Note that *request* brought nothing."""
        del exception
        _failed.add(request)


def forget_failure(request: Request) -> None:
    """Note that *request* is on its way: a middleware may return the very one that failed."""
    if _failed:
        _failed.discard(request)


def is_made_up(request: Request, response: Response) -> bool:
    """Tell whether *response* is what a middleware answered with where the download failed.

    Not so what the HTTP cache has of the page (Scrapy 2.19, ``downloadermiddlewares/httpcache.py``,
    ``process_exception``).

    >>> from scrapy import Request
    >>> from scrapy.http import Response
    >>> request, response = Request("http://a.example/"), Response("http://a.example/")
    >>> UrlCanonFailureMiddleware().process_exception(request, OSError())
    >>> is_made_up(request, response), is_made_up(request, response.replace(flags=["cached"]))
    (True, False)
    """
    return request in _failed and "cached" not in response.flags


def brings_nothing(request: Request, response: Response) -> bool:
    """Tell whether *response* has nothing of the page that *request* was made for."""
    is_empty = is_success(response) and is_blank(response) and request.method != "HEAD"
    # An error of a URL that no page linked says nothing of those that are.
    is_failure = is_error(response) and mark_of(request, REWRITTEN) is not None
    return is_empty or is_failure or is_made_up(request, response)
