"""Suspends entries that audits found to be wrong, and lets through what they had merged."""

from __future__ import annotations

import logging
from copy import copy
from typing import TYPE_CHECKING

from attrs import define, field
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
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges

logger = logging.getLogger(__name__)


@define(eq=False)
class Suspension:
    """Turns an entry off for a domain, and schedules exactly the requests that it had merged.

    :param take: given a domain and a predicate, removes and returns the drops on that domain that
        the predicate accepts, in the order in which they are to be scheduled.
    """

    _crawler: Crawler
    _canonicalizer: Canonicalizer
    _fingerprints: PageFingerprints
    _requests: PageRequests
    _rule_changes: RuleChanges
    _take: Callable[[str, Callable[[Drop], bool]], list[Drop]]
    orphans: set[bytes] = field(init=False, factory=set)
    """Fingerprints that the duplicate filter still has as seen, though their page was never
    fetched."""

    def suspend(self, record: EntryRecord) -> bool:
        """Turn off the entry of *record*, which is wrong; return whether that was done."""
        entry, domain = record.entry, record.domain
        is_known = entry.option in BY_NAME or entry.option == DECLARED_CANONICAL
        if not is_known or self._rule_changes.is_suspended(entry, domain):
            return False
        if entry.entry:
            Stat.AUDIT_SUSPENDED_ENTRY.inc(self._crawler, option=entry.option, entry=entry.entry)
        else:
            Stat.AUDIT_SUSPENDED.inc(self._crawler, option=entry.option)
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
        """Turn *entry* off on *domain*, as another process did, and schedule what it dropped."""
        if not self._rule_changes.is_suspended(entry, domain):
            self._turn_off(entry, domain, [])

    def _advice(self, record: EntryRecord) -> str:
        """Return how to remove the entry for good, as text; empty if it is no entry of a rule."""
        if record.entry.option not in BY_NAME:
            return ""
        configuration = self._canonicalizer.configuration.as_written()
        urls = [url for other in record.others for url in (other.first, other.url) if url]
        way = taking_back(configuration, record.entry, record.domain, urls)
        return f" {way.advice} {way.line}".rstrip()

    def _turn_off(self, entry: RuleEntry, domain: str, others: list[OtherPage]) -> int:
        """Turn *entry* off on *domain*, and schedule the requests that it had merged.

        :param others: the pages that audits found, which the spider has had.
        :return: how many requests were scheduled.
        """
        before = copy(self._canonicalizer)
        self._rule_changes.suspend(entry, domain)
        merges = entry.option in BY_NAME and not entry.is_skip
        names, stood = self._split_pages(domain, before) if merges else ({}, {})

        def is_meant(drop: Drop) -> bool:
            if not merges or drop.is_skipped or drop.is_declared:
                return drop.domain == domain and entry in drop.entries
            # The representative may have changed since the drop, and the callback may have got the
            # page by a third URL.
            page = drop.fingerprint
            first = stood.get(page) or self._fingerprints.first_urls.of(page) or drop.first
            first = self._requests.got_by(drop.request, page) or first
            canonicalize = self._canonicalizer.canonicalize
            return drop.domain == domain and canonicalize(drop.request.url) != canonicalize(first)

        drops = self._take(domain, is_meant)
        # The drops that remain belong to the page that their representative shows.
        self._requests.rename(names, besides={drop.request.url for drop in drops})
        for other in others if merges else ():
            # The audit gave it to the spider.
            record_as_seen(self._crawler, Request(other.url))
            self._requests.passed_on.split_off(other.url)
        for drop in drops:
            Stat.AUDIT_LET_THROUGH.inc(self._crawler)
            # A copy, since the fingerprint of a request is cached under the old rules.
            self._crawler.engine.crawl(with_url(drop.request, drop.request.url))
        return len(drops)

    def _split_pages(
        self, domain: str, before: Canonicalizer
    ) -> tuple[dict[bytes, bytes], dict[bytes, str]]:
        """Move the pages of *domain* to the fingerprints that their URLs have under the new rules.

        These are recorded as seen, so that what the spider has had is not fetched again. The old
        ones are removed: under the URL that a wrong entry made of others, another page was known.

        :param before: the canonicalizer as it was before the suspension.
        :return: the new fingerprint for each old one, and the first URL for each old one.
        """
        names: dict[bytes, bytes] = {}
        stood: dict[bytes, str] = {}
        # Most URLs are of other domains, and to canonicalize them takes twenty times as long as
        # this check. An IP address may be written in several ways.
        is_name = registrable_domain(domain) is not None
        for page, url in self._fingerprints.first_urls.items():
            if is_name and domain not in url.lower():
                continue
            old, canonical = before.canonicalize(url), self._canonicalizer.canonicalize(url)
            if canonical == old:
                continue
            stood[page] = url
            # A request that a callback yields gets its fingerprint before it reaches the scheduler.
            is_scheduled = self._fingerprints.first_urls.is_scheduled(page)
            self._fingerprints.first_urls.forget(page)
            if not forget_seen(self._crawler, page):
                self.orphans.add(page)
            if page == self._fingerprints.of_canonical(old):
                names[page] = self._fingerprints.of_canonical(canonical)
                if is_scheduled:
                    record_as_seen(self._crawler, Request(url))
            else:
                # The fingerprint of a request with a body, or with a page name of its own
                # (`urlcanon_key`), is not made from the URL alone, so the new one cannot be
                # computed. A key that no request has replaces it.
                names[page] = page[::-1]
        return names, stood

    def releases(self, drop: Drop) -> bool:
        """Schedule *drop* if its fingerprint was that of an orphan; return whether it was."""
        if not self.orphans:
            return False
        page = self._fingerprints.page(drop.request)
        if page not in self.orphans:
            return False
        self.orphans.discard(page)
        self._crawler.engine.crawl(marked(drop.request, RELEASED))
        return True
