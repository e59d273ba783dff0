"""What audits fetched and the spider may yet want."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.own_requests import AUDIT, OF_ANOTHER_URL, asks_by_url, mark_of
from scrapy_urlcanon.crawl.settings import BROWSER_PAGE_ASKED_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_PART = 4
_BESIDE_BODY = 6_000
"""Bytes that a response takes beside its body, with its request: most of them for the headers."""


class HeldResponses:
    """Keeps the responses of variants of which it is not known yet which page they are.

    A server may refuse what it has answered once. If such a variant is let through, this is what
    the spider gets, and nothing is fetched.

    :param pending_max_bytes: as in ``URLCANON_PENDING_MAX_BYTES``, of which a part is for them;
        beyond, the oldest are forgotten.
    """

    def __init__(self, pending_max_bytes: int) -> None:
        self._max_bytes = pending_max_bytes // _PART
        self._responses: OrderedDict[str, Response] = OrderedDict()
        self._bytes = 0

    def hold(self, url: str, response: Response | None) -> None:
        """Keep *response* to a request for *url*, unless another URL answered."""
        if response is None or response.url != url or url in self._responses:
            return
        self._responses[url] = response
        self._bytes += _size_of(response)
        while self._bytes > self._max_bytes:
            _, oldest = self._responses.popitem(last=False)
            self._bytes -= _size_of(oldest)

    def has(self, url: str) -> bool:
        """Tell whether there is a response for *url*."""
        return url in self._responses

    def get(self, url: str) -> Response | None:
        """Return the response for *url*, if there is one."""
        return self._responses.get(url)

    def take(self, request: Request) -> Response | None:
        """Return and forget what is kept for *request*; None where it has to be fetched.

        The meta of *request* gets what it would have if it had been fetched: the callback may read
        ``download_latency``, and a middleware what it noted when the request was sent.
        """
        if not self._responses or not asks_by_url(request) or mark_of(request, AUDIT):
            return None
        if request.meta.get(BROWSER_PAGE_ASKED_KEY):
            # The page in which a browser has it was closed.
            return None
        response = self._responses.pop(request.url, None)
        if response is None:
            return None
        self._bytes -= _size_of(response)
        brought = response.request.meta if response.request else {}
        for key in brought.keys() - request.meta.keys() - OF_ANOTHER_URL:
            request.meta[key] = brought[key]
        return response.replace(request=request)


def _size_of(response: Response) -> int:
    return len(response.body) + _BESIDE_BODY
