"""The pages that audits passed on to the spider, and the callbacks that had them."""

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
"""Some 300 bytes each."""


class PassedOn:
    """Remembers the pages that audits passed on, which no request of the spider brought.

    As long as the entry that merged it is in force, the audited URL has the fingerprint of its kept
    page. Once the entry is suspended it has one of its own, and that page was had already.

    :param on_had: is called then, with the page, the callback that had it, and its depth.
    """

    def __init__(
        self, fingerprints: PageFingerprints, on_had: Callable[[bytes, str, int], None]
    ) -> None:
        self._fingerprints = fingerprints
        self._on_had = on_had
        # By request: the fingerprint that it had as the fetch of an audit.
        self._audits: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        # By request: the audited URL.
        self._urls: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        # By audited URL: the callback that had it with its depth, and whether its entry is off.
        self._had: BoundedMapping[str, tuple[str, int]] = BoundedMapping(_REMEMBERED)
        self._split_off: BoundedMapping[str, bool] = BoundedMapping(_REMEMBERED)

    def __contains__(self, request: Request) -> bool:
        """Tell whether the response to *request* was passed on, and is no page of the spider's."""
        return request in self._urls

    def note(self, request: Request) -> None:
        """Note that the spider gets what *request*, one of an audit, brought."""
        mark = mark_of(request, AUDIT)
        if mark:
            self._audits[request] = self._fingerprints.fingerprint(request)
            self._urls[request] = mark["case"]
            # Requests to which the spider copies this meta are no audits.
            del request.meta[MARK_KEY]

    def forget(self, request: Request) -> None:
        """Note that the spider sent *request* itself, so that it is no longer one of an audit."""
        self._urls.pop(request, None)

    def fingerprint_of(self, request: Request) -> bytes | None:
        """Return the fingerprint of *request* if it is an audit; its response may be delivered."""
        is_audit = mark_of(request, AUDIT)
        return self._fingerprints.fingerprint(request) if is_audit else self._audits.get(request)

    def had(self, request: Request, callback: str) -> None:
        """Note that *callback* is done with what *request* brought."""
        url = self._urls.get(request)
        if url is not None:
            self._had[url] = callback, request.meta.get("depth", 0)
            self._tell(url)

    def split_off(self, url: str) -> None:
        """Note that *url*, which was passed on, is a page of its own: its entry is off."""
        self._split_off[url] = True
        self._tell(url)

    def _tell(self, url: str) -> None:
        page = self._fingerprints.page(Request(url))
        if page and url in self._split_off and (had := self._had.pop(url)):
            self._on_had(page, *had)
