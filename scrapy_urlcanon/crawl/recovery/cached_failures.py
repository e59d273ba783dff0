"""Keeps the HTTP cache from answering one URL of a page with the failure of another one.

Scrapy's cache stores responses by fingerprint, and the URLs of a page share one. Without this, a
cached 404 of one URL would answer the rescue by another URL.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from scrapy import signals
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from scrapy_urlcanon.crawl.answers import CUT_SHORT, is_blank, is_cut_short, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    MARK_KEY,
    OWN_URL,
    RELEASED,
    is_retry,
    mark_of,
    marked,
    with_url,
)
from scrapy_urlcanon.crawl.recovery.failed_downloads import is_made_up
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.crawl.settings import META_KEY, PAGE_KEY
from scrapy_urlcanon.redaction import shown_url

logger = logging.getLogger(__name__)

_HEAD = 4096
"""How many bytes of a page Scrapy searches for ``<meta http-equiv="refresh">``. A compressed body
up to this size may hold no more than such a refresh, or nothing, so it is decompressed to see."""
_OF_NO_RULES: Final = (False, {"inherit": False})
"""Options of a request that give it the fingerprint of the fallback, and that of its URL without
rules."""
_REMEMBERED_ON_THEIR_WAY = 100_000
"""The most pages remembered. Only a few are on their way at a time; the others were refused."""
_VALIDATORS = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
"""The request headers that ask whether a stored response is still valid, each with the header of
that response whose value they repeat (RFC 9110, section 13.1)."""

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def keep_failures_apart(
    crawler: Crawler, fingerprints: PageFingerprints, *, has_former: bool
) -> None:
    """Wrap the storage of the HTTP cache of *crawler*, if any, in :class:`_FailuresApart`.

    :param has_former: whether the cache may have responses of a crawl without the plugin, or under
        other rules.
    """
    # A custom DOWNLOADER need not have middlewares.
    manager = getattr(crawler.engine.downloader, "middleware", None)
    for middleware in getattr(manager, "middlewares", ()):
        if isinstance(middleware, HttpCacheMiddleware):
            scheduled = _note_scheduled(crawler)
            storage = _FailuresApart(
                middleware.storage, crawler, fingerprints, scheduled, has_former=has_former
            )
            middleware.storage = storage


def _note_scheduled(crawler: Crawler) -> WeakSet[Request]:
    """Return a set that collects the requests the scheduler hands out.

    Requests that a callback downloads itself are not among them. Wraps ``next_request``.
    """
    scheduled: WeakSet[Request] = WeakSet()
    scheduler = scheduler_of(crawler)
    take: Callable[[], Request | None] = scheduler.next_request

    def next_request() -> Request | None:
        request = take()
        if request is not None:
            scheduled.add(request)
        return request

    scheduler.next_request = next_request
    return scheduled


class _FailuresApart:
    """A storage for the HTTP cache in which the URLs of a page share its content, but no failures.

    A success is stored under the fingerprint of the page, so that all its URLs share it. There are
    these exceptions:

    1. What is no success, or was cut short, is stored for its own URL: another URL of the page may
       not be gone, or not lead to a log-in.
    2. If a middleware refused the page, as a ban page, and asks for another URL of it, the stored
       response is not used: it is the one that was refused.
    3. The validators of a stored response (``ETag``, ``Last-Modified``) are removed from a request
       that inherited them through a redirect: a URL of the same page would answer that nothing has
       changed and send no content.
    4. Where a wrong entry was suspended, or a rule was removed since, its canonical URL has a place
       of its own: the place for its fingerprint holds the content of one of the URLs that were
       merged, in the next crawl too. What a browser was redirected to from there has a place of its
       own too, as it looks the same.
    5. So has what a callback downloads itself (``engine.download_async``). It is never dropped, so
       no audit or rescue could correct what a wrong rule merges.

    What a crawl without the plugin, or without rules, stored for a URL answers that URL, and no
    other one.
    """

    def __init__(
        self,
        storage: Any,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        scheduled: Container[Request],
        *,
        has_former: bool,
    ) -> None:
        self._storage = storage
        self._has_former = has_former
        self._fingerprints = fingerprints
        self._scheduled = scheduled
        # The cache stores bodies as the site sent them, perhaps compressed.
        self._compression = HttpCompressionMiddleware(crawler=crawler)
        self._compression.stats = None
        self._fingerprinter = crawler.request_fingerprinter
        # By page: the URL whose response no middleware has let through yet.
        self._on_its_way: BoundedMapping[bytes, str] = BoundedMapping(_REMEMBERED_ON_THEIR_WAY)
        # Validators that came from the cache, as opposed to those that a spider sets itself.
        self._lent: BoundedMapping[tuple[str, bytes], bool] = BoundedMapping(
            _REMEMBERED_ON_THEIR_WAY
        )
        # Fingerprints under which another page is stored.
        self._taken: BoundedMapping[bytes, bool] = BoundedMapping(_REMEMBERED_ON_THEIR_WAY)
        crawler.signals.connect(self._response_received, signals.response_received)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        """Return what is stored for the URL of *request*, or for its page."""
        self._take_back_validators(request)
        response = self._retrieved(spider, request)
        if response is not None:
            for name, validator in _VALIDATORS.items():
                value = response.headers.get(validator)
                if value is not None:
                    self._lent[name, value] = True
        return response

    def _retrieved(self, spider: Spider, request: Request) -> Response | None:
        response = self._stored(spider, marked(request, OWN_URL))
        if response is not None:
            if self._is_whole_page(request, response):
                # Only responses that were cut short are stored for their URL though they look
                # whole. The flag is set again because Scrapy stores no flags.
                response.flags.append(CUT_SHORT)
            return response
        response = self._stored(spider, request)
        if response is not None and response.url != request.url:
            is_of_another = self._is_of_another(request, response)
            if is_of_another:
                self._taken[self._fingerprinter.fingerprint(request)] = True
            if is_of_another or request not in self._scheduled:
                response = None
        if response is None:
            response = self._stored(spider, marked(request, RELEASED))
        if response is None and self._has_former:
            response = self._stored_before(spider, request)
        if response is None or (is_success(response) and not response.body):
            # Empty bodies are never stored there: the process was killed while it wrote a page.
            return None
        # Caches written without this plugin have failures under the fingerprints of pages.
        is_shared = self._is_whole_page(request, response) and not self._is_instead(request)
        if not is_shared and response.url != request.url:
            return None
        self._note(request)
        return response

    def _stored_before(self, spider: Spider, request: Request) -> Response | None:
        """Return what a crawl without plugin or rules stored for the URL of *request*, or None.

        Not for an audit, which fetches a URL twice to see what differs.
        """
        if mark_of(request, AUDIT):
            return None
        meta = {key: each for key, each in request.meta.items() if key not in (MARK_KEY, PAGE_KEY)}
        for options in _OF_NO_RULES:
            former = with_url(request, request.url, meta={**meta, META_KEY: options})
            response = self._stored(spider, former)
            # Scrapy takes two URLs for one of which the first may be redirected to the other.
            if response is not None and response.url == request.url:
                return response
        return None

    def _stored(self, spider: Spider, request: Request) -> Response | None:
        """Return what is stored for *request*, or None if it cannot be read.

        A process that is killed leaves half an entry. Without this the page would never be fetched
        again.
        """
        try:
            response: Response | None = self._storage.retrieve_response(spider, request)
        except Exception as error:  # noqa: BLE001 - each storage has errors of its own
            logger.warning(
                "The HTTP cache cannot read what it has of %(url)s, which is fetched: %(error)r",
                {"url": shown_url(request.url), "error": error},
                extra={"spider": spider},
            )
            return None
        return response

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:
        """Store *response*, if a site sent it, for the page of *request* or for its URL only."""
        if is_made_up(request, response):
            return
        if self._is_whole_page(request, response):
            self._note(request)
            is_taken = self._fingerprinter.fingerprint(request) in self._taken
            has_own = (
                is_taken or request not in self._scheduled or self._is_of_another(request, response)
            )
            key = marked(request, RELEASED) if has_own else request
        else:
            key = marked(request, OWN_URL)
        self._storage.store_response(spider, key, response)

    def _take_back_validators(self, request: Request) -> None:
        """Remove from *request* the validators that the cache set before it was redirected."""
        for name in _VALIDATORS:
            value = request.headers.get(name)
            if value is not None and self._lent.get((name, value)):
                del request.headers[name]

    def _is_of_another(self, request: Request, response: Response) -> bool:
        """Tell whether the URL of *response* is that of another page than that of *request*."""
        if response.url == request.url:
            return False
        page = self._fingerprints.page
        return page(request, response.url) not in {None, page(request)}

    def _note(self, request: Request) -> None:
        self._on_its_way[self._fingerprinter.fingerprint(request)] = request.url

    def _is_instead(self, request: Request) -> bool:
        """Tell whether *request* replaces one whose response a middleware refused."""
        url = self._on_its_way.get(self._fingerprinter.fingerprint(request))
        return is_retry(request) or url not in {None, request.url}

    def _response_received(self, request: Request) -> None:
        self._on_its_way.pop(self._fingerprinter.fingerprint(request))

    def _is_whole_page(self, request: Request, response: Response) -> bool:
        """Tell whether *response* is a whole page, neither empty nor a refresh."""
        if not is_success(response) or is_cut_short(response):
            return False
        try:
            sent = self._unpacked(request, response)
        # Each compression has exceptions of its own.
        except Exception:  # noqa: BLE001
            return False
        return not is_blank(sent) and b"refresh" not in sent.body[:_HEAD].lower()

    def _unpacked(self, request: Request, response: Response) -> Any:
        """Return *response*, decompressed if it is so small that it may not be a page."""
        if len(response.body) > _HEAD:
            return response
        return self._compression.process_response(request, response.copy())
