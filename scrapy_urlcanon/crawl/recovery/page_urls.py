"""Remembers by which URL each callback got a page, and which URL of it led elsewhere.

The duplicate filter knows only the first URL of a page. If another one brought it, as a rescue
does, audits have to compare with that, and a change of rules may show that it is another page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from scrapy import Request
from w3lib.url import canonicalize_url

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.origins import as_sent, sources_of
from scrapy_urlcanon.crawl.own_requests import RESCUE, is_unrecorded, mark_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints

    V = TypeVar("V")
    _ByPage: TypeAlias = BoundedMapping[tuple[bytes, Hashable], V]

_REMEMBERED: Final = 100_000
"""The most entries; each takes some 300 bytes, and the body of its request."""

_LONGEST: Final = 1_000
"""The longest body, in bytes, of a request that is remembered."""


class Sent(NamedTuple):
    """The parts of a request that decide which page it gives."""

    url: str
    method: str
    body: bytes
    dont_filter: bool

    @property
    def request(self) -> Request:
        """A new request for the same page."""
        return Request(self.url, method=self.method, body=self.body, dont_filter=self.dont_filter)


class PageUrls:
    """Remembers, by page and callback, which URL brought the page and which one led elsewhere."""

    def __init__(self, fingerprints: PageFingerprints) -> None:
        self._fingerprints = fingerprints
        # The first URL that gave another page, an error or a redirect.
        self._led: _ByPage[str] = BoundedMapping(_REMEMBERED)
        # The request that brought the page, unless it was for the first URL of the page.
        self._got: _ByPage[Sent] = BoundedMapping(_REMEMBERED)

    def got_by(self, page: bytes, callback: Hashable) -> str | None:
        """Return the URL by which *callback* got *page*, or None if that is its first URL."""
        got = self._got.get((page, callback))
        return got.url if got else None

    def has_led(self, page: bytes, callback: Hashable, url: str) -> bool:
        """Tell whether *url* was the first URL of *page* that led elsewhere.

        Another order of its parameters, which Scrapy takes for the same URL, leads there too.
        """
        led = self._led.get((page, callback))
        return led is not None and (led == url or canonicalize_url(led) == canonicalize_url(url))

    def brought(
        self,
        request: Request,
        url: str,
        page: bytes,
        pages: Mapping[bytes, bool],
        callback: str,
    ) -> None:
        """Note which URLs of *request* brought content of its *page* and of pages redirected to it.

        :param url: the URL that was answered.
        :param pages: the pages of *request*, and for each whether content of the page itself came.
        """
        if pages[page]:
            self._note(request, url, page, callback)
        for source_url in sources_of(request):
            source = self._fingerprints.page(request, source_url)
            if source and source != page and pages.get(source):
                self._note(request, source_url, source, callback)

    def _note(self, request: Request, url: str, page: bytes, callback: str) -> None:
        """Note that *request* brought *page* by *url*, unless that is the first URL of the page."""
        self._got.pop((page, callback))
        is_other = mark_of(request, RESCUE) or is_unrecorded(request)
        # The first URL may have changed since: another callback may have got another URL.
        first = self._fingerprints.first_urls.of(page)
        if is_other or first not in {None, url, *sources_of(request)}:
            self.know(page, callback, request, url)

    def led(
        self, request: Request, urls: Iterable[str], pages: Mapping[bytes, bool], callback: str
    ) -> None:
        """Note which of *urls*, those of *request*, gave something else than their pages.

        :param pages: the pages of *request*, and for each whether content of the page itself came.
        """
        if all(pages.values()):
            return
        for url in urls:
            page = self._fingerprints.page(request, url)
            if page and not pages.get(page, True) and (page, callback) not in self._led:
                self._led[page, callback] = as_sent(url)

    def know(
        self, page: bytes, callback: Hashable, request: Request, url: str | None = None
    ) -> None:
        """Note that *callback* got *page* by *request*, now or in an earlier run of the job.

        :param url: the URL that was answered, if it differs from that of *request*.
        """
        if len(request.body) > _LONGEST:
            return
        own = url or request.url
        got = Sent(own, request.method, request.body, dont_filter=is_unrecorded(request))
        # Not if the page depends on more than the parts kept, as one with the meta key
        # `urlcanon_key`.
        if self._fingerprints.page(got.request) == page:
            self._got[page, callback] = got

    def rename(self, page: bytes, new: bytes, callback: Hashable) -> None:
        """Replace the fingerprint of *page* by *new*."""
        _move(self._led, (page, callback), (new, callback))
        _move(self._got, (page, callback), (new, callback))

    def take_apart(self) -> Iterator[tuple[bytes, Hashable, bytes, Request]]:
        """Remove and yield pages got by a URL that is another page under the changed rules.

        :return: for each the old page, the callback, the page of the URL, and a request for it.
        """
        for page, callback in tuple(self._got):
            got = self._got.get((page, callback))
            request = got and got.request
            its_page = request and self._fingerprints.page(request)
            if request and its_page and its_page != page:
                self._got.pop((page, callback))
                yield page, callback, its_page, request


def _move(urls: _ByPage[V], old: tuple[bytes, Hashable], new: tuple[bytes, Hashable]) -> None:
    url = urls.pop(old)
    if url is not None and new not in urls:
        urls[new] = url
