"""The pages that linked what was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_urlcanon.crawl.origins import sources_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class LinkingPages:
    """Remembers which page the callback had that made a request, as long as there is the request.

    A dropped request itself tells little of it. Scrapy's ``RefererMiddleware`` sets ``Referer``
    by then, but by its policy: nothing for a link from https to http, and perhaps but the origin
    (``scrapy/spidermiddlewares/referer.py``). It is asked where nothing else is known: the spider's
    own middlewares may have put another request in the place of that of the callback.
    """

    def __init__(self) -> None:
        self._urls: WeakKeyDictionary[Request, str] = WeakKeyDictionary()

    def note(self, request: Request, response: Response) -> None:
        """Note that a callback which had *response* made *request*."""
        self._urls[request] = response.url

    def of(self, request: Request) -> str:
        """Return the URL of the page that linked *request*; empty where it is not known.

        For a redirect too: what was redirected is not what was linked.
        """
        if sources_of(request):
            return ""
        header = request.headers.get("Referer") or b""
        return self._urls.get(request) or header.decode("utf-8", errors="replace")
