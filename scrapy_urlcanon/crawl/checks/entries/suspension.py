"""Turns off, while crawling, what the audit has found to be wrong."""

from __future__ import annotations

import logging
from copy import copy
from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.crawl.checks.entries.taking_back import taking_back
from scrapy_urlcanon.crawl.own_requests import RELEASED, marked, with_url
from scrapy_urlcanon.crawl.scheduling.seen import forget_seen, record_as_seen
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
    from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)


class Suspension:
    """Turns an entry off for a domain, and lets through what it had merged, and nothing else.

    :param take: removes and returns what was dropped on a domain and what it is given is true of,
        in the order in which that is to be let through.
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        canonicalizer: Canonicalizer,
        fingerprints: PageFingerprints,
        first_urls: FirstUrls,
        requests: PageRequests,
        rule_changes: RuleChanges,
        stats: CrawlStats,
        take: Callable[[str, Callable[[Drop], bool]], list[Drop]],
    ) -> None:
        self._crawler = crawler
        self._canonicalizer = canonicalizer
        self._fingerprints = fingerprints
        self._first_urls = first_urls
        self._requests = requests
        self._rule_changes = rule_changes
        self._stats = stats
        self._take = take
        self.orphans: set[bytes] = set()
        """What the duplicate filter has as seen, though nobody has fetched its page."""

    def suspend(self, record: EntryRecord) -> bool:
        """Turn off the entry of *record*, which is wrong; return whether that was to be done."""
        entry, domain = record.entry, record.domain
        is_known = entry.option in BY_NAME or entry.option == DECLARED_CANONICAL
        if not is_known or self._rule_changes.is_suspended(entry, domain):
            return False
        if entry.entry:
            self._stats.inc(Stat.AUDIT_SUSPENDED_ENTRY, option=entry.option, entry=entry.entry)
        else:
            self._stats.inc(Stat.AUDIT_SUSPENDED, option=entry.option)
        let_through = self._turn_off(entry, domain, record.others)
        last = record.others[-1]
        what, found = "audited duplicate", "were other pages"
        example = f"{shown_url(last.first)} and {shown_url(last.url)}"
        if entry.is_skip:
            what, found = "audited URL", "showed what no other URL does"
            example = shown_url(last.url)
        logger.warning(
            "%(rule)s is off for %(domain)s from now on: of %(audited)s that are due to it, "
            "%(false)d %(found)s, for example %(example)s. %(dropped)s that it had dropped %(are)s "
            "fetched now, as far as they are remembered.%(advice)s",
            {
                "rule": entry,
                "domain": domain,
                "audited": count_of(record.judged, what),
                "false": len(record.others),
                "found": found,
                "example": example,
                "dropped": count_of(let_through, "URL"),
                "are": "is" if let_through == 1 else "are",
                "advice": self._advice(record),
            },
            extra={"spider": self._crawler.spider},
        )
        return True

    def suspended_elsewhere(self, entry: RuleEntry, domain: str) -> None:
        """Turn *entry* off on *domain*, as another process did, and let through what it dropped."""
        if not self._rule_changes.is_suspended(entry, domain):
            self._turn_off(entry, domain, [])

    def _advice(self, record: EntryRecord) -> str:
        """Return what does for good what a suspension does for this crawl; empty for no rule."""
        if record.entry.option not in BY_NAME:
            return ""
        configuration = self._canonicalizer.configuration.as_written()
        urls = [url for other in record.others for url in (other.first, other.url) if url]
        way = taking_back(configuration, record.entry, record.domain, urls)
        return f" {way.advice} {way.line}".rstrip()

    def _turn_off(self, entry: RuleEntry, domain: str, others: list[OtherPage]) -> int:
        """Turn *entry* off on *domain*, and schedule what it had merged, and nothing else.

        Return how many requests that are.
        """
        before = copy(self._canonicalizer)
        self._rule_changes.suspend(entry, domain)
        merges = entry.option in BY_NAME and not entry.is_skip
        names, stood = self._split_pages(domain, before) if merges else ({}, {})

        def is_meant(drop: Drop) -> bool:
            if not merges or drop.is_skipped or drop.is_declared:
                return drop.domain == domain and entry in drop.entries
            # Another URL may stand for its page now than when it was dropped, and its callback may
            # have got that by a third one.
            page = drop.fingerprint
            first = stood.get(page) or self._first_urls.of(page) or drop.first
            first = self._requests.got_by(drop.request, page) or first
            canonicalize = self._canonicalizer.canonicalize
            return drop.domain == domain and canonicalize(drop.request.url) != canonicalize(first)

        drops = self._take(domain, is_meant)
        # Those that stay dropped are of the page that the URL which stood for it shows.
        self._requests.rename(names, besides={drop.request.url for drop in drops})
        for other in others if merges else ():
            # The spider got it from the audit.
            record_as_seen(self._crawler, Request(other.url))
            self._requests.passed_on.split_off(other.url)
        for drop in drops:
            self._stats.inc(Stat.AUDIT_LET_THROUGH)
            # A copy: the fingerprint of a request is that of the rules it was made under.
            self._crawler.engine.crawl(with_url(drop.request, drop.request.url))
        return len(drops)

    def _split_pages(
        self, domain: str, before: Canonicalizer
    ) -> tuple[dict[bytes, bytes], dict[bytes, str]]:
        """Record the pages of *domain* as seen under the fingerprints that their URLs have now.

        What the spider has is not to be fetched again. And the URL that a wrong entry made of
        others is one that nobody has fetched: under its fingerprint another page is known so far.

        Return the fingerprints that they had, with those of now and the URLs that stood for them.
        """
        names: dict[bytes, bytes] = {}
        stood: dict[bytes, str] = {}
        # Most are of other domains, and to tell of which takes twenty times as long. An address
        # may be written in several ways.
        is_name = registrable_domain(domain) is not None
        for page, url in self._first_urls.items():
            if is_name and domain not in url.lower():
                continue
            old, canonical = before.canonicalize(url), self._canonicalizer.canonicalize(url)
            if canonical == old:
                continue
            stood[page] = url
            # What a callback yields has a fingerprint before it comes to the scheduler.
            is_scheduled = self._first_urls.is_scheduled(page)
            self._first_urls.forget(page)
            if not forget_seen(self._crawler, page):
                self.orphans.add(page)
            if page == self._fingerprints.of_canonical(old):
                names[page] = self._fingerprints.of_canonical(canonical)
                if is_scheduled:
                    record_as_seen(self._crawler, Request(url))
            else:
                # That of a request with a body, or with a name for its page, is not made of the URL
                # alone: nothing tells the one that it has now, and no other request has its page.
                names[page] = page[::-1]
        return names, stood

    def releases(self, drop: Drop) -> bool:
        """Schedule *drop* if it was dropped for another page; return whether it was."""
        if not self.orphans:
            return False
        page = self._fingerprints.page(drop.request)
        if page not in self.orphans:
            return False
        self.orphans.discard(page)
        self._crawler.engine.crawl(marked(drop.request, RELEASED))
        return True
