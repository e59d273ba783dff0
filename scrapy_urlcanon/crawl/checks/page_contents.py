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

    :param max_pages: how many pages are remembered at most; the last half of them always is.
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
        # The pages whose content is that of another URL than the one that stands for them.
        self._borrowed: BoundedMapping[bytes, bool] = BoundedMapping(max_pages)
        self.common = CommonContents(max_pages)
        """Which contents several pages have in common."""
        requests.on_renamed.append(self.renamed)

    def get(self, page: bytes) -> PageDigest | None:
        """Return what *page* showed; None if it was not fetched, or is forgotten."""
        return self._contents.get(page)

    def of_first(self, page: bytes) -> PageDigest | None:
        """Return what the URL that stands for *page* showed; None if only others were fetched."""
        return None if page in self._borrowed else self._contents.get(page)

    def keep(self, page: bytes, content: PageDigest) -> None:
        """Remember *content* for *page*: for responses that :meth:`note` does not see."""
        self._contents[page] = content

    def lend(self, page: bytes) -> None:
        """Note that another URL stands for *page* from now on than the one that showed this."""
        self._borrowed[page] = True

    def renamed(self, names: Mapping[bytes, bytes]) -> None:
        """Know pages by their new fingerprints, *names*: the rules changed."""
        contents = {new: self._contents.pop(page) for page, new in names.items()}
        for new, content in contents.items():
            if content:
                self._contents[new] = content
        for page, new in names.items():
            if self._borrowed.pop(page):
                self._borrowed[new] = True
        self.common.forget(names)

    def read(self, response: Response) -> PageDigest:
        """Return the digest of *response*; of a long one that of its bytes alone."""
        if len(response.body) > self._max_size:
            return PageDigest.of_bytes(response.body)
        return page_of(response).digest

    def shown(self, response: Response) -> Shown:
        """Return what *response* shows, line by line."""
        return Shown(page_of(response), self.read(response))

    def note(self, request: Request, response: Response) -> None:
        """Remember *response* as the content of the page of *request*, and of what led there.

        Not what an audit fetched, which may be another page, nor what has no content, such as a
        304, or was cut short. What another URL than the one that stands for the page showed (to a
        request with ``dont_filter``, or a download within a callback) is remembered only until that
        one is fetched.
        """
        is_content = is_success(response) and response.body and not is_cut_short(response)
        page = self._requests.pages.own(request)
        if page is None or not is_content or mark_of(request, AUDIT):
            return
        content = self.read(response)
        if self._contents.get(page) is None:
            self.common.add(content, response.url)
        sources = self._requests.pages.redirected_to(request)
        for each in {page, *sources}:
            self._keep(each, content, is_own=self._stands_for(each, request))
        for source in sources:
            self.common.lead(source, page)

    def _keep(self, page: bytes, content: PageDigest, *, is_own: bool) -> None:
        """Remember *content* for *page*, unless what the URL that stands for it showed is known."""
        if is_own:
            self._borrowed.pop(page)
        elif self._contents.get(page) is None:
            self._borrowed[page] = True
        if is_own or page in self._borrowed:
            self._contents[page] = content

    def _stands_for(self, page: bytes, request: Request) -> bool:
        """Tell whether the URL of *request* stands for *page*, or will do so from now on."""
        if mark_of(request, RESCUE) and self._requests.takes_its_place(request, page):
            return True
        released = mark_of(request, RELEASED)
        if released:
            return not released.get("in_doubt")
        first = self._first_urls.of(page)
        is_first = first is None or first in {request.url, *sources_of(request)}
        # Before a filtered request for it is scheduled, any URL may yet come to stand for the page.
        return is_first and (not is_unfiltered(request) or self._first_urls.is_scheduled(page))
