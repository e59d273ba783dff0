"""Remembers which URL was the first one under each fingerprint."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.scheduling.engine import hear
from scrapy_urlcanon.crawl.scheduling.filter_watch import FilterWatch
from scrapy_urlcanon.crawl.scheduling.seen import dupefilter_of, seen_fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from scrapy_urlcanon.crawl.scheduling.filter_watch import AskedFingerprinter

_REMEMBERED = 1_000_000


class FirstUrls:
    """Remembers the first URL under a fingerprint, if it is not the canonical one.

    Most URLs are canonical, and nothing is stored for them. So if nothing is stored for a
    fingerprint that the duplicate filter has seen, it came with the canonical URL.
    """

    def __init__(self) -> None:
        self._urls: dict[bytes, str] = {}
        self._seen: Container[bytes] | None = None
        self.filter_watch: FilterWatch | None = None
        """Finds out whether the duplicate filter asks for our fingerprints; None if it surely
        does."""
        self.unasked: set[bytes] = set()
        """Fingerprints of pages whose first URL the duplicate filter never saw."""
        self.made_up: set[str] = set()
        """URLs that an audit made from others. A request of the spider for one of them is its
        first."""
        self.on_replaced: Callable[[bytes, str], None] = lambda *_: None
        """Called with a fingerprint and the URL that from now on stands for its page."""

    def watch(
        self, crawler: Crawler, fingerprinter: AskedFingerprinter, on_foreign: Callable[[], None]
    ) -> None:
        """Start to note which requests are scheduled; the scheduler has to be open.

        :param fingerprinter: the fingerprinter of the crawl.
        :param on_foreign: called if the duplicate filter turns out not to ask it.
        """
        dupefilter = dupefilter_of(crawler)
        self._seen = seen_fingerprints(dupefilter)
        if self._seen is not None and dupefilter.fingerprinter is fingerprinter:
            dupefilter.fingerprinter = _Scheduled(fingerprinter, self._urls, self._seen)
            return
        scheduled = self._seen = set[bytes]()
        fingerprint = _Scheduled(fingerprinter, self._urls, scheduled).fingerprint
        watch = self.filter_watch = FilterWatch(crawler, fingerprinter, on_foreign)

        def request_scheduled(request: Request) -> None:
            if not request.dont_filter:
                if len(scheduled) >= _REMEMBERED:
                    scheduled.clear()
                scheduled.add(fingerprint(request))
                watch.scheduled(request)

        # Used only here, since the signal costs more for each request than its fingerprint does.
        hear(crawler, request_scheduled, signals.request_scheduled)
        crawler.signals.connect(watch.spider_closed, signals.spider_closed)

    def note(self, fingerprint: bytes, url: str, canonical: str) -> None:
        """Note that a request for *url*, which may be the first one, has *fingerprint*.

        Before :meth:`watch` is called the canonical URL is taken for the first one. If that is
        wrong, a repeated request counts as a variant, and nothing is lost.
        """
        urls = self._urls
        if url != canonical and fingerprint not in urls:
            if len(urls) >= _REMEMBERED:
                # Forget the older half. A plain dictionary takes half the memory of a structure
                # that forgets entries one by one.
                for old in list(islice(urls, _REMEMBERED // 2)):
                    del urls[old]
                    self.unasked.discard(old)
            was_seen = self._seen is None or fingerprint in self._seen
            urls[fingerprint] = canonical if was_seen else url

    def know(self, fingerprint: bytes, url: str) -> None:
        """Store that *url* was the first one under *fingerprint*, in this process or another."""
        self._urls[fingerprint] = url

    def replace(self, fingerprint: bytes, url: str) -> None:
        """Store that *url* stands for the page of *fingerprint* now, since the first URL failed."""
        self._urls[fingerprint] = url
        self.on_replaced(fingerprint, url)

    def forget(self, fingerprint: bytes) -> None:
        """Forget the first URL under *fingerprint*; changed rules gave it another one."""
        self._urls.pop(fingerprint, None)

    def items(self) -> Iterable[tuple[bytes, str]]:
        """Return the fingerprints whose first URL is stored, each with that URL."""
        return tuple(self._urls.items())

    def is_scheduled(self, fingerprint: bytes) -> bool:
        """Tell whether a request with *fingerprint* was scheduled, as far as is known."""
        return self._seen is None or fingerprint in self._seen

    def of(self, fingerprint: bytes) -> str | None:
        """Return the first URL under *fingerprint*, or None if that was the canonical one."""
        return self._urls.get(fingerprint)


class _Scheduled:
    """A fingerprinter for the duplicate filter only, which notes first URLs.

    The filter asks about requests that are being scheduled. Other components may ask about copies,
    or about requests that are scheduled later.

    :param urls: the first URL of each fingerprint, unless it is the canonical one.
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
