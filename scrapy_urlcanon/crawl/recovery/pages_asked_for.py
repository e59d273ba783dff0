"""Tells which pages a request is for, and which of them its response shows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_urlcanon.crawl.answers import (
    is_cut_short,
    is_error,
    is_success,
    location_of,
    refreshes_elsewhere,
)
from scrapy_urlcanon.crawl.origins import address_of, sources_of
from scrapy_urlcanon.crawl.own_requests import (
    RESCUE,
    REWRITTEN,
    by_get,
    inherited_mark_of,
    mark_of,
)
from scrapy_urlcanon.crawl.recovery.failed_downloads import brings_nothing
from scrapy_urlcanon.crawl.recovery.page_states import ON_THEIR_WAY, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


class PagesAskedFor:
    """Knows the pages of each request: its own, and those that were redirected to it.

    A page is known by the fingerprint that its requests share.

    :param state: returns the state of a page for the callback of a request.
    """

    def __init__(
        self,
        fingerprints: PageFingerprints,
        settings: BaseSettings,
        state: Callable[[bytes, Request], State],
    ) -> None:
        self._fingerprints = fingerprints
        self._settings = settings
        self._state = state
        self._outages = frozenset(map(int, settings.getlist("RETRY_HTTP_CODES")))
        # By request: its page when it was sent. The rules may change before the response comes.
        self._pages: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        # By request to a service that fetches pages: the page that the service is asked for.
        self._elsewhere: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()

    def __contains__(self, request: Request) -> bool:
        return request in self._pages

    def note(self, request: Request, page: bytes) -> None:
        """Note that *request*, which goes to the downloader, is for *page*."""
        self._pages[request] = page

    def as_sent_to(self, url: str, request: Request) -> Request:
        """Return *request*, or a plain GET if its body was never sent to *url*.

        A middleware may post a form to a service that fetches pages: the form is not meant for the
        page.
        """
        page = self._fingerprints.page(request, url)
        is_known = page and self._state(page, request) is not State.UNKNOWN
        return request if is_known else by_get(request)

    def is_of_rescue(self, request: Request) -> bool:
        """Tell whether *request* comes from a rescue that is still on its way, as by a redirect."""
        mark = inherited_mark_of(request, RESCUE)
        if not mark:
            return False
        url = mark["url"]
        page = self._fingerprints.page(self.as_sent_to(url, request), url)
        return page is not None and self._state(page, request) in ON_THEIR_WAY

    def note_elsewhere(self, request: Request, asked: Request) -> None:
        """Note that a middleware replaced *asked* by *request* to another server."""
        page = self._fingerprints.page(asked, asked.url)
        if page:
            self._elsewhere[request] = page

    def asked_elsewhere(self, request: Request) -> Iterable[bytes]:
        """Return the page that *request* asks another server for, if any."""
        page = self._elsewhere.get(request)
        return (page,) if page else ()

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*.

        Requests that the changed rule had merged are not all for the renamed page, so the page of
        each is computed again where that is possible.
        """
        for pages in (self._pages, self._elsewhere):
            for request, page in tuple(pages.items()):
                if page in names:
                    is_own = pages is self._pages and not mark_of(request, REWRITTEN)
                    own = self._fingerprints.page(request) if is_own else None
                    pages[request] = own or names[page]

    def own(self, request: Request) -> bytes:
        """Return the page of *request*, under the rules at the time it was sent."""
        return self._pages.get(request) or self._fingerprints.page(request)

    def redirected_to(self, request: Request) -> dict[bytes, bool]:
        """Return the pages whose requests were redirected to *request*.

        The value says whether the redirect stayed at the same address (up to scheme, ``www`` and a
        final slash), or came from the canonical URL that had replaced this one. The pages are
        computed with the method of *request*; a redirect may have changed that, which cannot be
        seen.
        """
        sources = sources_of(request)
        if not sources:
            # The usual case; this is called four times for each page.
            return {}
        mark = mark_of(request, REWRITTEN)
        own = {address_of(request.url)}
        if mark and mark["original"] == request.url:
            own.add(address_of(mark["url"]))
        return {
            page: address_of(url) in own
            for url in sources
            if (page := self._fingerprints.page(request, url))
        }

    def of(self, request: Request) -> dict[bytes, bool]:
        """Return the page of *request*, and the pages of :meth:`redirected_to`."""
        return {**self.redirected_to(request), self.own(request): True}

    def shown_by(self, response: Response, request: Request) -> dict[bytes, bool] | None:
        """Return the pages of *request*, each with whether *response* is its content.

        The value is False, so that another URL of the page is tried, if the response is an error
        that the spider handles, was cut short, or has a refresh that sends browsers elsewhere. The
        result is None, as if nothing had come, if the response is an outage (``RETRY_HTTP_CODES``),
        is a redirect to the same page (the spider may follow it itself), or was not downloaded.
        """
        if response.status in self._outages or brings_nothing(request, response):
            return None
        pages = self._answered(response, request)
        is_page = is_success(response)
        if not is_page and not is_error(response):
            url = location_of(response)
            if not url or self._fingerprints.page(request, url) in {None, *pages}:
                return None
        is_whole = is_page and not is_cut_short(response)
        if not is_whole or refreshes_elsewhere(response, self._settings):
            return dict.fromkeys(pages, False)
        return pages

    def _answered(self, response: Response, request: Request) -> dict[bytes, bool]:
        """Return the pages of *request*, each with whether *response* has one of its URLs.

        It is not if a middleware asked another server, such as a scraping API, or if a browser
        followed a redirect by itself.
        """
        pages = self.of(request)
        if response.url == request.url:
            return pages
        sent = self.as_sent_to(response.url, request)
        named = self._fingerprints.page(sent, response.url)
        if named and named not in pages:
            if address_of(response.url) != address_of(request.url):
                pages = dict.fromkeys(pages, False)
            if self._state(named, request) is State.EXPECTED:
                pages[named] = True
        return pages
