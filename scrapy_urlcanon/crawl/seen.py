"""Reads what the scheduler's duplicate filter has seen, and records more in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import RFPDupeFilter

if TYPE_CHECKING:
    from collections.abc import Container

    from scrapy import Request
    from scrapy.crawler import Crawler


def record_as_seen(crawler: Crawler, request: Request) -> bool | None:
    """Record *request* in the duplicate filter as if it had been scheduled.

    Return whether it was seen before, and None where the scheduler has no duplicate filter to
    ask.
    """
    dupefilter = dupefilter_of(crawler)
    return None if dupefilter is None else bool(dupefilter.request_seen(request))


def dupefilter_of(crawler: Crawler) -> Any:
    """Return the duplicate filter of the scheduler, or None where it shows none."""
    # That of Scrapy and that of scrapy-redis call it so.
    return getattr(scheduler_of(crawler), "df", None)


def scheduler_of(crawler: Crawler) -> Any:
    """Return the scheduler, or None where there is none yet."""
    engine = crawler.engine
    # Scrapy 2.19 has a property for it.
    return getattr(engine, "scheduler", None) or getattr(
        getattr(engine, "_slot", None), "scheduler", None
    )


def forget_seen(crawler: Crawler, fingerprint: bytes) -> None:
    """Have the duplicate filter forget that it has seen *fingerprint*, if it is Scrapy's own."""
    seen = seen_fingerprints(dupefilter_of(crawler))
    if isinstance(seen, (set, _Decoded)):
        seen.discard(fingerprint)


def seen_fingerprints(dupefilter: Any) -> Container[bytes] | None:
    """Return the fingerprints that *dupefilter* has seen, as it goes on.

    None where that is unknown: only Scrapy's own keeps them in this process.
    """
    kind = type(dupefilter)
    if (
        not isinstance(dupefilter, RFPDupeFilter)
        or kind.request_seen is not RFPDupeFilter.request_seen
        or kind.request_fingerprint is not RFPDupeFilter.request_fingerprint
    ):
        return None
    attributes = vars(dupefilter)
    if "_fingerprints" in attributes:
        found: Container[bytes] = attributes["_fingerprints"]
        return found
    # Before Scrapy 2.19 they are texts.
    return _Decoded(attributes["fingerprints"]) if "fingerprints" in attributes else None


class _Decoded:
    """Fingerprints that are stored in hexadecimal."""

    def __init__(self, texts: set[str]) -> None:
        self._texts = texts

    def discard(self, fingerprint: bytes) -> None:
        self._texts.discard(fingerprint.hex())

    def __contains__(self, fingerprint: Any) -> bool:
        return fingerprint.hex() in self._texts
