"""Counts the requests that were dropped, by rule and by domain."""

from __future__ import annotations

import logging
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy import signals
from w3lib.url import canonicalize_url

from scrapy_urlcanon.canonicalizer.entries import SKIP, RuleEntry
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.canonical_urls import names_its_page
from scrapy_urlcanon.crawl.origins import as_sent
from scrapy_urlcanon.crawl.own_requests import (
    MARK_KEY,
    REWRITTEN,
    is_plain,
    own_mark_of,
    with_url,
)
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, META_KEY
from scrapy_urlcanon.crawl.stats import OTHER_DOMAINS, Stat, name_in_stats
from scrapy_urlcanon.wording import by_count

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.origins import LinkingPages
    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)

_TOP_DOMAINS = 20
_TOP_ENTRIES = 100
_DROPS_PER_WRITE = 100
_COUNTED = 100_000
"""Of more domains, or entries, those with the most drops go on being counted apart."""
_OF_SCRAPY = 1_000
_REMEMBERED_VARIANTS = 200_000
"""Of so many variants it is known that they were counted, and at least of half of these."""


DECLARED: Final = frozenset((RuleEntry(DECLARED_CANONICAL),))
"""What a drop is due to where no rule is: another page declared its URL."""


class Drop(NamedTuple):
    """One dropped request, attributed."""

    request: Request
    first: str
    """The URL of the first request with the same fingerprint; that under which the page of a URL
    that is skipped was found, or nothing."""
    fingerprint: bytes
    entries: frozenset[RuleEntry]
    """What changed one of the two URLs: entries of options, and normalizations; none if exact.

    ``declared_canonical`` alone where it was another page, which declared it; none where the
    spider named the page.
    """
    domain: str
    """That of the dropped URL, as of :func:`domain_of`."""
    linked_from: str = ""
    """The URL of the page that linked it, where a report is to say so and it is known."""

    @property
    def rules(self) -> frozenset[str]:
        """The options and normalizations that :attr:`entries` belong to."""
        return frozenset(entry.option for entry in self.entries)

    @property
    def is_skipped(self) -> bool:
        """Whether it was skipped, and no duplicate."""
        return any(entry.is_skip for entry in self.entries)

    @property
    def is_declared(self) -> bool:
        """Whether another page declared its URL, which stands for it."""
        return self.entries == DECLARED

    @property
    def is_exact(self) -> bool:
        """Whether the very same URL was seen before."""
        return self.request.url == self.first

    @property
    def asks_the_same(self) -> bool:
        """Whether the site was asked for the very same before."""
        return as_sent(self.request.url) == as_sent(self.first)


