"""Works out from the journal of a killed job which of its requests are to be scheduled again.

Requests that the duplicate filter sees are told by their fingerprint: it let the first one pass,
and that one is done if there is an outcome for its page and its callback. Requests with
``dont_filter`` may be for one page and yet not the same: each has an identity.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    REWRITTEN,
    is_plain,
    is_retry,
    is_unfiltered,
    mark_of,
)
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.recovery.journal import OUTCOMES, Kind, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request, Spider


class Replay:
    """Tells what was done from what was not.

    :param records: can be read several times.
    :param request_of: makes the request of a record.
    :param identity_of: tells one request with ``dont_filter`` from another, and not from its
        retries.
    """

    def __init__(
        self,
        records: Iterable[Record],
        request_of: Callable[[Record], Request | None],
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
        # The URL and the callback of what the duplicate filter recorded, where that is done.
        self._recorded: dict[bytes, tuple[str, str] | None] = {}
        self._unfiltered_done: Counter[bytes] = Counter()
        self._pages_done: set[tuple[bytes, str]] = set()
        self._count_done()

    def recorded(self) -> Iterator[Request]:
        """Yield what the duplicate filter recorded and is done."""
        for record, request in self._scheduled():
            fingerprint = record.fingerprint
            if is_unfiltered(request) or fingerprint in self._recorded:
                continue
            callback = callback_of(request, self._spider)
            is_done = (fingerprint, callback) in self._pages_done
            self._recorded[fingerprint] = (request.url, callback) if is_done else None
            if is_done:
                yield request

    def undone(self) -> Iterator[Request]:
        """Yield what is to be scheduled again, after :meth:`recorded`."""
        passed: set[bytes] = set()
        for record, request, identity, repeats in self._told_apart():
            is_first = record.fingerprint not in passed
            if is_unfiltered(request):
                is_done = self._unfiltered_done[identity] > 0 and not repeats
                self._unfiltered_done[identity] -= is_done
            else:
                passed.add(record.fingerprint)
                recorded = self._recorded[record.fingerprint]
                # What it was rewritten from may be another URL than that of the first.
                is_done = recorded is not None and (
                    is_first
                    or (
                        is_plain(request)
                        and recorded == (request.url, callback_of(request, self._spider))
                    )
                )
            if is_done and mark_of(request, REWRITTEN):
                self.rewritten.append(request)
            # A retry repeats what stands before it. An audit has lost what it was to be
            # compared with.
            if not (is_done or repeats or mark_of(request, AUDIT)):
                yield request

    def _count_done(self) -> None:
        unfiltered: Counter[bytes] = Counter()
        for _, request, identity, repeats in self._told_apart():
            if is_unfiltered(request) and not repeats:
                unfiltered[identity] += 1
        for record in self._records:
            if record.kind not in OUTCOMES:
                continue
            self.done += 1
            if self._unfiltered_done[record.identity] < unfiltered[record.identity]:
                self._unfiltered_done[record.identity] += 1
            else:
                # Without dont_filter, or the retry of one without.
                self._pages_done.add((record.fingerprint, record.callback))

    def _scheduled(self) -> Iterator[tuple[Record, Request]]:
        for record in self._records:
            if record.kind is Kind.SCHEDULED:
                request = self._request_of(record)
                if request is not None:
                    yield record, request

    def _told_apart(self) -> Iterator[tuple[Record, Request, bytes, bool]]:
        """Yield what was scheduled with its identity, and whether it repeats what was before it.

        A retry has no end of its own, but where a callback made it.
        """
        identities: set[bytes] = set()
        for record, request in self._scheduled():
            identity = self._identity_of(request)
            repeats = is_retry(request) and not record.identity and identity in identities
            identities.add(identity)
            yield record, request, identity, repeats
