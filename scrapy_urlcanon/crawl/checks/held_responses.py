"""Holds responses that audits fetched and that the spider may yet need."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.own_requests import AUDIT, OF_ANOTHER_URL, asks_by_url, mark_of
from scrapy_urlcanon.crawl.settings import BROWSER_PAGE_ASKED_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response

_PART = 4
_BESIDE_BODY = 6_000
"""An estimate of the bytes of a response besides its body, with its request and headers."""


class HeldResponses:
    """Holds responses of audited variants, which the spider gets if they are let through.

    They are not fetched again in that case, since a server may refuse to send them twice.

    :param pending_max_bytes: the value of ``URLCANON_PENDING_MAX_BYTES``. A quarter of it is for
        these responses; when they take more, the oldest are forgotten.
    :param beside_rules: returns what tells a request apart from others for its URL.
    """

    def __init__(self, pending_max_bytes: int, beside_rules: Callable[[Request], bytes]) -> None:
        self._beside_rules = beside_rules
        self._max_bytes = pending_max_bytes // _PART
        self._responses: OrderedDict[str, Response] = OrderedDict()
        self._bytes = 0

    def hold(self, url: str, response: Response | None) -> None:
        """Hold *response* to a request for *url*, unless it was redirected to another URL."""
        if response is None or response.url != url or url in self._responses:
            return
        self._responses[url] = response
        self._bytes += _size_of(response)
        while self._bytes > self._max_bytes:
            _, oldest = self._responses.popitem(last=False)
            self._bytes -= _size_of(oldest)

    def get(self, url: str) -> Response | None:
        """Return the response for *url*, if there is one."""
        return self._responses.get(url)

    def take(self, request: Request) -> Response | None:
        """Return and forget the response held for *request*, or None if it has to be fetched.

        *request* is given the meta that the fetch set: the callback may read ``download_latency``,
        and a middleware what it noted when the request was sent. It is not given the meta that the
        audited request had before, since another page may have linked that one.
        """
        if not self._responses or not asks_by_url(request) or mark_of(request, AUDIT):
            return None
        if request.meta.get(BROWSER_PAGE_ASKED_KEY):
            # The callback expects the browser page, which was closed after the audit.
            return None
        response = self._responses.get(request.url)
        if response is None:
            return None
        fetched = response.request
        if fetched and self._beside_rules(fetched) != self._beside_rules(request):
            return None
        del self._responses[request.url]
        self._bytes -= _size_of(response)
        if fetched:
            brought, audit = fetched.meta, mark_of(fetched, AUDIT) or {}
            of_link = {*OF_ANOTHER_URL, *audit.get("meta", ())}
            for key in brought.keys() - request.meta.keys() - of_link:
                request.meta[key] = brought[key]
        return response.replace(request=request)


def _size_of(response: Response) -> int:
    return len(response.body) + _BESIDE_BODY
