"""Which URL was the first one under each fingerprint."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.seen import dupefilter_of, seen_fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

_REMEMBERED = 1_000_000


class FirstUrls:
    """Remembers the URL that came first under a fingerprint, where it is not canonical.

    Most URLs are canonical, and nothing is stored for them. So a fingerprint that the duplicate
    filter has seen, and that nothing is stored for, came with the canonical URL.
    """

    def __init__(self) -> None:
        self._urls: dict[bytes, str] = {}
        self._seen: Container[bytes] | None = None

    def watch(self, crawler: Crawler, fingerprinter: RequestFingerprinterProtocol) -> None:
        """Begin to note which requests are scheduled; the scheduler has to be open.

        :param fingerprinter: that of the crawl.
        """
        dupefilter = dupefilter_of(crawler)
        self._seen = seen_fingerprints(dupefilter)
        if self._seen is not None and dupefilter.fingerprinter is fingerprinter:
            dupefilter.fingerprinter = _Scheduled(fingerprinter, self._urls, self._seen)
            return
        scheduled = self._seen = set[bytes]()
        fingerprint = _Scheduled(fingerprinter, self._urls, scheduled).fingerprint

        def request_scheduled(request: Request) -> None:
            if not request.dont_filter:
                if len(scheduled) >= _REMEMBERED:
                    scheduled.clear()
                scheduled.add(fingerprint(request))

        # Every request pays for this signal, more than for its fingerprint.
        crawler.signals.connect(request_scheduled, signals.request_scheduled, weak=False)

    def note(self, fingerprint: bytes, url: str, canonical: str) -> None:
        """Note that a request for *url* has *fingerprint*: it may be the first one.

        Until :meth:`watch` was called the canonical URL is taken for that: where that is wrong a
        repeated request counts as a variant, and none is lost for it.
        """
        urls = self._urls
        if url != canonical and fingerprint not in urls:
            if len(urls) >= _REMEMBERED:
                # The older half: a dictionary keeps the order, and takes half the memory that
                # one does which is made to forget one by one.
                for old in list(islice(urls, _REMEMBERED // 2)):
                    del urls[old]
            was_seen = self._seen is None or fingerprint in self._seen
            urls[fingerprint] = canonical if was_seen else url

    def of(self, fingerprint: bytes) -> str | None:
        """Return the first URL under *fingerprint*; None where it was a canonical one."""
        return self._urls.get(fingerprint)


class _Scheduled:
    """Gives the fingerprints of requests that are being scheduled, and notes their URLs.

    Others may have been asked for before: of requests that are scheduled later, or copied.

    :param urls: by fingerprint; one that has none is that of a canonical URL.
    :param seen: the fingerprints of the requests that were scheduled before.
    """

    def __init__(
        self,
        fingerprinter: RequestFingerprinterProtocol,
        urls: dict[bytes, str],
        seen: Container[bytes],
    ) -> None:
        self._fingerprint: Callable[[Request], bytes] = fingerprinter.fingerprint
        self._urls = urls
        self._seen = seen

    def fingerprint(self, request: Request) -> bytes:
        fingerprint = self._fingerprint(request)
        if fingerprint in self._urls and fingerprint not in self._seen:
            self._urls[fingerprint] = request.url
        return fingerprint
