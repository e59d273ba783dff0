"""Remembers the pages that audits passed on to the spider, and the callbacks that had them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from scrapy import Request

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.own_requests import AUDIT, MARK_KEY, mark_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints

_REMEMBERED: Final = 100_000
"""The most URLs; each takes some 300 bytes."""


class PassedOn:
    """Remembers the pages that an audit fetched, found different, and gave to the spider.

    While the entry that merged it is in force, the audited URL has the fingerprint of the kept
    page. Once the entry is suspended the URL is a page of its own, which the spider has had
    already.

    :param on_had: called in that case with the page, the callback that had it, and its depth.
    """

    def __init__(
        self, fingerprints: PageFingerprints, on_had: Callable[[bytes, str, int], None]
    ) -> None:
        self._fingerprints = fingerprints
        self._on_had = on_had
        # By request: the fingerprint that it had as an audit.
        self._audits: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        # By request: the audited URL.
        self._urls: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        # By audited URL: the callback that had it with its depth, and whether its entry is
        # suspended.
        self._had: BoundedMapping[str, tuple[str, int]] = BoundedMapping(_REMEMBERED)
        self._split_off: BoundedMapping[str, bool] = BoundedMapping(_REMEMBERED)

    def __contains__(self, request: Request) -> bool:
        """Tell whether the response to *request* was passed on by an audit."""
        return request in self._urls

    def note(self, request: Request) -> None:
        """Note that the spider is given the response to *request*, which an audit made."""
        mark = mark_of(request, AUDIT)
        if mark:
            self._audits[request] = self._fingerprints.fingerprint(request)
            self._urls[request] = mark["case"]
            # The spider may copy this meta to requests of its own, which are no audits.
            del request.meta[MARK_KEY]

    def forget(self, request: Request) -> None:
        """Note that the spider sent *request* itself, so that it no longer counts as an audit's."""
        self._urls.pop(request, None)

    def fingerprint_of(self, request: Request) -> bytes | None:
        """Return the fingerprint of *request* as an audit, or None if it never was one."""
        is_audit = mark_of(request, AUDIT)
        return self._fingerprints.fingerprint(request) if is_audit else self._audits.get(request)

    def had(self, request: Request, callback: str) -> None:
        """Note that *callback* is done with the response to *request*."""
        url = self._urls.get(request)
        if url is not None:
            self._had[url] = callback, request.meta.get("depth", 0)
            self._tell(url)

    def split_off(self, url: str) -> None:
        """Note that *url*, which was passed on, is a page of its own: its entry is suspended."""
        self._split_off[url] = True
        self._tell(url)

    def _tell(self, url: str) -> None:
        page = self._fingerprints.page(Request(url))
        if url in self._split_off and (had := self._had.pop(url)):
            self._on_had(page, *had)