class DroppedDuplicates:
    """Attributes every dropped request to the rules that made it a duplicate, and counts it.

    It is told by the scheduler (:func:`.hear_of_drops`), which alone knows that a request was
    dropped, whatever the duplicate filter. A dropped request is ``exact`` where its URL is the
    first one under its fingerprint, else ``variant``, and credited to every rule that changed one
    of the two URLs. While the crawl runs, the stats may lag behind by some drops.

    :param declared_by: returns the URL of the page that declared the one of a fingerprint, where
        that alone is why the duplicate filter has it as seen.
    :param orphans: the fingerprints of pages whose URL was dropped for another page.
    :param listeners: are called with each dropped request, once it is counted; but for repeats, of
        which there is nothing to say, and which nearly all drops are: the very request that stands
        for its page.
    :param changes_urls: whether requests take the place of those for other URLs, so that none is
        such a repeat. Where such a one is dropped it counts, and :attr:`reporters` hear of it, as
        the one that was linked: a variant, due to what makes the one of the other, or to ``skip``.
    """

    def __init__(
        self,
        crawler: Crawler,
        canonicalizer: Canonicalizer,
        fingerprints: PageFingerprints,
        first_urls: FirstUrls,
        stats: CrawlStats,
        *,
        declared_by: Callable[[bytes], str | None] | None,
        linking_pages: LinkingPages | None,
        orphans: Container[bytes],
        listeners: list[Callable[[Drop], None]],
        changes_urls: bool,
    ) -> None:
        self._canonicalizer = canonicalizer
        self._fingerprints = fingerprints
        self._first_urls = first_urls
        self._stats = stats
        self._declared_by = declared_by
        self._linking_pages = linking_pages
        self._orphans = orphans
        self._listeners = listeners
        self.reporters: list[Callable[[Drop], None]] = []
        """Are called after the listeners, with repeats too."""
        self._changes_urls = changes_urls
        self._is_ours = True
        # Until they are written to the stats, whose collector takes longer than all else.
        self._exact = self._variants = 0
        self._entries: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()
        self._domains: Counter[str] = Counter()
        # By 64 bits of what tells them apart: all of them would be as large as Scrapy's own set.
        self._kept_by_scrapy: BoundedMapping[int, bool] = BoundedMapping(_REMEMBERED_VARIANTS)
        self._scrapy_would_keep = 0
        self._replaced: BoundedMapping[int, bool] = BoundedMapping(_REMEMBERED_VARIANTS)
        # Variants come in groups: the first of a group is looked up again and again.
        self._entries_that_fired = lru_cache(10_000)(self._explain)
        self._of_scrapy = lru_cache(_OF_SCRAPY)(canonicalize_url)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def request_dropped(self, request: Request) -> None:
        """Count *request*, which the scheduler did not accept."""
        if self._first_urls.question:
            self._first_urls.question.look_back(is_dropped=True)
        fingerprint = self._fingerprints.fingerprint(request)
        is_repeat = self._is_repeat(request, fingerprint)
        if is_repeat and not self.reporters:
            if self._is_ours:
                self._exact += 1
                self._count_on(domain_of(request.url))
            return
        drop = self._attribute(request, fingerprint)
        if self._linking_pages:
            drop = drop._replace(linked_from=self._linking_pages.of(request))
        linked = self._as_linked(drop) if self._changes_urls else drop
        if self._is_ours:
            self._count(linked)
        if not is_repeat:
            for listener in self._listeners:
                listener(drop)
        for reporter in self.reporters:
            reporter(linked)

    def is_replaced_again(self, url: str) -> bool:
        """Tell whether a request took the place of one for *url* before; the next time it has.

        Scrapy alone would have fetched that one.
        """
        key = hash(self._of_scrapy(url))
        again = key in self._replaced
        self._replaced[key] = True
        return again

    def replaced(self, request: Request, url: str) -> Drop:
        """Return the drop of *request*, in whose place one for *url* is scheduled.

        It is not counted: the duplicate filter may take what is scheduled for a new one.
        """
        fingerprint = self._fingerprints.fingerprint(request)
        entries = self._fired(request) | self._entries_that_fired(url)
        return Drop(request, url, fingerprint, entries, domain_of(request.url))

    def _is_repeat(self, request: Request, fingerprint: bytes) -> bool:
        """Tell whether *request* is that which stands for its page, as the spider made it."""
        first = self._first_urls.of(fingerprint)
        return (
            (first is None or first == request.url)
            and not self._changes_urls
            and is_plain(request)
            and fingerprint not in self._orphans
            and not (self._declared_by and self._declared_by(fingerprint))
        )

    def _count(self, drop: Drop) -> None:
        if drop.is_exact:
            self._exact += 1
        else:
            self._variants += 1
            self._rules.update(drop.rules)
            self._entries.update(name_in_stats(str(entry)) for entry in drop.entries if entry.entry)
            of_scrapy = self._of_scrapy(drop.request.url)
            if of_scrapy != self._of_scrapy(drop.first) and not _is_linked_again(drop.request):
                self._count_kept_by_scrapy(drop.request, of_scrapy)
        self._count_on(drop.domain)

    def _count_on(self, domain: str) -> None:
        self._domains[domain] += 1
        if (self._exact + self._variants) % _DROPS_PER_WRITE == 0:
            self._write_counts()

    def disown(self) -> None:
        """Count nothing: it is not by our fingerprints that requests are dropped."""
        self._is_ours = False
        self._exact = self._variants = self._scrapy_would_keep = 0
        for counts in (self._rules, self._entries, self._domains):
            counts.clear()

    def _count_kept_by_scrapy(self, request: Request, canonical: str) -> None:
        # What Scrapy's fingerprint is of; it would be kept for as long as the request is.
        key = hash((request.method, canonical, request.body))
        if key not in self._kept_by_scrapy:
            self._kept_by_scrapy[key] = True
            self._scrapy_would_keep += 1

    def _write_counts(self) -> None:
        _make_room(self._domains)
        _make_room(self._entries)
        self._stats.set(Stat.DROPPED, self._exact + self._variants)
        self._stats.set(Stat.DROPPED_EXACT, self._exact)
        self._stats.set(Stat.DROPPED_VARIANT, self._variants)
        self._stats.set(Stat.DROPPED_SCRAPY_WOULD_KEEP, self._scrapy_would_keep)
        for option, count in self._rules.items():
            self._stats.set(Stat.DROPPED_BY_RULE, count, option=option)

    def _attribute(self, request: Request, fingerprint: bytes) -> Drop:
        url = request.url
        domain = domain_of(url)
        declaring = self._declared_by and self._declared_by(fingerprint)
        if declaring:
            return Drop(request, declaring, fingerprint, DECLARED, domain)
        # A URL that is not canonical would have been noted: where none is, this one is canonical,
        # or no rule touched it, or its fingerprint is its own.
        first = self._first_urls.of(fingerprint) or url
        entries: frozenset[RuleEntry] = frozenset()
        if url != first and not names_its_page(request):
            entries = self._fired(request) | self._entries_that_fired(first)
        return Drop(request, first, fingerprint, entries, domain)

    def _as_linked(self, drop: Drop) -> Drop:
        """Return the drop of what was linked, where *drop* is of what takes the place of that."""
        mark = own_mark_of(drop.request, REWRITTEN)
        if mark is None:
            return drop
        linked = with_url(drop.request, mark["original"])
        if "skip" in mark:
            entries = frozenset((RuleEntry(SKIP, mark["skip"]),))
        elif drop.is_declared:
            entries = drop.entries
        else:
            entries = self._fired(linked) | self._entries_that_fired(drop.first)
        return drop._replace(request=linked, entries=entries, domain=domain_of(linked.url))

    def _fired(self, request: Request) -> frozenset[RuleEntry]:
        options = request.meta.get(META_KEY)
        if isinstance(options, dict):
            return self._explain(request.url, options)
        return self._entries_that_fired(request.url)

    def forget(self) -> None:
        """Forget which rules fired on which URL: the rules changed."""
        self._entries_that_fired.cache_clear()

    def _explain(self, url: str, options: dict[str, Any] | None = None) -> frozenset[RuleEntry]:
        steps = self._canonicalizer.explain(url, options=options).steps
        return frozenset(entry for step in steps for entry in step.entries)

    def spider_closed(self, spider: Spider) -> None:
        """Complete the stats and log the summary."""
        # When the crawl is over: it would have waited for the import before it began.
        from scrapy_urlcanon.crawl.summary import summary  # noqa: PLC0415

        self._write_counts()
        dropped = self._exact + self._variants
        self._stats.set(Stat.REQUESTS, _enqueued(self._stats.all()) + dropped)
        # A host may have the name that all others have together: it is one of them.
        names = (each for each in by_count(self._domains) if each[0] != OTHER_DOMAINS)
        most = dict(islice(names, _TOP_DOMAINS))
        most[OTHER_DOMAINS] = dropped - sum(most.values())
        for domain, count in most.items():
            if count:
                self._stats.set(Stat.DROPPED_ON_DOMAIN, count, domain=domain)
        for entry, count in by_count(self._entries)[:_TOP_ENTRIES]:
            self._stats.set(Stat.DROPPED_BY_ENTRY, count, rule=entry)
        stats = self._stats.all()
        # Scrapy's DummyStatsCollector keeps nothing, and there is nothing to sum up.
        if Stat.REQUESTS.key() in stats:
            logger.info(summary(stats), extra={"spider": spider})


def _is_linked_again(request: Request) -> bool:
    """Tell whether another took the place of *request*, and had done so before."""
    mark = request.meta.get(MARK_KEY)
    return isinstance(mark, dict) and mark.get("original") == request.url and "again" in mark


def _make_room(counts: Counter[str]) -> None:
    """Forget what has few drops, if there is too much."""
    if len(counts) > _COUNTED:
        kept = counts.most_common(_COUNTED // 2)
        counts.clear()
        counts.update(dict(kept))


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
