"""Converts the journal of a job to rules other than those it was written under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.job.journal import OUTCOMES, Kind, Record, scheduled
from scrapy_urlcanon.crawl.job.written_requests import digest_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, MARK_KEY, mark_of
from scrapy_urlcanon.crawl.scheduling.seen import FILTER_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from scrapy import Request

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def under_rules(
    records: Iterable[Record],
    digest: bytes,
    fingerprints: PageFingerprints,
    request_of: Callable[[dict[str, Any]], Request],
) -> Iterator[Record]:
    """Yield *records* with the fingerprints that their requests have under the present rules.

    If the present rules merge pages that were two, requests with an outcome come first, since the
    first request for a page is the one that counts as recorded. Outcomes of requests of which no
    record has the request itself are left out.

    :param records: an iterable that can be read several times. They may have been written under
        several rules, if an entry was suspended meanwhile.
    :param digest: the digest of the present rules.
    :param request_of: makes a request from the data of a record.
    """
    yield Record(Kind.OPENED, digest)
    # The new fingerprint and page, under three keys: by old fingerprint and digest; by digest
    # alone, for requests that were sent before an entry was suspended and ended after; and by old
    # fingerprint alone, for requests with a fingerprint of their own.
    now: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
    ended = {_key(record): record.kind for record in records if record.kind in OUTCOMES}
    merged = _merged_as_before(records, ended, fingerprints, request_of)
    for record, data, own in _scheduled(records, ended):
        request, known_as = request_of(data), data
        fingerprint = fingerprints.fingerprint(request)
        page = fingerprints.page(request)
        is_given = mark_of(request, AUDIT) and ended.get(record.fingerprint) is Kind.FETCHED
        if is_given and request.url not in merged:
            # What an audit gave to the spider counts as had if it is a page of its own now.
            fingerprint, known_as = page or fingerprint, _without_mark(data)
        for key in ((record.fingerprint, own), (record.fingerprint, b"")):
            now.setdefault(key, (fingerprint, page))
        if fingerprint == page:
            now.setdefault((b"", own), (fingerprint, page))
        yield record._replace(fingerprint=fingerprint, request=known_as)
    nothing = b"", b""
    for record in records:
        if record.kind is Kind.ASKED:
            _, step = now.get((record.fingerprint, b""), nothing)
            _, page = now.get((record.page, b""), nothing)
            if step and page:
                yield record._replace(fingerprint=step, page=page)
        elif record.kind is Kind.BEGUN or record.kind in OUTCOMES:
            by_digest = now.get((b"", record.digest), nothing)
            fingerprint, page = now.get((record.fingerprint, record.digest), by_digest)
            if fingerprint:
                yield record._replace(fingerprint=fingerprint, page=record.page and page)


def _key(record: Record) -> bytes:
    """Return what tells the request of an outcome from others."""
    return record.digest or record.fingerprint


def _merged_as_before(
    records: Iterable[Record],
    ended: Mapping[bytes, Kind],
    fingerprints: PageFingerprints,
    request_of: Callable[[dict[str, Any]], Request],
) -> set[str]:
    """Return which URLs that audits gave to the spider are still merged under the present rules.

    Each is another page than that of its representative, which may not have been fetched yet.
    """
    given = {
        data["url"]
        for record, data in scheduled(records)
        if MARK_KEY in data.get("meta", ()) and ended.get(record.fingerprint) is Kind.FETCHED
    }
    dropped = {
        data["url"]: (record.fingerprint, data)
        for record, data in _filtered(records)
        if data["url"] in given and MARK_KEY not in data.get("meta", ())
    }
    first: dict[bytes, dict[str, Any]] = {}
    pages = {page for page, _ in dropped.values()}
    for record, data in _filtered(records) if pages else ():
        if record.fingerprint in pages:
            first.setdefault(record.fingerprint, data)

    def page_of(data: dict[str, Any]) -> bytes:
        return fingerprints.page(request_of(data))

    return {
        url
        for url, (page, data) in dropped.items()
        if first[page]["url"] != url and page_of(first[page]) == page_of(data)
    }


def _filtered(records: Iterable[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield the requests that the duplicate filter saw."""
    for record, data in scheduled(records):
        if not data.get("dont_filter") and FILTER_KEYS.isdisjoint(data.get("meta", ())):
            yield record, data


def _scheduled(
    records: Iterable[Record], ended: Container[bytes]
) -> Iterator[tuple[Record, dict[str, Any], bytes]]:
    """Yield scheduled requests with their digests, those with an outcome first.

    A request that the HTTP cache answered with another URL's page counts as one for that URL. If it
    was not filtered, the record goes on to say that it was not sent.
    """
    for is_done in (True, False):
        for record in records:
            data = record.request
            if data is None or record.kind not in {Kind.SCHEDULED, Kind.ANSWERED}:
                continue
            digest = digest_of(data["url"], data.get("method", "GET"), data.get("body", b""))
            came = digest in ended or record.fingerprint in ended
            if came is is_done and (came or record.kind is Kind.SCHEDULED):
                kind = record.kind if record.identity else Kind.SCHEDULED
                yield record._replace(kind=kind), data, digest


def _without_mark(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "meta": {key: data["meta"][key] for key in data["meta"] if key != MARK_KEY}}
