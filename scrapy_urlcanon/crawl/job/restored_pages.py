"""Restores from the journal of a job what became of its pages, and by which URLs they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from scrapy_urlcanon.crawl.job.journal import Kind, Record
from scrapy_urlcanon.crawl.job.written_requests import digest_of
from scrapy_urlcanon.crawl.own_requests import MARK_KEY, RESCUE, mark_of
from scrapy_urlcanon.crawl.recovery.page_states import Event
from scrapy_urlcanon.crawl.recovery.page_urls import Sent
from scrapy_urlcanon.crawl.scheduling.seen import FILTER_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests

_EVENTS = {Kind.FETCHED: Event.GOT, Kind.LED: Event.LED, Kind.FAILED: Event.ENDED}
"""The event in the life of a page that each outcome in the journal stands for."""
_FINGERPRINTED = ("method", "headers", "body", "meta")
"""What the fingerprint of a request takes into account beside its URL."""


class RestoredPages:
    """Restores the outcomes of earlier runs, and which URL of each page came first.

    :param records_start: whether start requests are recorded as seen, though they have
        ``dont_filter`` (``URLCANON_RECORD_START``).
    """

    def __init__(
        self, fingerprints: PageFingerprints, requests: PageRequests, *, records_start: bool
    ) -> None:
        self._fingerprints = fingerprints
        self._requests = requests
        self._records_start = records_start
        self.answered: dict[bytes, str] = {}
        """By page: the URL whose stored response the HTTP cache had, if that is not the first."""
        self.rescued: dict[bytes, str] = {}
        """By page: the URL that brought it when the first one did not."""
        # By fingerprint: requests that the plugin made itself.
        self._made: dict[bytes, Request] = {}
        # By digest: requests that are not filtered, and are no retries.
        self._unfiltered: dict[bytes, Sent] = {}
        self._depths: dict[bytes, int] = {}

    def take(self, record: Record) -> None:
        """Take the next *record* of the journal."""
        if record.kind in _EVENTS:
            self._take_outcome(record)
        elif record.kind is Kind.ASKED:
            lives, asked = self._requests.lives, (record.page, record.callback)
            lives.sent(*asked)
            lives.got(*asked)
            lives.asked_again(*asked, (record.fingerprint, record.identity.decode()))
        elif record.kind is Kind.ANSWERED and record.request and not record.identity:
            self.answered[record.fingerprint] = record.request["url"]
        elif record.kind in {Kind.SCHEDULED, Kind.ANSWERED} and record.request:
            self._take_scheduled(record.fingerprint, record.request)

    def _take_outcome(self, record: Record) -> None:
        fingerprint = record.fingerprint
        page, depth = record.page or fingerprint, self._depths.get(fingerprint)
        is_got = self._requests.lives.is_got(page)
        self._requests.restore(page, record.callback, _EVENTS[record.kind], depth)
        if record.kind is not Kind.FETCHED:
            return
        unfiltered = self._unfiltered.get(record.digest) if record.identity else None
        if unfiltered:
            self._requests.urls.know(page, record.callback, unfiltered.request)
        made = self._made.get(fingerprint)
        its_page = made and mark_of(made, RESCUE) and self._fingerprints.page(made)
        if made and its_page:
            self._requests.urls.know(its_page, record.callback, made)
            if not is_got:
                self.rescued[its_page] = made.url
        elif not made and not unfiltered:
            # The first URL came after all, later than the rescue for another callback.
            self.rescued.pop(page, None)

    def _take_scheduled(self, fingerprint: bytes, data: Mapping[str, Any]) -> None:
        meta = data.get("meta") or {}
        is_recorded = self._records_start and "is_start_request" in meta
        is_unfiltered = data.get("dont_filter") or not FILTER_KEYS.isdisjoint(meta)
        if is_unfiltered and "retry_times" not in meta:
            sent = Sent(
                data["url"],
                data.get("method", "GET"),
                data.get("body", b""),
                dont_filter=bool(data.get("dont_filter")),
            )
            self._unfiltered[digest_of(sent.url, sent.method, sent.body)] = sent
        if MARK_KEY in meta and fingerprint not in self._made:
            its = {name: data[name] for name in _FINGERPRINTED if name in data}
            self._made[fingerprint] = Request(data["url"], **its)
        if fingerprint in self._depths or (data.get("dont_filter") and not is_recorded):
            return
        if not FILTER_KEYS.isdisjoint(meta):
            return
        self._fingerprints.restore(fingerprint, data["url"], meta)
        self._depths[fingerprint] = meta.get("depth", 0)
