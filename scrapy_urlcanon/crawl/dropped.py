"""Counts the requests that were dropped, by rule and by domain."""

from __future__ import annotations

import logging
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.utils.request import fingerprint as scrapy_fingerprint
from w3lib.url import canonicalize_url

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, META_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
    from scrapy_urlcanon.crawl.state import CrawlState

logger = logging.getLogger(__name__)

_REMEMBERED_URLS = 1_000_000
_REMEMBERED_UNPARSABLE = 100_000
_TOP_DOMAINS = 20
_DROPS_PER_WRITE = 100
_WOULD_KEEP = "dropped/scrapy_would_keep"


class Drop(NamedTuple):
    """One dropped request, attributed."""

    request: Request
    first: str
    """The URL of the first request with the same fingerprint."""
    fingerprint: bytes
    rules: frozenset[str]
    """The options and normalizations that changed one of the two URLs; none if exact.

    ``declared_canonical`` alone where it was another page, which declared it.
    """
    domain: str
    """The registrable domain of the dropped URL, or its host where it has none."""

    @property
    def is_exact(self) -> bool:
        """Whether the very same URL was seen before."""
        return self.request.url == self.first


class DroppedDuplicates:
    """Attributes every dropped request to the rules that made it a duplicate.

    It counts on the ``request_dropped`` signal, the one place that knows that a request
    was dropped, whatever the dupefilter; the fingerprinter only notes, in
    :meth:`note_first`, which URL was the first one under a fingerprint. A dropped request
    is ``exact`` where its URL is that one, else ``variant``, and credited to every rule
    that changed one of the two URLs. While the crawl runs, the stats may lag behind by some
    drops.
    """

    def __init__(
        self, crawler: Crawler, state: CrawlState, fingerprinter: RequestFingerprinter
    ) -> None:
        self._crawler = crawler
        self._state = state
        self._fingerprinter = fingerprinter
        self.listeners: list[Callable[[Drop], None]] = []
        """Are called with each dropped request, once it is counted."""
        self.declared_by: Callable[[bytes], str | None] | None = None
        """Returns the URL of the page that declared the one of a fingerprint, where it was for
        that alone that the dupefilter took it as seen."""
        self._firsts: dict[bytes, str] = {}
        self._unparsable: set[int] = set()
        # Until they are written to the stats, whose collector takes longer than all else.
        self._counts = Counter(
            dict.fromkeys(("dropped", "dropped/exact", "dropped/variant", _WOULD_KEEP), 0)
        )
        self._domains: Counter[str] = Counter()
        self._scrapy_would_keep: set[bytes] = set()
        # Variants come in groups: the first of a group is looked up again and again.
        self._rules_that_fired = lru_cache(10_000)(self._explain)
        crawler.signals.connect(self.request_dropped, signals.request_dropped)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def note_first(self, fingerprint: bytes, url: str, canonical: str) -> None:
        """Note that a request for *url* has *fingerprint*; only the first one counts.

        Nothing is stored for a URL that is canonical: most are, and then none is missed.
        """
        firsts = self._firsts
        if url != canonical and fingerprint not in firsts:
            if len(firsts) >= _REMEMBERED_URLS:
                # The older half: a dictionary keeps the order, and takes half the memory
                # that one does which is made to forget one by one.
                for old in list(islice(firsts, _REMEMBERED_URLS // 2)):
                    del firsts[old]
            firsts[fingerprint] = url

    def note_untouched(self, request: Request) -> None:
        """Note that no rule touched *request*; it counts where its URL cannot be parsed."""
        url = request.url
        if (
            url.startswith(("http:", "https:"))
            and len(self._unparsable) < _REMEMBERED_UNPARSABLE
            and self._state.canonicalizer.canonical_or_none(url) is None
        ):
            self._unparsable.add(hash(url))
            self._crawler.stats.set_value("urlcanon/unparsable", len(self._unparsable))

    def request_dropped(self, request: Request, spider: Spider) -> None:
        """Count *request*, which the scheduler did not accept."""
        del spider
        drop = self._attribute(request)
        self._counts["dropped"] += 1
        self._domains[drop.domain] += 1
        if drop.is_exact:
            self._counts["dropped/exact"] += 1
        else:
            self._counts["dropped/variant"] += 1
            self._counts.update(f"dropped/rule/{rule}" for rule in drop.rules)
            if canonicalize_url(request.url) != canonicalize_url(drop.first):
                self._scrapy_would_keep.add(scrapy_fingerprint(request))
                self._counts[_WOULD_KEEP] = len(self._scrapy_would_keep)
        if self._counts["dropped"] % _DROPS_PER_WRITE == 0:
            self._write_counts()
        for listener in self.listeners:
            listener(drop)

    def _write_counts(self) -> None:
        stats = self._crawler.stats
        for name, count in self._counts.items():
            stats.set_value(f"urlcanon/{name}", count)

    def _attribute(self, request: Request) -> Drop:
        fingerprint = self._fingerprinter.fingerprint(request)
        authority = request.url.partition("://")[2].partition("/")[0]
        declaring = self.declared_by and self.declared_by(fingerprint)
        if declaring:
            rules = frozenset((DECLARED_CANONICAL,))
            return Drop(request, declaring, fingerprint, rules, _domain(authority))
        noted = self._firsts.get(fingerprint)
        if noted is None:
            # A URL that is not canonical would have been noted: this one is, or no rule
            # touched it, or its fingerprint is its own.
            first = request.url
        elif noted is request.url:
            # This very text was noted for this request, so for none before it. The first one
            # was canonical, or was noted so long ago that it is forgotten.
            first = self._state.canonical(request) or request.url
            self._firsts[fingerprint] = first
        else:
            first = noted
        rules = frozenset()
        if request.url != first:
            rules = self._fired(request) | self._rules_that_fired(first)
        return Drop(request, first, fingerprint, rules, _domain(authority))

    def _fired(self, request: Request) -> frozenset[str]:
        options = request.meta.get(META_KEY)
        if isinstance(options, dict):
            steps = self._state.canonicalizer.explain(request.url, options=options).steps
            return frozenset(step.option for step in steps)
        return self._rules_that_fired(request.url)

    def forget(self) -> None:
        """Forget which rules fired on which URL: the rules changed."""
        self._rules_that_fired.cache_clear()

    def _explain(self, url: str) -> frozenset[str]:
        return frozenset(step.option for step in self._state.canonicalizer.explain(url).steps)

    def spider_closed(self, spider: Spider) -> None:
        """Complete the stats and log the summary."""
        # When the crawl is over: it would have waited for the import before it began.
        from scrapy_urlcanon.crawl.summary import summary  # noqa: PLC0415

        stats = self._crawler.stats
        self._write_counts()
        stats.set_value(
            "urlcanon/requests", _enqueued(stats.get_stats()) + stats.get_value("urlcanon/dropped")
        )
        # By count and then by name: the same crawl gives the same stats.
        ranked = sorted(self._domains.items(), key=lambda item: (-item[1], item[0]))
        for domain, count in ranked[:_TOP_DOMAINS]:
            stats.set_value(f"urlcanon/dropped/domain/{domain}", count)
        others = sum(count for _, count in ranked[_TOP_DOMAINS:])
        if others:
            stats.set_value("urlcanon/dropped/domain/other", others)
        logger.info(summary(stats.get_stats()), extra={"spider": spider})


@lru_cache(4096)
def _domain(authority: str) -> str:
    """Return the registrable domain of *authority*, which a query may follow."""
    host = urlsplit(f"//{authority}").hostname or ""
    return domain_or_host(host) or "none"


def _enqueued(stats: dict[str, object]) -> int:
    """Return how many requests the scheduler took; scrapy-redis counts under a key of its own."""
    total = stats.get("scheduler/enqueued")
    if isinstance(total, int):
        return total
    return sum(
        value
        for name, value in stats.items()
        if name.startswith("scheduler/enqueued/") and isinstance(value, int)
    )
