"""Keeps the HTTP cache from answering one URL of a page with the failure of another one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy import signals
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from scrapy_urlcanon.crawl.answers import CUT_SHORT, is_blank, is_cut_short, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.own_requests import OWN_URL, RELEASED, is_retry, marked
from scrapy_urlcanon.crawl.recovery.failed_downloads import is_made_up
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.redaction import shown_url

logger = logging.getLogger(__name__)

_HEAD = 4096
"""Bytes of a page in which Scrapy looks for ``<meta http-equiv="refresh">``, and up to which a
compressed one may be no more than that, or nothing."""
_REMEMBERED_ON_THEIR_WAY = 100_000
"""Pages, of which a few are on their way at a time, and the others were refused."""
_VALIDATORS = {"If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"}
"""Headers of a request that asks whether what is stored has changed, with those that it asks by."""

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def keep_failures_apart(crawler: Crawler, fingerprints: PageFingerprints) -> None:
    """Have the HTTP cache of *crawler*, if it has one, store failures for their own URLs."""
    for middleware in crawler.engine.downloader.middleware.middlewares:
        if isinstance(middleware, HttpCacheMiddleware):
            scheduled = _note_scheduled(crawler)
            storage = _FailuresApart(middleware.storage, crawler, fingerprints, scheduled)
            middleware.storage = storage


def _note_scheduled(crawler: Crawler) -> WeakSet[Request]:
    """Return the requests that come from the scheduler: all but what a callback downloads."""
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
    """The storage of an HTTP cache, in which a page is shared by its URLs, and a failure is not.

    What is no success says nothing of the other URLs: that one is gone, or leads to a form to log
    in; nor does what was cut short. Any other success is stored under the fingerprint of its page,
    so that all URLs share it.

    But for a URL that a middleware asks for instead, since it took the page for a ban: that
    would be answered with what it refused, for ever.

    Where a redirect leads, nobody asks whether it is still what is stored of the URL that was
    redirected: a URL of the same page would say so, and send nothing.

    Where an entry that was wrong is suspended, or a rule was taken back since, the URL that it made
    of others has a place of its own: that under which it would be stored has the page of one of
    these, in the next crawl too. So has what a browser was led to from there, which looks alike.

    So has what a callback downloads itself (``engine.download_async``). Nothing drops that, and so
    nobody could let it through if a rule that makes it another URL's page is wrong.
    """

    def __init__(
        self,
        storage: Any,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        scheduled: Container[Request],
    ) -> None:
        self._storage = storage
        self._fingerprints = fingerprints
        self._scheduled = scheduled
        # What the cache has is as the site sent it.
        self._compression = HttpCompressionMiddleware(crawler=crawler)
        self._compression.stats = None
        self._fingerprinter = crawler.request_fingerprinter
        # By page the URL whose response no middleware has let through yet.
        self._on_its_way: BoundedMapping[bytes, str] = BoundedMapping(_REMEMBERED_ON_THEIR_WAY)
        # What the cache asks by, and spiders that ask so themselves do not.
        self._lent: BoundedMapping[tuple[str, bytes], bool] = BoundedMapping(
            _REMEMBERED_ON_THEIR_WAY
        )
        # The fingerprints under which another page is stored.
        self._taken: BoundedMapping[bytes, bool] = BoundedMapping(_REMEMBERED_ON_THEIR_WAY)
        crawler.signals.connect(self._response_received, signals.response_received)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        """Return what is stored of the URL of *request*, or of its page."""
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
                # Why else is it stored for its URL alone? Scrapy stores no flags.
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
        if response is None or (is_success(response) and not response.body):
            # What is empty is not stored there: the process was killed as it wrote a page.
            return None
        # In older caches there are failures under the fingerprints of pages.
        is_shared = self._is_whole_page(request, response) and not self._is_instead(request)
        if not is_shared and response.url != request.url:
            return None
        self._note(request)
        return response

    def _stored(self, spider: Spider, request: Request) -> Response | None:
        """Return what is stored for *request*, and None where it cannot be read.

        A kill leaves half an entry, and without it the page would never be fetched again.
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
        """Store *response* for the page of *request*, or for its URL alone, if a site sent it."""
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
        """Have *request* not ask by what was stored for the one that it was made of."""
        for name in _VALIDATORS:
            value = request.headers.get(name)
            if value is not None and self._lent.get((name, value)):
                del request.headers[name]

    def _is_of_another(self, request: Request, response: Response) -> bool:
        """Tell whether *response* is by its URL of another page than *request*."""
        if response.url == request.url:
            return False
        page = self._fingerprints.page
        return page(request, response.url) not in {None, page(request)}

    def _note(self, request: Request) -> None:
        self._on_its_way[self._fingerprinter.fingerprint(request)] = request.url

    def _is_instead(self, request: Request) -> bool:
        """Tell whether *request* is for another URL of a page that was refused."""
        url = self._on_its_way.get(self._fingerprinter.fingerprint(request))
        return is_retry(request) or url not in {None, request.url}

    def _response_received(self, request: Request) -> None:
        self._on_its_way.pop(self._fingerprinter.fingerprint(request))

    def _is_whole_page(self, request: Request, response: Response) -> bool:
        """Tell whether *response* is all of a page, and not empty or a redirect in its head."""
        if not is_success(response) or is_cut_short(response):
            return False
        try:
            sent = self._unpacked(request, response)
        # Each way to compress has errors of its own.
        except Exception:  # noqa: BLE001
            return False
        return not is_blank(sent) and b"refresh" not in sent.body[:_HEAD].lower()

    def _unpacked(self, request: Request, response: Response) -> Any:
        """Return *response*, unpacked where it is so little that it may be no page."""
        if len(response.body) > _HEAD:
            return response
        return self._compression.process_response(request, response.copy())
