"""Takes over what the journal of a job says of pages: by which URLs they came, and what of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.crawl.job.journal import Kind, Record
from scrapy_urlcanon.crawl.own_requests import MARK_KEY, RESCUE, mark_of
from scrapy_urlcanon.crawl.recovery.page_states import Event
from scrapy_urlcanon.crawl.seen import FILTER_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests

_EVENTS = {Kind.FETCHED: Event.GOT, Kind.LED: Event.LED, Kind.FAILED: Event.ENDED}
"""What each outcome in the journal was to the life of its page."""


class RestoredPages:
    """Restores the outcomes of earlier runs, and which URL of each page came first.

    :param has_suspended: whether entries of rules fell in them. What was scheduled before has
        fingerprints in the journal that it has no more.
    """

    def __init__(
        self, fingerprints: PageFingerprints, requests: PageRequests, *, has_suspended: bool
    ) -> None:
        self._fingerprints = fingerprints
        self._requests = requests
        self._has_suspended = has_suspended
        self.rescued: dict[bytes, str] = {}
        """The pages that came by another URL than the first one, each with that other one."""
        self._rescues: dict[bytes, Request] = {}
        self._depths: dict[bytes, int] = {}
        # What an entry made one before it fell: the first URL is one of another page now.
        self._merged: set[bytes] = set()

    def take(self, record: Record) -> None:
        """Take the next *record* of the journal."""
        if record.kind in _EVENTS:
            self._take_outcome(record)
        elif record.kind is Kind.SCHEDULED and record.request:
            self._take_scheduled(record.fingerprint, record.request)

    def _take_outcome(self, record: Record) -> None:
        fingerprint = record.fingerprint
        page, depth = record.page or fingerprint, self._depths.get(fingerprint)
        self._requests.restore(page, record.callback, _EVENTS[record.kind], depth)
        rescue = self._rescues.get(fingerprint) if record.kind is Kind.FETCHED else None
        its_page = rescue and self._fingerprints.page(rescue)
        if rescue and its_page:
            self.rescued[its_page] = rescue.url

    def _take_scheduled(self, fingerprint: bytes, data: Mapping[str, Any]) -> None:
        is_first = fingerprint not in self._depths
        if not is_first and fingerprint not in self._merged:
            return
        meta = data.get("meta") or {}
        if data.get("dont_filter") or not FILTER_KEYS.isdisjoint(meta):
            return
        now = fingerprint
        if MARK_KEY in meta and mark_of(request := _as_written(data), RESCUE):
            self._rescues[fingerprint] = request
        elif self._has_suspended:
            now = self._fingerprints.fingerprint(_as_written(data))
        if is_first or now == fingerprint:
            self._fingerprints.restore(now, data["url"], meta)
        if now == fingerprint:
            self._merged.discard(fingerprint)
        else:
            self._merged.add(fingerprint)
        self._depths.setdefault(fingerprint, meta.get("depth", 0))


def _as_written(data: Mapping[str, Any]) -> Request:
    """Return the request of *data*, as far as its fingerprint takes it into account."""
    its = {name: data[name] for name in ("method", "headers", "body", "meta") if name in data}
    return Request(data["url"], **its)
