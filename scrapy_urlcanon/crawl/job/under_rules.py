"""The journal of a job under other rules than those that it was written under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.job.journal import OUTCOMES, Kind, Record
from scrapy_urlcanon.crawl.own_requests import is_unfiltered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request

    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


def under_rules(
    records: Iterable[Record],
    digest: bytes,
    fingerprints: PageFingerprints,
    request_of: Callable[[dict[str, Any]], Request],
    identity_of: Callable[[Request], bytes],
) -> Iterator[Record]:
    """Yield what *records* say of requests, with the fingerprints that they have now.

    Where the rules of now make one of what was two pages, what is done comes first: that is what
    the outcome is of. What came of a request of which no record says what it was is not known any
    more.

    :param records: can be read several times.
    :param digest: that of the rules of now.
    :param request_of: makes the request of what a record has of it.
    :param identity_of: tells one request with ``dont_filter`` from another.
    """
    yield Record(Kind.OPENED, digest)
    ended = {record.fingerprint for record in records if record.kind in OUTCOMES}
    now: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
    for is_done in (True, False):
        for record in records:
            data = record.request if record.kind is Kind.SCHEDULED else None
            if data is None or (record.fingerprint in ended) is not is_done:
                continue
            request = request_of(data)
            fingerprint = fingerprints.fingerprint(request)
            page = fingerprints.page(request) or b""
            identity = identity_of(request) if is_unfiltered(request) else b""
            now.setdefault((record.fingerprint, identity), (fingerprint, page))
            yield record._replace(fingerprint=fingerprint)
    for record in records:
        if record.kind is Kind.BEGUN or record.kind in OUTCOMES:
            fingerprint, page = now.get((record.fingerprint, record.identity), (b"", b""))
            if fingerprint:
                yield record._replace(fingerprint=fingerprint, page=record.page and page)
