"""Reads and changes what the duplicate filter of the scheduler has seen."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import RFPDupeFilter

from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.crawl.settings import DROP_KEY, RECORD_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

FILTER_KEYS = frozenset({DROP_KEY, RECORD_KEY})


def record_as_seen(crawler: Crawler, request: Request) -> bool | None:
    """Record *request* in the duplicate filter as if it had been scheduled.

    :return: whether it was seen before, or None if the scheduler has no duplicate filter to ask.
    """
    dupefilter = dupefilter_of(crawler)
    return None if dupefilter is None else bool(dupefilter.request_seen(request))


def warn_of_no_filter(crawler: Crawler, setting: str) -> None:
    """Warn that *setting* has no effect, since :func:`record_as_seen` found no filter."""
    logger.warning(
        "%(setting)s has no effect: the scheduler has no dupefilter 'df'.",
        {"setting": setting},
        extra={"spider": crawler.spider},
    )


def obey_meta(crawler: Crawler) -> None:
    """Make the duplicate filter obey the meta keys ``urlcanon_drop`` and ``urlcanon_record``.

    A request that is not to be recorded is dropped only if it is known what was seen
    (:func:`seen_fingerprints`).
    """
    dupefilter = dupefilter_of(crawler)
    if dupefilter is None:
        return
    see: Callable[[Request], bool] = dupefilter.request_seen
    seen = seen_fingerprints(dupefilter)

    def request_seen(request: Request) -> bool:
        meta = request.meta
        if FILTER_KEYS.isdisjoint(meta):
            return see(request)
        if meta.get(RECORD_KEY) is not False:
            is_seen = see(request)
        else:
            is_seen = (
                seen is not None and crawler.request_fingerprinter.fingerprint(request) in seen
            )
        return is_seen and meta.get(DROP_KEY) is not False

    dupefilter.request_seen = request_seen


def takes_note_of(crawler: Crawler, request: Request) -> bool:
    """Tell whether the duplicate filter records *request* if it has not seen it.

    A filter that the scheduler does not expose does not obey ``urlcanon_record``.
    """
    if request.dont_filter:
        return False
    return request.meta.get(RECORD_KEY) is not False or dupefilter_of(crawler) is None


def forget_seen(crawler: Crawler, fingerprint: bytes) -> bool:
    """Remove *fingerprint* from the duplicate filter, if that is Scrapy's own or ours.

    What it has already written for the next run of a job remains.

    :return: whether it was removed; a full disk may prevent that.
    """
    seen: Any = seen_fingerprints(dupefilter_of(crawler))
    if seen is None:
        return False
    seen.discard(fingerprint)
    return fingerprint not in seen


def seen_fingerprints(dupefilter: Any) -> Container[bytes] | None:
    """Return the live set of fingerprints that *dupefilter* has seen.

    None if it is not accessible: only Scrapy's own filter and ours keep it in this process.
    """
    ours: Container[bytes] | None = getattr(dupefilter, "urlcanon_seen", None)
    if ours is not None:
        return ours
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
    # Before Scrapy 2.19 they are hexadecimal strings.
    return _Decoded(attributes["fingerprints"]) if "fingerprints" in attributes else None


def dupefilter_of(crawler: Crawler) -> Any:
    """Return the duplicate filter of the scheduler, or None if it exposes none."""
    # The schedulers of Scrapy and scrapy-redis use this name.
    return getattr(scheduler_of(crawler), "df", None)


class _Decoded:
    """A set of fingerprints that is stored in hexadecimal."""

    def __init__(self, texts: set[str]) -> None:
        self._texts = texts

    def discard(self, fingerprint: bytes) -> None:
        self._texts.discard(fingerprint.hex())

    def __contains__(self, fingerprint: Any) -> bool:
        return fingerprint.hex() in self._texts
