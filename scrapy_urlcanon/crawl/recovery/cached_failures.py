"""Keeps the HTTP cache from answering one URL of a page with the failure of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware

from scrapy_urlcanon.crawl.own_requests import OWN_URL, marked
from scrapy_urlcanon.crawl.recovery.page_requests import CUT_SHORT

_HEAD = 4096
"""Bytes of a page in which Scrapy looks for ``<meta http-equiv="refresh">``."""

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response


def keep_failures_apart(crawler: Crawler) -> None:
    """Have the HTTP cache of *crawler*, if it has one, store failures for their own URLs."""
    for middleware in crawler.engine.downloader.middleware.middlewares:
        if isinstance(middleware, HttpCacheMiddleware):
            middleware.storage = _FailuresApart(middleware.storage)


class _FailuresApart:
    """The storage of an HTTP cache, in which a page is shared by its URLs, and a failure is not.

    What is no success says nothing of the other URLs: that one is gone, or leads to a form to log
    in; nor does what was cut short. Any other success is stored under the fingerprint of its page,
    so that all URLs share it.
    """

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        """Return what is stored of the URL of *request*, or of its page."""
        response: Response | None = self._storage.retrieve_response(
            spider, marked(request, OWN_URL)
        )
        if response is None:
            response = self._storage.retrieve_response(spider, request)
            # In older caches there are failures under the fingerprints of pages.
            if response and not _is_success(response) and response.url != request.url:
                return None
        elif _is_success(response):
            # Why else is it stored for its URL alone? Scrapy stores no flags.
            response.flags.append(CUT_SHORT)
        return response

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:
        """Store *response* for the page of *request*, or for its URL alone."""
        key = request if _is_success(response) else marked(request, OWN_URL)
        self._storage.store_response(spider, key, response)


def _is_success(response: Response) -> bool:
    """Tell whether *response* is all of a page, and neither empty nor a redirect in its head."""
    start = response.body[:_HEAD].lower()
    is_page = response.status // 100 == 2 and bool(start) and b"refresh" not in start  # noqa: PLR2004
    return is_page and CUT_SHORT not in response.flags
