"""Works out from the journal of a killed job which of its requests are to be scheduled again.

Requests that the duplicate filter sees are told by their fingerprint: it let the first one pass,
and that one is done if there is an outcome for its page and its callback. Requests with
``dont_filter`` may be for one page and yet not the same: each has an identity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.job.journal import OUTCOMES, Kind, Record
from scrapy_urlcanon.crawl.job.written_requests import without_sent
from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    NOT_PLAIN,
    REWRITTEN,
    is_plain,
    is_retry,
    is_unfiltered,
    mark_of,
)
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.scheduling.seen import FILTER_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request, Spider

_TELL_APART = FILTER_KEYS | NOT_PLAIN


class Replay:
    """Tells what was done from what was not.

    A killed job may have millions of requests. Most are told by their page and their callback
    alone, and of these one is made only where it is asked for: to make it takes longer than to
    read its record ten times.

    :param records: can be read several times.
    :param request_of: makes the request of what a record has of it.
    :param identity_of: tells one request with ``dont_filter`` from another, and not from its
        retries.
    """

    def __init__(
        self,
        records: Iterable[Record],
        request_of: Callable[[dict[str, Any]], Request],
        identity_of: Callable[[Request], bytes],
        spider: Spider | None,
    ) -> None:
        self._records = records
        self._request_of = request_of
        self._identity_of = identity_of
        self._spider = spider
        self.done = 0
        """How many outcomes there are."""
        self.rewritten: list[Request] = []
        """Requests that are done, and were rewritten: known after :meth:`undone`."""
        # A hash of the URL and the callback of what the duplicate filter recorded, where that is
        # done. A crawl has too few requests for two to share one.
        self._recorded: dict[bytes, int | None] = {}
        # Where what was asked for was answered with what another URL of the page had shown.
        self._answered: set[bytes] = set()
        # Where what it recorded was not as the spider made it.
        self._recorded_changed: set[bytes] = set()
        self._unfiltered_done: Counter[bytes] = Counter()
        self._pages_done: defaultdict[str, set[bytes]] = defaultdict(set)
        self._retried: set[str] = set()
        self._callbacks: dict[tuple[object, str], str] = {}
        self._count_done()

    def recorded(self) -> Iterator[Request]:
        """Yield what the duplicate filter recorded and is done."""
        for record, data in self._scheduled():
            fingerprint = record.fingerprint
            if fingerprint in self._recorded:
                continue
            if not _is_told_by_page(data) and is_unfiltered(self._request_of(data)):
                continue
            callback = self._callback_of(data)
            is_done = fingerprint in self._pages_done[callback]
            is_own = is_done and fingerprint not in self._answered
            self._recorded[fingerprint] = hash((data["url"], callback)) if is_own else None
            if is_done:
                request = self._request_of(data)
                if not is_plain(request):
                    self._recorded_changed.add(fingerprint)
                yield request

    def undone(self) -> Iterator[Request]:
        """Yield what is to be scheduled again, after :meth:`recorded`."""
        for record, data, request, identity, repeats in self._told_apart():
            if request is None:
                if not self._is_page_done(record, data):
                    yield self._request_of(data)
                continue
            if is_unfiltered(request):
                is_done = self._unfiltered_done[identity] > 0 and not repeats
                self._unfiltered_done[identity] -= is_done
            elif record.fingerprint in self._recorded_changed:
                # The first. What it was rewritten from may be another URL.
                self._recorded_changed.remove(record.fingerprint)
                is_done = True
            else:
                is_done = is_plain(request) and self._is_page_done(record, data)
            if is_done and mark_of(request, REWRITTEN):
                self.rewritten.append(request)
            # A retry repeats what stands before it. An audit has lost what it was to be
            # compared with.
            if not (is_done or repeats or mark_of(request, AUDIT)):
                yield request

    def _is_page_done(self, record: Record, data: dict[str, Any]) -> bool:
        """Tell whether *data* is for the URL and callback of what was recorded and is done."""
        recorded = self._recorded[record.fingerprint]
        return recorded is not None and recorded == hash((data["url"], self._callback_of(data)))

    def _count_done(self) -> None:
        # The identities of requests with dont_filter are counted when all of them are known.
        ended: defaultdict[bytes, list[tuple[bytes, str]]] = defaultdict(list)
        answered: Counter[bytes] = Counter()
        for record in self._records:
            data = record.request
            if record.kind is Kind.ANSWERED:
                answered[record.identity] += 1
                self._answered.add(record.fingerprint)
            elif record.kind in OUTCOMES:
                self.done += 1
                if record.identity:
                    ended[record.identity].append((record.fingerprint, record.callback))
                else:
                    self._pages_done[record.callback].add(record.fingerprint)
            elif data and "retry_times" in data.get("meta", ()):
                self._retried.add(data["url"])
        unfiltered: Counter[bytes] = Counter()
        scheduled: dict[bytes, bytes] = {}
        for _, _, request, identity, repeats in self._told_apart():
            if request is not None:
                scheduled[identity] = identity
                # Where it is not known what was sent.
                scheduled.setdefault(without_sent(identity), identity)
                unfiltered[identity] += is_unfiltered(request) and not repeats
        for ending, pages in ended.items():
            identity = scheduled.get(ending) or scheduled.get(without_sent(ending), ending)
            own = unfiltered[identity]
            # These brought what another URL showed, and are not done by that.
            not_sent = answered[ending] if own else 0
            self._unfiltered_done[identity] += min(own, len(pages) - not_sent)
            # The retry of one without dont_filter.
            for fingerprint, callback in pages[own + not_sent :]:
                self._pages_done[callback].add(fingerprint)

    def _scheduled(self) -> Iterator[tuple[Record, dict[str, Any]]]:
        for record in self._records:
            if record.kind is Kind.SCHEDULED and record.request is not None:
                yield record, record.request

    def _told_apart(
        self,
    ) -> Iterator[tuple[Record, dict[str, Any], Request | None, bytes, bool]]:
        """Yield what was scheduled with its identity, and whether it repeats what was before it.

        A retry has no end of its own, but where a callback made it. There is no request, and no
        identity, of what the page and the callback tell, unless it was retried.
        """
        identities: set[bytes] = set()
        for record, data in self._scheduled():
            if _is_told_by_page(data) and data["url"] not in self._retried:
                yield record, data, None, b"", False
                continue
            request = self._request_of(data)
            identity = self._identity_of(request)
            repeats = is_retry(request) and not record.identity and identity in identities
            identities.add(identity)
            yield record, data, request, identity, repeats

    def _callback_of(self, data: dict[str, Any]) -> str:
        """Return the name of what of the spider the request of *data* is for."""
        key = data.get("callback"), repr(data.get("meta", {}).get("rule"))
        if key not in self._callbacks:
            self._callbacks[key] = callback_of(self._request_of(data), self._spider)
        return self._callbacks[key]


def _is_told_by_page(data: dict[str, Any]) -> bool:
    """Tell whether the page and the callback tell the request of *data* from all others.

    Not so where the duplicate filter has no say, nor of what was made of another request.
    """
    return not data.get("dont_filter") and _TELL_APART.isdisjoint(data.get("meta", ()))
