"""Counts the verdicts of audits for each entry, and has entries suspended that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.checks.entries.figures import AuditFigures
from scrapy_urlcanon.crawl.checks.site_evidence import section_of
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.verdict import RESTLESS, SHARED, Verdict

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
    from scrapy_urlcanon.crawl.checks.case import AuditCase, AuditedPair
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
    from scrapy_urlcanon.crawl.checks.entries.suspension import Suspension
    from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage


class AuditVerdicts:
    """Counts verdicts for and against entries, and suspends the entries that fail."""

    def __init__(self, sample: AuditSample, suspension: Suspension, crawler: Crawler) -> None:
        self._sample = sample
        self._suspension = suspension
        self._crawler = crawler
        self._figures = AuditFigures(crawler)

    def count(self, case: AuditCase, pair: AuditedPair) -> None:
        """Count the verdict of *case* about *pair*."""
        judgement = pair.judgement
        records = self._sample.records.of(pair.entries, pair.domain)
        if judgement.verdict is Verdict.CANNOT_TELL:
            # These count as refusals, so that more URLs are audited: others may show stable pages.
            is_restless = judgement.reason in {RESTLESS, SHARED} and case.fetches > 1
            Stat.AUDIT_UNJUDGED.inc(self._crawler)
            for record in records:
                record.cannot_tell += 1
                record.refused += case.is_refused or is_restless
                record.unsettled += case.found is not None
            self._figures.show(records)
            return
        Stat.AUDITED.inc(self._crawler)
        other = pair.other
        if other:
            Stat.AUDIT_FALSE_MERGE.inc(self._crawler)
        reference = case.comparison.seen.reference if case.comparison else None
        content = reference.content if reference else b""
        self._take_over(records, other, section_of(pair.url), content)

    def count_from_other_process(self, pair: AuditedPair) -> None:
        """Count a verdict about *pair* that another process of the crawl found."""
        other = pair.other
        # In this process it may be known that the site shows this content in place of several
        # pages. Then it is no evidence.
        site = self._sample.records.sites.of(pair.domain)
        if other and not site.is_new(pair.page, other, pair.judgement.lacking):
            return
        records = self._sample.records.of(pair.entries, pair.domain)
        for record in records:
            record.chosen += 1
        self._take_over(records, other, section_of(pair.url))

    def _take_over(
        self,
        records: list[EntryRecord],
        other: OtherPage | None,
        section: str,
        content: bytes = b"",
    ) -> None:
        """Count a verdict for *records*, and suspend those that fail by it.

        :param other: the other page, or None if it was the same page.
        :param content: the digest of the kept page.
        """
        for record in records:
            record.add(other, content, section)
            if other:
                self._sample.suspect(record)
            if record.outcome is Outcome.FAILS and self._suspension.suspend(record):
                record.turn_off(self._sample.budget.pages)
        self._figures.show(records)

    def complete(self, spider: Spider) -> None:
        """Set the final stats and log the summary."""
        self._figures.complete(self._sample.records.audited, spider)
