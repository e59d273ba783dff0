"""Answers the requests of a crawl within its own process, without a network.

The server of a test and the crawl run in one process. Threads and sockets between them would cost
as much as all else that is done for a page. Only requests that are to fail go over the network.
"""

from __future__ import annotations

import re
from collections import defaultdict
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from loopback import Loopback, Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

if TYPE_CHECKING:
    from loopback import Respond, Response
    from scrapy import Request as ScrapyRequest
    from scrapy.http import Response as ScrapyResponse

_PARTS = re.compile(r"(https?)://([^/?]*)(.*)")


class Site(Loopback):
    """Serves a site over the network, and without it to crawls with its download handler."""

    def __init__(self, respond: Respond) -> None:
        super().__init__(respond)
        self._kept: defaultdict[str, list[Response]] = defaultdict(list)
        handler = type("Handler", (_Handler,), {"site": self})
        self.settings = {"DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), handler)}
        """The settings of a crawl that is answered without a network."""

    def asked(self, request: Request) -> Response | None:
        """Return the answer, or None if the request is to fail on the network."""
        answer = super()._answer(request)
        if not answer.fault:
            return answer
        self._kept[request.url].append(answer)
        return None

    def _answer(self, request: Request) -> Response:
        kept = self._kept[request.url]
        return kept.pop(0) if kept else super()._answer(request)


class _Handler(HTTP11DownloadHandler):
    site: Site

    async def download_request(self, request: ScrapyRequest) -> ScrapyResponse:
        from twisted.internet import reactor  # noqa: PLC0415 - it is installed by now

        if request.meta.get("proxy") != self.site.address:
            return await super().download_request(request)
        begun = time()
        # What else may be asked for is, before any of it is answered.
        await maybe_deferred_to_future(deferLater(reactor, 0))
        answer = self.site.asked(_as_sent(request))
        if answer is None:
            return await super().download_request(request)
        request.meta["download_latency"] = time() - begun
        return _as_received(request, answer)


def _as_sent(request: ScrapyRequest) -> Request:
    scheme, host, target = _PARTS.fullmatch(urldefrag(request.url)[0]).groups()
    if scheme == "https":
        host, target = host.removesuffix(":443"), target if target[:1] == "/" else f"/{target}"
    headers = {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in request.headers.items()
    }
    headers |= {"content-length": str(len(request.body))} if request.body else {}
    return Request(request.method, scheme, host, target, {"host": host, **headers}, request.body)


def _as_received(request: ScrapyRequest, answer: Response) -> ScrapyResponse:
    headers = Headers()
    for name, value in answer.headers:
        headers.appendlist(name, value)
    headers["Content-Length"] = str(len(answer.body))
    body = b"" if request.method == "HEAD" else answer.body
    url = urldefrag(request.url)[0]
    kind = responsetypes.from_args(headers=headers, url=url, body=body)
    return kind(url, answer.status, headers, body, protocol="HTTP/1.1")
