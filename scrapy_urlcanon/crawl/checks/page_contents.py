"""The contents of the pages of a crawl, to compare others with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.answers import is_cut_short, is_success
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, RELEASED, RESCUE, is_unfiltered, mark_of
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.same_page import PageDigest
from scrapy_urlcanon.pages.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.checks.kept_contents import KeptContents
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests


class PageContents:
    """Remembers what each page showed, under the fingerprint that its requests share.

    :param max_pages: how many pages are remembered, at least half and at most all.
    :param max_size: up to which size of a body, in bytes, its text is read.
    :param make_contents: makes what remembers them, given *max_pages*.
    """

    def __init__(
        self,
        requests: PageRequests,
        first_urls: FirstUrls,
        max_pages: int,
        max_size: int,
        *,
        make_contents: Callable[[int], KeptContents],
    ) -> None:
        self._requests = requests
        self._first_urls = first_urls
        self._max_size = max_size
        self._contents = make_contents(max_pages)
        # The pages of which another URL showed that than the one which stands for them.
        self._borrowed: BoundedMapping[bytes, bool] = BoundedMapping(max_pages)
        self.common = CommonContents(max_pages)
        """Which contents several pages have in common."""
        requests.on_renamed.append(self.renamed)

    def get(self, page: bytes) -> PageDigest | None:
        """Return what *page* showed; None where it was not fetched, or is forgotten."""
        return self._contents.get(page)

    def of_first(self, page: bytes) -> PageDigest | None:
        """Return what the URL showed that stands for *page*; None as above, or if another did."""
        return None if page in self._borrowed else self._contents.get(page)

    def keep(self, page: bytes, content: PageDigest) -> None:
        """Remember *content* for *page*, which nobody else notes."""
        self._contents[page] = content

    def renamed(self, names: Mapping[bytes, bytes]) -> None:
        """Know pages by their new *names*: the rules changed, and with them the fingerprints."""
        contents = {new: self._contents.pop(page) for page, new in names.items()}
        for new, content in contents.items():
            if content:
                self._contents[new] = content
        for page, new in names.items():
            if self._borrowed.pop(page):
                self._borrowed[new] = True
        self.common.forget(names)

    def read(self, response: Response) -> PageDigest:
        """Return what there is to compare of *response*."""
        if len(response.body) > self._max_size:
            return PageDigest.of_bytes(response.body)
        return page_of(response).digest

    def shown(self, response: Response) -> Shown:
        """Return what *response* shows, line by line, as far as it is read."""
        return Shown(page_of(response), self.read(response))

    def note(self, request: Request, response: Response) -> None:
        """Remember what a page shows, and each that was redirected to it.

        What an audit fetches is none: it may be another page than that of its fingerprint. Nor is
        what has no content, such as a 304, or only the beginning of it. And what another URL shows
        than the one which stands for the page, to a request that nothing filters or a download
        within a callback, is no more than a substitute for what that one does.
        """
        is_content = is_success(response) and response.body and not is_cut_short(response)
        page = self._requests.pages.own(request)
        if page is None or not is_content or mark_of(request, AUDIT):
            return
        content, known = self.read(response), self._contents.get(page)
        if known is None:
            self.common.add(content, response.url)
        is_own = self._stands_for(page, request)
        if is_own:
            self._borrowed.pop(page)
        elif known is None:
            self._borrowed[page] = True
        if is_own or page in self._borrowed:
            self._contents[page] = content
        for source in self._requests.pages.redirected_to(request):
            self._contents[source] = content
            self.common.lead(source, page)

    def _stands_for(self, page: bytes, request: Request) -> bool:
        """Tell whether *request* is for the URL that stands for *page*, or will from now on."""
        if mark_of(request, RESCUE) and self._requests.takes_its_place(request, page):
            return True
        released = mark_of(request, RELEASED)
        if released:
            return not released.get("in_doubt")
        first = self._first_urls.of(page)
        is_first = first is None or first in {request.url, *sources_of(request)}
        # Until one comes that is filtered it may be for any other URL.
        return is_first and (not is_unfiltered(request) or self._first_urls.is_scheduled(page))
