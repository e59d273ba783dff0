"""By which URLs callbacks got their pages, and which URLs led them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from scrapy import Request

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.origins import as_sent, sources_of
from scrapy_urlcanon.crawl.own_requests import RESCUE, is_retry, is_unfiltered, mark_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints

    V = TypeVar("V")
    _ByPage: TypeAlias = BoundedMapping[tuple[bytes, Hashable], V]

_REMEMBERED: Final = 100_000
"""Some 300 bytes each."""


class PageUrls:
    """Remembers, by page and callback, the URLs that tell more of a page than its fingerprint."""

    def __init__(self, fingerprints: PageFingerprints) -> None:
        self._fingerprints = fingerprints
        # What led to another page, an error or a redirect.
        self._led: _ByPage[str] = BoundedMapping(_REMEMBERED)
        # By what the callback got the page, where another URL stands for that; and whether the
        # duplicate filter would have recorded it.
        self._got: _ByPage[tuple[str, bool]] = BoundedMapping(_REMEMBERED)

    def got_by(self, page: bytes, callback: Hashable) -> str | None:
        """Return by which URL *callback* got *page*; None if by that which stands for it."""
        got = self._got.get((page, callback))
        return got[0] if got else None

    def has_led(self, page: bytes, callback: Hashable, url: str) -> bool:
        """Tell whether *url* was the first one that led elsewhere from *page*."""
        return self._led.get((page, callback)) == url

    def got(self, request: Request, url: str, page: bytes, callback: Hashable) -> None:
        """Note that *request* brought *page*, as of *url*, unless that is what stands for it."""
        self._got.pop((page, callback))
        is_filtered = not is_unfiltered(request) or is_retry(request)
        is_other = mark_of(request, RESCUE) or not is_filtered
        # What another callback got while this one was under way may stand for it by now.
        first = self._fingerprints.first_url(page)
        if is_other or first not in {None, url, *sources_of(request)}:
            self.know(page, callback, url, is_filtered=is_filtered)

    def led(
        self, request: Request, urls: Iterable[str], pages: Mapping[bytes, bool], callback: str
    ) -> None:
        """Note which of *urls*, those of *request*, led to something else than their pages.

        :param pages: what it brought, and whether that is content of the page itself.
        """
        if all(pages.values()):
            return
        for url in urls:
            page = self._fingerprints.page(request, url)
            if page and not pages.get(page, True) and (page, callback) not in self._led:
                self._led[page, callback] = as_sent(url)

    def know(self, page: bytes, callback: Hashable, url: str, *, is_filtered: bool = True) -> None:
        """Note that *callback* got *page* by *url*, be it in an earlier run of the job.

        :param is_filtered: whether the duplicate filter would have recorded it.
        """
        # No URL alone tells the page of what has a body, or a name for it.
        if self._fingerprints.page(Request(url)) == page:
            self._got[page, callback] = url, is_filtered

    def rename(self, page: bytes, new: bytes, callback: Hashable) -> None:
        """Let *page* be known as *new*."""
        _move(self._led, (page, callback), (new, callback))
        _move(self._got, (page, callback), (new, callback))

    def take_apart(self) -> Iterator[tuple[bytes, Hashable, bytes, str, bool]]:
        """Yield what callbacks got of a page by URLs that are now of another one.

        What the rule merged that was changed may be one of these, and not what stands for the page.
        Each is the page, the callback, the other page, the URL, and whether the duplicate filter
        would have recorded that.
        """
        for page, callback in tuple(self._got):
            url, is_filtered = self._got.get((page, callback)) or ("", False)
            its_page = self._fingerprints.page(Request(url))
            if its_page and its_page != page:
                self._got.pop((page, callback))
                yield page, callback, its_page, url, is_filtered


def _move(urls: _ByPage[V], old: tuple[bytes, Hashable], new: tuple[bytes, Hashable]) -> None:
    url = urls.pop(old)
    if url is not None and new not in urls:
        urls[new] = url
