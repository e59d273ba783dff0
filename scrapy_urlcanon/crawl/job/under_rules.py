"""The journal of a job under other rules than those that it was written under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.job.journal import OUTCOMES, Kind, Record
from scrapy_urlcanon.crawl.own_requests import AUDIT, MARK_KEY, is_unfiltered, mark_of
from scrapy_urlcanon.crawl.scheduling.seen import FILTER_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from scrapy import Request

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def under_rules(
    records: Iterable[Record],
    digest: bytes,
    fingerprints: PageFingerprints,
    request_of: Callable[[dict[str, Any]], Request],
    identity_of: Callable[[Request], bytes],
    *,
    is_mixed: bool,
    ends_now: bool,
) -> Iterator[Record]:
    """Yield what *records* say of requests, with the fingerprints that they have now.

    Where the rules of now make one of what was two pages, what is done comes first: that is what
    the outcome is of. What came of a request of which no record says what it was is not known any
    more.

    :param records: can be read several times.
    :param digest: that of the rules of now.
    :param request_of: makes the request of what a record has of it.
    :param identity_of: tells one request with ``dont_filter`` from another.
    :param is_mixed: whether an entry was suspended while they were written. Where one fingerprint
        was that of two pages, before and since, an outcome may be of either, and both are done
        again.
    :param ends_now: whether the last of the records are of the rules of now.
    """
    yield Record(Kind.OPENED, digest)
    now: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
    before: set[bytes] = set()
    since: set[bytes] = set()
    ended = {record.fingerprint: record.kind for record in records if record.kind in OUTCOMES}
    for record, data in _scheduled(records, ended):
        request, known_as = request_of(data), data
        fingerprint = fingerprints.fingerprint(request)
        page = fingerprints.page(request) or b""
        identity = identity_of(request) if is_unfiltered(request) else b""
        if mark_of(request, AUDIT) and ended.get(record.fingerprint) is Kind.FETCHED:
            # What an audit gave to the spider is had, also where it is a page of its own now.
            fingerprint, known_as = page or fingerprint, _without_mark(data)
        now.setdefault((record.fingerprint, identity), (fingerprint, page))
        if is_mixed:
            since.add(fingerprint)
            if fingerprint != record.fingerprint:
                before.add(record.fingerprint)
        yield record._replace(fingerprint=fingerprint, request=known_as)
    unclear = before & since
    pages = {of_before: page for (of_before, _), (_, page) in now.items()}
    for record in records:
        is_told_apart = record.identity or record.fingerprint not in unclear
        if record.kind is Kind.ASKED:
            if record.fingerprint in pages and record.page in pages:
                step, page = pages[record.fingerprint], pages[record.page]
                yield record._replace(fingerprint=step, page=page)
        elif is_told_apart and (record.kind is Kind.BEGUN or record.kind in OUTCOMES):
            own = record.fingerprint if ends_now and record.fingerprint in since else b""
            known = now.get((record.fingerprint, record.identity))
            fingerprint, page = known or (own, record.page)
            if fingerprint:
                yield record._replace(fingerprint=fingerprint, page=record.page and page)


def _scheduled(
    records: Iterable[Record], ended: Container[bytes]
) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield what was scheduled; first that of which something came.

    Of what the duplicate filter saw that is the first with its fingerprint: it dropped the others.
    Where the HTTP cache answered that it is a request for the URL by which it did.
    """
    answered = {record.fingerprint for record in records if record.kind is Kind.ANSWERED}
    for is_done in (True, False):
        dropped = set(answered)
        for record in records:
            data = record.request
            if data is None or record.kind not in {Kind.SCHEDULED, Kind.ANSWERED}:
                continue
            came = record.fingerprint in ended
            if record.kind is Kind.ANSWERED:
                if came and is_done:
                    yield record._replace(kind=Kind.SCHEDULED), data
                continue
            came = came and record.fingerprint not in dropped
            if not data.get("dont_filter") and FILTER_KEYS.isdisjoint(data.get("meta", ())):
                dropped.add(record.fingerprint)
            if came is is_done:
                yield record, data


def _without_mark(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "meta": {key: data["meta"][key] for key in data["meta"] if key != MARK_KEY}}
