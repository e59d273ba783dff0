"""Remembers what each page of the crawl showed, so that audits can compare with it."""

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
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests


class PageContents:
    """The content of each page, by the fingerprint that its requests share.

    :param max_pages: the most pages that are remembered; at least the last half as many are.
    :param max_size: bodies up to this many bytes are read as text.
    :param make_contents: makes the store for *max_pages* contents.
    """

    def __init__(
        self,
        requests: PageRequests,
        fingerprints: PageFingerprints,
        max_pages: int,
        max_size: int,
        *,
        make_contents: Callable[[int], KeptContents],
    ) -> None:
        self._requests = requests
        self._first_urls = fingerprints.first_urls
        self._max_size = max_size
        self._contents = make_contents(max_pages)
        # Pages whose content comes from another URL than their representative.
        self._borrowed: BoundedMapping[bytes, bool] = BoundedMapping(max_pages)
        self.common = CommonContents(max_pages)
        """Which contents several pages share."""
        requests.on_renamed.append(self.renamed)

    def get(self, page: bytes) -> PageDigest | None:
        """Return the content of *page*, or None if it was not fetched or is forgotten."""
        return self._contents.get(page)

    def of_first(self, page: bytes) -> PageDigest | None:
        """Return the content of the first URL of *page*, or None if only others were fetched."""
        return None if page in self._borrowed else self._contents.get(page)

    def keep(self, page: bytes, content: PageDigest) -> None:
        """Store *content* for *page*, for responses that :meth:`note` does not see."""
        self._contents[page] = content

    def lend(self, page: bytes) -> None:
        """Note that *page* has a new representative, which did not show the stored content."""
        self._borrowed[page] = True

    def renamed(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*, after the rules have changed."""
        contents = {new: self._contents.pop(page) for page, new in names.items()}
        for new, content in contents.items():
            if content:
                self._contents[new] = content
        for page, new in names.items():
            if self._borrowed.pop(page):
                self._borrowed[new] = True
        self.common.forget(names)

    def read(self, response: Response) -> PageDigest:
        """Return the digest of *response*; if it is too long, of its bytes only."""
        if len(response.body) > self._max_size:
            return PageDigest.of_bytes(response.body)
        return page_of(response).digest

    def shown(self, response: Response) -> Shown:
        """Return the lines that *response* shows."""
        return Shown(page_of(response), self.read(response))

    def note(self, request: Request, response: Response) -> None:
        """Store *response* as the content of the page of *request* and of pages redirected to it.

        Responses to audits are not stored, as they may be other pages; nor are responses without
        content, such as a 304, or cut short. The content of a URL that is not the representative of
        its page (as for a request with ``dont_filter``, or a download within a callback) is kept
        only until that one is fetched.
        """
        is_content = is_success(response) and response.body and not is_cut_short(response)
        page = self._requests.pages.own(request)
        if not is_content or mark_of(request, AUDIT):
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
        """Store *content* for *page*, unless that of its representative is known."""
        if is_own:
            self._borrowed.pop(page)
        elif self._contents.get(page) is None:
            self._borrowed[page] = True
        if is_own or page in self._borrowed:
            self._contents[page] = content

    def _stands_for(self, page: bytes, request: Request) -> bool:
        """Tell whether the URL of *request* is the representative of *page*, or becomes it now."""
        if mark_of(request, RESCUE) and self._requests.takes_its_place(request, page):
            return True
        released = mark_of(request, RELEASED)
        if released:
            return not released.get("in_doubt")
        first = self._first_urls.of(page)
        is_first = first is None or first in {request.url, *sources_of(request)}
        # Until a filtered request for the page is scheduled, any URL may become its representative.
        return is_first and (not is_unfiltered(request) or self._first_urls.is_scheduled(page))
