"""Whether the duplicate filter asks for our fingerprints."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_UNASKED = 3
"""What a duplicate filter drops without a question, before it is said that it asks none. The first
of it a scheduler may have dropped itself."""


class AskedFingerprinter(Protocol):
    """A fingerprinter that knows for which URLs it was asked of late."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of *request*."""

    def is_asked_for(self, url: str, *, forget: bool = False) -> bool:
        """Tell whether the fingerprint of a plain request for *url* was asked for of late."""


class FilterWatch:
    """Finds out whether the duplicate filter asks for our fingerprints.

    What it lets pass without a question says nothing: it may do so with all pages of a kind, such
    as listings. But it does not ask if it drops anything so, or has not asked when the crawl ends.
    """

    def __init__(
        self, crawler: Crawler, fingerprints: AskedFingerprinter, on_foreign: Callable[[], None]
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._on_foreign = on_foreign
        self.asks: bool | None = None
        """Whether it asks; None where that is not known yet."""
        self._last = ""
        self._passed = self._dropped = 0
        """How many requests it let pass or dropped without a question."""

    def scheduled(self, request: Request) -> None:
        """Take note that *request* goes to the scheduler now, and look back at the last one."""
        self.look_back()
        if self.asks is not None:
            return
        # Of any other request it is not known by its URL whether it was asked for.
        is_known = self._fingerprints.is_asked_for(request.url, forget=True)
        self._last = request.url if is_known else ""

    def look_back(self, *, is_dropped: bool = False) -> None:
        """Look whether the fingerprint of the last request was asked for since.

        :param is_dropped: whether that request was dropped.
        """
        if self.asks is not None or not self._last:
            return
        if self._fingerprints.is_asked_for(self._last):
            self.asks = True
            return
        self._last = ""
        self._passed += not is_dropped
        self._dropped += is_dropped
        if self._dropped == _UNASKED:
            self._found_foreign()

    def spider_closed(self) -> None:
        """Say what was not known until now."""
        if self.asks is None and self._passed + self._dropped >= _UNASKED:
            self._found_foreign()

    def _found_foreign(self) -> None:
        self.asks = False
        name = self._crawler.settings["DUPEFILTER_CLASS"]
        logger.warning(
            "The duplicate filter %(filter)s does not ask for the fingerprints of "
            "scrapy-urlcanon: the canonicalization rules have no effect, and what it drops is not "
            "counted. Use one that asks crawler.request_fingerprinter, as Scrapy's own does.",
            {"filter": name if isinstance(name, str) else global_object_name(name)},
            extra={"spider": self._crawler.spider},
        )
        self._on_foreign()
