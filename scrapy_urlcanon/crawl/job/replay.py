"""Works out from the journal of a killed job which of its requests are to be scheduled again.

A request that the duplicate filter sees is identified by its fingerprint: the first one passed the
filter, and is done if there is an outcome for its page and callback. Several requests with
``dont_filter`` may be for one page, so each of these is identified by an identity of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from attrs import define, field

from scrapy_urlcanon.crawl.job.journal import OUTCOMES, Kind, Record, scheduled
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

_NEED_IDENTITY = FILTER_KEYS | NOT_PLAIN


@define(eq=False)
class Replay:
    """Tells the requests that were done from those that were not.

    A killed job may have millions of requests. Most are identified by their page and callback
    alone. A ``Request`` object is made of these only when it is yielded, since that takes ten times
    as long as reading the record.

    :param records: the records of the journal, which are iterated several times.
    :param request_of: makes a request from the data of a record.
    :param identity_of: returns what a request with ``dont_filter`` shares with its retries alone.
    """

    _records: Iterable[Record]
    _request_of: Callable[[dict[str, Any]], Request]
    _identity_of: Callable[[Request], bytes]
    _spider: Spider | None
    done: int = field(init=False, default=0)
    """How many outcomes there are."""
    rewritten: list[Request] = field(init=False, factory=list)
    """Requests that are done and were rewritten; complete after :meth:`undone`."""
    # By fingerprint: a hash of URL and callback of the request that the duplicate filter
    # recorded; None if that is not done. (A collision is too unlikely to matter.)
    _recorded: dict[bytes, int | None] = field(init=False, factory=dict)
    # Fingerprints of requests that were answered with the response of another URL.
    _answered: set[bytes] = field(init=False, factory=set)
    # Fingerprints whose recorded request the plugin or a redirect has changed.
    _recorded_changed: set[bytes] = field(init=False, factory=set)
    _unfiltered_done: Counter[bytes] = field(init=False, factory=Counter)
    _pages_done: defaultdict[str, set[bytes]] = field(init=False, factory=lambda: defaultdict(set))
    _retried: set[str] = field(init=False, factory=set)
    _callbacks: dict[tuple[object, str], str] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self._count_done()

    def recorded(self) -> Iterator[Request]:
        """Yield the requests that the duplicate filter had recorded, and that are done."""
        for record, data in scheduled(self._records):
            fingerprint = record.fingerprint
            if fingerprint in self._recorded:
                continue
            if not _is_known_by_page(data) and is_unfiltered(self._request_of(data)):
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
        """Yield the requests that are to be scheduled again; call :meth:`recorded` before."""
        for record, data, request, identity, repeats in self._identified():
            if request is None:
                if not self._is_page_done(record, data):
                    yield self._request_of(data)
                continue
            if is_unfiltered(request):
                is_done = self._unfiltered_done[identity] > 0 and not repeats
                self._unfiltered_done[identity] -= is_done
            elif record.fingerprint in self._recorded_changed:
                # The first one is the recorded request itself.
                self._recorded_changed.remove(record.fingerprint)
                is_done = True
            else:
                is_done = is_plain(request) and self._is_page_done(record, data)
            if is_done and mark_of(request, REWRITTEN):
                self.rewritten.append(request)
            # A retry repeats a request that is yielded itself. The fetch of an audit is of no use
            # without the audit.
            if not (is_done or repeats or mark_of(request, AUDIT)):
                yield request

    def _is_page_done(self, record: Record, data: dict[str, Any]) -> bool:
        """Tell whether *data* is for the URL and callback of a recorded request that is done."""
        recorded = self._recorded[record.fingerprint]
        return recorded is not None and recorded == hash((data["url"], self._callback_of(data)))

    def _count_done(self) -> None:
        # Outcomes by identity, counted below when all identities are known.
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
        for _, _, request, identity, repeats in self._identified():
            if request is not None:
                scheduled[identity] = identity
                # For outcomes that do not say what was sent.
                scheduled.setdefault(without_sent(identity), identity)
                unfiltered[identity] += is_unfiltered(request) and not repeats
        for ending, pages in ended.items():
            identity = scheduled.get(ending) or scheduled.get(without_sent(ending), ending)
            own = unfiltered[identity]
            # Requests that the HTTP cache answered with the response of another URL are not done.
            not_sent = answered[ending] if own else 0
            self._unfiltered_done[identity] += min(own, len(pages) - not_sent)
            # The others are of retries of a request without dont_filter.
            for fingerprint, callback in pages[own + not_sent :]:
                self._pages_done[callback].add(fingerprint)

    def _identified(
        self,
    ) -> Iterator[tuple[Record, dict[str, Any], Request | None, bytes, bool]]:
        """Yield each scheduled request with its identity, and whether it is a retry.

        A retry made by a callback is a request of its own. Without a request, and without an
        identity, are those that their page and callback identify, unless they were retried.
        """
        identities: set[bytes] = set()
        for record, data in scheduled(self._records):
            if _is_known_by_page(data) and data["url"] not in self._retried:
                yield record, data, None, b"", False
                continue
            request = self._request_of(data)
            identity = self._identity_of(request)
            repeats = is_retry(request) and not record.identity and identity in identities
            identities.add(identity)
            yield record, data, request, identity, repeats

    def _callback_of(self, data: dict[str, Any]) -> str:
        """Return the name of the callback that the request of *data* is for."""
        key = data.get("callback"), repr(data.get("meta", {}).get("rule"))
        if key not in self._callbacks:
            self._callbacks[key] = callback_of(self._request_of(data), self._spider)
        return self._callbacks[key]


def _is_known_by_page(data: dict[str, Any]) -> bool:
    """Tell whether its page and callback identify the request of *data*.

    Not if it is not filtered, nor if it was made of another request.
    """
    return not data.get("dont_filter") and _NEED_IDENTITY.isdisjoint(data.get("meta", ()))
