"""Counts dropped requests by rule and by domain, for the stats and the log."""

from __future__ import annotations

import logging
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from scrapy import signals
from w3lib.url import canonicalize_url

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.own_requests import MARK_KEY
from scrapy_urlcanon.crawl.stats import OTHER_DOMAINS, Stat, name_in_stats
from scrapy_urlcanon.wording import by_count

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.dropped.drop import Drop

logger = logging.getLogger(__name__)

_TOP_DOMAINS = 20
_TOP_ENTRIES = 100
_DROPS_PER_WRITE = 100
_COUNTED = 100_000
"""With more domains or entries than this, only those with the most drops keep their counts."""
_OF_SCRAPY = 1_000
_REMEMBERED_VARIANTS = 200_000
"""The most variants that are remembered as counted; at least half as many are."""


class DropCounts:
    """Counts dropped requests for the stats and for the summary in the log.

    During the crawl the stats may lag behind by a few drops.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._is_ours = True
        # Counted here and written to the stats in batches, since the stats collector is slower than
        # all else that is done for a drop.
        self._exact = self._variants = 0
        self._entries: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()
        self._domains: Counter[str] = Counter()
        # By 64-bit hashes: the requests themselves would take as much memory as Scrapy's own set.
        self._kept_by_scrapy: BoundedMapping[int, bool] = BoundedMapping(_REMEMBERED_VARIANTS)
        self._scrapy_would_keep = 0
        self._replaced: BoundedMapping[int, bool] = BoundedMapping(_REMEMBERED_VARIANTS)
        # Cached, since the first URL of a page is looked up for each of its variants.
        self._of_scrapy = lru_cache(_OF_SCRAPY)(canonicalize_url)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def add_exact(self, domain: str) -> None:
        """Count a dropped request for the first URL of a page, on *domain*."""
        if self._is_ours:
            self._exact += 1
            self._add_on(domain)

    def add(self, drop: Drop) -> None:
        """Count *drop*."""
        if drop.is_exact:
            self.add_exact(drop.domain)
        elif self._is_ours:
            self._variants += 1
            self._rules.update(drop.rules)
            self._entries.update(name_in_stats(str(entry)) for entry in drop.entries if entry.entry)
            of_scrapy = self._of_scrapy(drop.request.url)
            if of_scrapy != self._of_scrapy(drop.first) and not _is_linked_again(drop.request):
                self._add_kept_by_scrapy(drop.request, of_scrapy)
            self._add_on(drop.domain)

    def _add_on(self, domain: str) -> None:
        self._domains[domain] += 1
        if (self._exact + self._variants) % _DROPS_PER_WRITE == 0:
            self._write()

    def _add_kept_by_scrapy(self, request: Request, canonical: str) -> None:
        # The parts that Scrapy's fingerprint is made of. The fingerprint itself would be cached as
        # long as the request lives.
        key = hash((request.method, canonical, request.body))
        if key not in self._kept_by_scrapy:
            self._kept_by_scrapy[key] = True
            self._scrapy_would_keep += 1

    def is_replaced_again(self, url: str) -> bool:
        """Tell whether a request for *url* was replaced before, and note that one is now.

        Plain Scrapy would have fetched the first one.
        """
        key = hash(self._of_scrapy(url))
        again = key in self._replaced
        self._replaced[key] = True
        return again

    def disown(self) -> None:
        """Stop counting: requests are not dropped by our fingerprints."""
        self._is_ours = False
        self._exact = self._variants = self._scrapy_would_keep = 0
        for counts in (self._rules, self._entries, self._domains):
            counts.clear()

    def _write(self) -> None:
        _make_room(self._domains)
        _make_room(self._entries)
        Stat.DROPPED.set(self._crawler, self._exact + self._variants)
        Stat.DROPPED_EXACT.set(self._crawler, self._exact)
        Stat.DROPPED_VARIANT.set(self._crawler, self._variants)
        Stat.DROPPED_SCRAPY_WOULD_KEEP.set(self._crawler, self._scrapy_would_keep)
        for option, count in self._rules.items():
            Stat.DROPPED_BY_RULE.set(self._crawler, count, option=option)

    def spider_closed(self, spider: Spider) -> None:
        """Set the final stats and log the summary."""
        # Imported at the end, to start faster.
        from scrapy_urlcanon.crawl.dropped.summary import summary  # noqa: PLC0415

        self._write()
        dropped = self._exact + self._variants
        Stat.REQUESTS.set(self._crawler, _enqueued(self._crawler.stats.get_stats()) + dropped)
        # A host may have the name that is used for all others together. It is counted among them.
        names = (each for each in by_count(self._domains) if each[0] != OTHER_DOMAINS)
        most = dict(islice(names, _TOP_DOMAINS))
        most[OTHER_DOMAINS] = dropped - sum(most.values())
        for domain, count in most.items():
            if count:
                Stat.DROPPED_ON_DOMAIN.set(self._crawler, count, domain=domain)
        for entry, count in by_count(self._entries)[:_TOP_ENTRIES]:
            Stat.DROPPED_BY_ENTRY.set(self._crawler, count, rule=entry)
        stats = self._crawler.stats.get_stats()
        # Scrapy's DummyStatsCollector keeps nothing, and there is nothing to sum up.
        if Stat.REQUESTS.key() in stats:
            logger.info(summary(stats), extra={"spider": spider})


def _is_linked_again(request: Request) -> bool:
    """Tell whether *request* was replaced, and its URL had been replaced before."""
    mark = request.meta.get(MARK_KEY)
    return isinstance(mark, dict) and mark.get("original") == request.url and "again" in mark


def _make_room(counts: Counter[str]) -> None:
    """Forget the keys with the fewest drops if there are too many."""
    if len(counts) > _COUNTED:
        kept = counts.most_common(_COUNTED // 2)
        counts.clear()
        counts.update(dict(kept))


def _enqueued(stats: dict[str, object]) -> int:
    """Return how many requests the scheduler took. scrapy-redis counts them under its own key."""
    total = stats.get("scheduler/enqueued")
    if isinstance(total, int):
        return total
    return sum(
        value
        for name, value in stats.items()
        if name.startswith("scheduler/enqueued/") and isinstance(value, int)
    )
