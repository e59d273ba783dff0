"""Remembers which page linked a dropped request, for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_urlcanon.crawl.origins import sources_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class LinkingPages:
    """Remembers the page whose callback yielded a request, as long as the request exists.

    The dropped request itself tells little. Scrapy's ``RefererMiddleware`` has set ``Referer`` by
    then, but depending on the referrer policy that is missing (from https to http) or only the
    origin (``scrapy/spidermiddlewares/referer.py``). It is used only if nothing else is known,
    since the spider's own middlewares may have replaced the request that the callback yielded.
    """

    def __init__(self) -> None:
        self._urls: WeakKeyDictionary[Request, str] = WeakKeyDictionary()

    def note(self, request: Request, response: Response) -> None:
        """Note that a callback yielded *request* for *response*."""
        self._urls[request] = response.url

    def of(self, request: Request) -> str:
        """Return the URL of the page that linked *request*, or an empty string if unknown.

        It is unknown for redirects, since the target of a redirect was not linked.
        """
        if sources_of(request):
            return ""
        header = request.headers.get("Referer") or b""
        return self._urls.get(request) or header.decode("utf-8", errors="replace")
