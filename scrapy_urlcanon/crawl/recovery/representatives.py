"""What became of the requests that stand for all URLs of their page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


class Representatives:
    """Remembers for each page whether it was fetched or failed for good.

    A page is known by the fingerprint that the requests for it share. The request that
    came first stands for them; its retries, and the requests that it was redirected to,
    are about its page too.

    :param limit: how many pages are remembered, at least half and at most all.
    :param on_settled: is called with each page and whether it was fetched.
    """

    def __init__(
        self,
        fingerprints: PageFingerprints,
        limit: int,
        on_settled: Callable[[bytes, bool], None],
    ) -> None:
        self._fingerprints = fingerprints
        self._on_settled = on_settled
        # Most pages are fetched, and most have no variants: this is all there is for one.
        self._fetched: BoundedMapping[bytes, bool] = BoundedMapping(limit)
        self._in_flight: set[bytes] = set()
        # Of requests on their way: the rules may change before they come back.
        self._pages: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()

    def outcome(self, page: bytes) -> bool | None:
        """Tell whether *page* was fetched; None where that is not known (yet)."""
        return self._fetched.get(page)

    def begin(self, request: Request) -> None:
        """Note that *request* is on its way."""
        page = self._fingerprints.page(request)
        if page:
            self._in_flight.add(page)
            self._pages[request] = page

    def page(self, request: Request) -> bytes | None:
        """Return the page of *request*, under the rules of when it was sent."""
        return self._pages.get(request) or self._fingerprints.page(request)

    def await_again(self, page: bytes) -> None:
        """Forget that *page* failed: another request stands for it now."""
        if not self._fetched.get(page):
            self._fetched.pop(page)
        self._in_flight.add(page)

    def settle(self, page: bytes, *, fetched: bool) -> None:
        """Note what became of *page*; once it was fetched, that stays."""
        self._in_flight.discard(page)
        if not fetched and self._fetched.get(page):
            return
        self._fetched[page] = fetched
        self._on_settled(page, fetched)

    def finish(self, request: Request, *, fetched: bool) -> None:
        """Note what became of the page of *request*, and of those redirected to it."""
        page = self.page(request)
        if page:
            self.settle(page, fetched=fetched)
        for source in self.redirected_to(request):
            if source != page:
                self.settle(source, fetched=fetched)

    def give_up(self) -> None:
        """Note that the pages failed whose requests ended unnoticed.

        To be called when nothing is on its way any more. An exception of a middleware's
        ``process_response``, as for too many redirects, passes all other middlewares.
        """
        for page in tuple(self._in_flight):
            self.settle(page, fetched=False)

    def redirected_to(self, request: Request) -> set[bytes]:
        """Return the pages whose requests were redirected to *request*.

        With its method: what it was before a redirect changed it is not known.
        """
        urls = request.meta.get("redirect_urls", ())
        pages = (self._fingerprints.page(request, url) for url in urls)
        return {page for page in pages if page}
