"""Finds out whether the duplicate filter of the crawl asks for our fingerprints."""

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
"""How many requests must be dropped or passed without asking before a warning. The scheduler may
have dropped the first ones by itself."""


class AskedFingerprinter(Protocol):
    """A fingerprinter that knows for which URLs it was asked recently."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of *request*."""

    def was_asked_for(self, url: str) -> bool:
        """Tell whether the fingerprint of a plain request for *url* was asked for recently."""

    def forget_url(self, url: str) -> bool:
        """Forget that the fingerprint of *url* was asked for; return whether it recently was."""


class FilterWatch:
    """Finds out whether the duplicate filter asks for our fingerprints.

    A filter may let some requests pass without asking, such as all listings, and ask for others.
    But if it drops requests without asking, or has not asked at all when the crawl ends, it never
    asks.
    """

    def __init__(
        self, crawler: Crawler, fingerprints: AskedFingerprinter, on_foreign: Callable[[], None]
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._on_foreign = on_foreign
        self.asks: bool | None = None
        """Whether it asks, or None while that is not known."""
        self._last = ""
        self._passed = self._dropped = 0
        """How many requests it let pass or dropped without a question."""

    def scheduled(self, request: Request) -> None:
        """Note that *request* goes to the scheduler now, and check the previous one."""
        self.look_back()
        if self.asks is not None:
            return
        # Only for plain requests does the fingerprinter know by URL whether it was asked.
        is_plain = self._fingerprints.forget_url(request.url)
        self._last = request.url if is_plain else ""

    def look_back(self, *, is_dropped: bool = False) -> None:
        """Check whether the filter has asked for the fingerprint of the last request.

        :param is_dropped: whether that request was dropped.
        """
        if self.asks is not None or not self._last:
            return
        if self._fingerprints.was_asked_for(self._last):
            self.asks = True
            return
        self._last = ""
        self._passed += not is_dropped
        self._dropped += is_dropped
        if self._dropped == _UNASKED:
            self._found_foreign()

    def spider_closed(self) -> None:
        """Warn at the end if the filter has never asked."""
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
