"""Which URL was the first one under each fingerprint."""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from scrapy import signals
from scrapy.utils.python import global_object_name

from scrapy_urlcanon.crawl.scheduling.seen import dupefilter_of, seen_fingerprints

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

logger = logging.getLogger(__name__)


class AskedFingerprinter(Protocol):
    """A fingerprinter that knows for which URLs it was asked of late."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the fingerprint of *request*."""

    def is_asked_for(self, url: str, *, forget: bool = False) -> bool:
        """Tell whether the fingerprint of a plain request for *url* was asked for of late."""


_REMEMBERED = 1_000_000
_UNASKED = 3
"""What a duplicate filter drops without a question, before it is said that it asks none. The first
of it a scheduler may have dropped itself."""


class FirstUrls:
    """Remembers the URL that came first under a fingerprint, where it is not canonical.

    Most URLs are canonical, and nothing is stored for them. So a fingerprint that the duplicate
    filter has seen, and that nothing is stored for, came with the canonical URL.
    """

    def __init__(self) -> None:
        self._urls: dict[bytes, str] = {}
        self._seen: Container[bytes] | None = None
        self.question: DoesItAsk | None = None
        """Whether the duplicate filter asks for our fingerprints, where that is not known."""
        self.on_replaced: Callable[[bytes, str], None] = lambda *_: None
        """Is called with a fingerprint and the URL that stands for its page from now on."""

    def watch(
        self, crawler: Crawler, fingerprinter: AskedFingerprinter, on_foreign: Callable[[], None]
    ) -> None:
        """Begin to note which requests are scheduled; the scheduler has to be open.

        :param fingerprinter: that of the crawl.
        :param on_foreign: is called where the duplicate filter turns out not to ask it, once that
            is said.
        """
        dupefilter = dupefilter_of(crawler)
        self._seen = seen_fingerprints(dupefilter)
        if self._seen is not None and dupefilter.fingerprinter is fingerprinter:
            dupefilter.fingerprinter = _Scheduled(fingerprinter, self._urls, self._seen)
            return
        scheduled = self._seen = set[bytes]()
        fingerprint = _Scheduled(fingerprinter, self._urls, scheduled).fingerprint
        question = self.question = DoesItAsk(crawler, fingerprinter, on_foreign)

        def request_scheduled(request: Request) -> None:
            if not request.dont_filter:
                if len(scheduled) >= _REMEMBERED:
                    scheduled.clear()
                scheduled.add(fingerprint(request))
                question.scheduled(request)

        # Every request pays for this signal, more than for its fingerprint.
        crawler.signals.connect(request_scheduled, signals.request_scheduled, weak=False)
        crawler.signals.connect(question.spider_closed, signals.spider_closed)

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

    def know(self, fingerprint: bytes, url: str) -> None:
        """Note that *url* was the first one under *fingerprint*, in whatever process."""
        self._urls[fingerprint] = url

    def replace(self, fingerprint: bytes, url: str) -> None:
        """Note that *url* stands for the page of *fingerprint*: the one that came first failed."""
        self._urls[fingerprint] = url
        self.on_replaced(fingerprint, url)

    def forget(self, fingerprint: bytes) -> None:
        """Forget the first URL under *fingerprint*: the rules changed, and it has another one."""
        self._urls.pop(fingerprint, None)

    def items(self) -> Iterable[tuple[bytes, str]]:
        """Return all fingerprints whose first URL is remembered, each with that."""
        return tuple(self._urls.items())

    def is_scheduled(self, fingerprint: bytes) -> bool:
        """Tell whether a request with *fingerprint* came to the scheduler, as far as is known."""
        return self._seen is None or fingerprint in self._seen

    def of(self, fingerprint: bytes) -> str | None:
        """Return the first URL under *fingerprint*; None where it was a canonical one."""
        return self._urls.get(fingerprint)


class DoesItAsk:
    """Finds out whether the duplicate filter asks for our fingerprints.

    What it lets pass without a question says nothing: it may do so with all pages of a kind, such
    as listings. But it does not ask if it drops anything so, or has not asked when the crawl ends.
    """

    def __init__(
        self, crawler: Crawler, fingerprints: AskedFingerprinter, on_foreign: Callable[[], None]
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._on_foreign = on_foreign
        self.asks: bool | None = None
        """Whether it asks; None where that is not known yet."""
        self._last = ""
        self._passed = self._dropped = 0
        """How many requests it let pass or dropped without a question."""

    def scheduled(self, request: Request) -> None:
        """Take note that *request* goes to the scheduler now, and look back at the last one."""
        self.look_back()
        if self.asks is not None:
            return
        # Of any other request it is not known by its URL whether it was asked for.
        is_known = self._fingerprints.is_asked_for(request.url, forget=True)
        self._last = request.url if is_known else ""

    def look_back(self, *, is_dropped: bool = False) -> None:
        """Look whether the fingerprint of the last request was asked for since.

        :param is_dropped: whether that request was dropped.
        """
        if self.asks is not None or not self._last:
            return
        if self._fingerprints.is_asked_for(self._last):
            self.asks = True
            return
        self._last = ""
        self._passed += not is_dropped
        self._dropped += is_dropped
        if self._dropped == _UNASKED:
            self._found_foreign()

    def spider_closed(self) -> None:
        """Say what was not known until now."""
        if self.asks is None and self._passed + self._dropped >= _UNASKED:
            self._found_foreign()

    def _found_foreign(self) -> None:
        self.asks = False
        name = self._crawler.settings["DUPEFILTER_CLASS"]
        logger.warning(
            "The duplicate filter %(filter)s does not ask for the fingerprints of "
            "scrapy-urlcanon: the canonicalization rules have no effect, and what it drops is not "
            "counted. Use one that asks crawler.request_fingerprinter, as Scrapy's own does.",
            {"filter": name if isinstance(name, str) else global_object_name(name)},
            extra={"spider": self._crawler.spider},
        )
        self._on_foreign()


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
