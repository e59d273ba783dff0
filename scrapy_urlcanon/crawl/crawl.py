"""Builds the parts of the plugin for one crawl, and connects them to each other."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from scrapy import signals
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter as ScrapyRequestFingerprinter

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
from scrapy_urlcanon.crawl.dropped.attribution import DroppedDuplicates
from scrapy_urlcanon.crawl.dropped.counts import DropCounts
from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
from scrapy_urlcanon.crawl.fingerprints import PageFingerprints, warn_of_another
from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
from scrapy_urlcanon.crawl.recovery.stored_by_others import keep_apart
from scrapy_urlcanon.crawl.rule_changes import RuleChanges
from scrapy_urlcanon.crawl.scheduling.drops import hear_of_drops
from scrapy_urlcanon.crawl.scheduling.engine import is_local, is_run
from scrapy_urlcanon.crawl.scheduling.seen import obey_meta
from scrapy_urlcanon.crawl.settings import STORES, CrawlSettings
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.exceptions import log_configuration_errors_plainly

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.checks.audit import Audit
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.declared.declared_canonicals import DeclaredCanonicalPages
    from scrapy_urlcanon.crawl.dropped.linking_pages import LinkingPages
    from scrapy_urlcanon.crawl.earlier.pages import EarlierPages
    from scrapy_urlcanon.crawl.job.job import JobRecovery
    from scrapy_urlcanon.crawl.job.job_rules import JobRules
    from scrapy_urlcanon.crawl.order.order import Order
    from scrapy_urlcanon.crawl.order.progress import OrderedCrawl
    from scrapy_urlcanon.crawl.record.recorder import Recorder
    from scrapy_urlcanon.crawl.recovery.shared import SharedCrawl
    from scrapy_urlcanon.crawl.software.known_software import KnownSoftware
    from scrapy_urlcanon.crawl.software.parts_of_pages import PartsOfPages
    from scrapy_urlcanon.profiles.installation import Installation

    F = TypeVar("F", bound=PageFingerprints)

logger = logging.getLogger(__name__)

_ATTRIBUTE = "_scrapy_urlcanon"


class Crawl:
    """Holds all parts of the plugin for one crawl; parts that are not needed are None.

    It is made by the first component that Scrapy constructs, through :meth:`of`. Parts that few
    crawls use are imported where they are made, for a faster start.

    :param fingerprinter_class: the class of the fingerprinter. None if Scrapy uses another one than
        ours, so that our rules do not decide what is a duplicate.
    :raises ConfigurationError: if the settings of the plugin are not valid.
    """

    fingerprinter: PageFingerprints | None = None
    dropped: DroppedDuplicates | None = None
    recorder: Recorder | None = None
    requests: PageRequests | None = None
    contents: PageContents | None = None
    audit: Audit | None = None
    declared_canonicals: DeclaredCanonicalPages | None = None
    job: JobRecovery | None = None
    software: KnownSoftware | None = None
    linking_pages: LinkingPages | None = None
    earlier: EarlierPages | None = None
    ordered: OrderedCrawl | None = None
    _job_rules: JobRules | None = None
    _former = False

    def __init__(
        self, crawler: Crawler, fingerprinter_class: type[PageFingerprints] | None
    ) -> None:
        log_configuration_errors_plainly()
        self._crawler = crawler
        self.is_run = is_run(crawler)
        settings = CrawlSettings.load(crawler.settings)
        # Commands such as `scrapy fetch` show one page, and no audit is to fetch others.
        self.settings = settings if self.is_run else settings.having(audit=0.0)
        # Not for a command or a shell, which have no spider yet.
        self._is_job = bool(crawler.settings["JOBDIR"]) and crawler.spider is not None
        self._note_resumed()
        self.unwritten = UnwrittenFiles(crawler)
        share = getattr(load_object(crawler.settings["SCHEDULER"]), "urlcanon_shared", None)
        self._shared: SharedCrawl | None = share(crawler) if share and crawler.spider else None
        self.canonicalizer = Canonicalizer.from_configuration(self._guarded_configuration())
        self.canonical_urls = CanonicalUrls(self.canonicalizer, crawler)
        self.first_urls = FirstUrls()
        if self.settings.report:
            from scrapy_urlcanon.crawl.dropped.linking_pages import LinkingPages

            self.linking_pages = LinkingPages()
        self._make_fallback()
        if fingerprinter_class:
            self.fingerprinter = self._make(fingerprinter_class)
        self._make_order()
        self.rule_changes = self._make_rule_changes()
        if self.settings.record and self.is_run:
            from scrapy_urlcanon.crawl.record.recorder import Recorder

            configuration = self.canonicalizer.configuration
            self.recorder = Recorder(crawler, self.settings, configuration)
        if self.fingerprinter:
            self._make_safeguards(self.fingerprinter)
            self._make_software(self.fingerprinter)
            self._make_dropped(self.fingerprinter)
            seen = self.settings.seen_file(crawler.spider)
            if seen and self.is_run:
                self._make_earlier(seen, self.fingerprinter)
        left = self.settings.take_up_file(crawler.spider)
        if left and self.is_run:
            self._take_up(left)
        if self.canonicalizer.configuration.sets(SKIP):
            self._make_skip()
        if self.settings.clean_param:
            from scrapy_urlcanon.crawl.declared.clean_param import CleanParamRules

            self._clean_param = CleanParamRules(crawler, self.rule_changes)
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    def _note_resumed(self) -> None:
        """Set the stat of a job that an earlier run has used, before any part writes its files."""
        if self._is_job:
            from scrapy_urlcanon.crawl.job.job_files import is_resumed

            if is_resumed(Path(self._crawler.settings["JOBDIR"])):
                Stat.JOB_RESUMED.set(self._crawler, 1)

    def _make_order(self) -> None:
        """Make the order of the crawl, if one is set; else check that the job has none."""
        if self.settings.order:
            from scrapy_urlcanon.crawl.order.progress import OrderedCrawl

            parts = (self.settings, self.unwritten, self.fingerprinter)
            self.ordered = OrderedCrawl(self._crawler, *parts, is_job=self._is_job)
        elif self._is_job:
            from scrapy_urlcanon.crawl.order.index import check_queue

            check_queue(Path(self._crawler.settings["JOBDIR"]))

    def _make_skip(self) -> None:
        """Make the part that skips requests."""
        from scrapy_urlcanon.crawl.skip import SkippedRequests

        # Kept in an attribute, since signals only have weak references.
        self._skipped = SkippedRequests(
            self._crawler,
            self.canonicalizer,
            self.canonical_urls,
            self.settings.skip_places,
            on_skipped=self.sampling_audit.dropped if self.sampling_audit else None,
        )

    def _make_safeguards(self, fingerprints: PageFingerprints) -> None:
        """Make the parts that ensure that no page is lost."""
        settings, crawler = self.settings, self._crawler
        compares = settings.audit or settings.declared_canonical
        recovers = self._is_job and settings.job_journal
        if recovers:
            from scrapy_urlcanon.crawl.job.job import JobRecovery
            from scrapy_urlcanon.crawl.job.last_run import can_be_taken_up

            recovers = can_be_taken_up(crawler.settings)
        if not (settings.rescue or compares or recovers):
            return
        is_whole = is_local(crawler.settings)
        if self._is_job and not recovers:
            from scrapy_urlcanon.crawl.job.job_files import has_begun

            is_whole = is_whole and not has_begun(Path(crawler.settings["JOBDIR"]))
        self.requests = PageRequests(
            crawler,
            fingerprints,
            settings,
            is_whole=is_whole,
            make_lives=self._shared.lives if self._shared else PageLives,
        )
        if compares:
            self._make_checks(fingerprints, self.requests)
        if recovers and self._job_rules:
            self.job = JobRecovery(
                crawler,
                fingerprints,
                self.requests,
                self.unwritten,
                rules=self._job_rules,
                merged=self.audit.merged if self.audit else tuple,
                records_start=settings.record_start,
            )
            if self.ordered and self.job.is_made_anew:
                self.ordered.makes_job_anew()

    def _make_software(self, fingerprints: PageFingerprints) -> None:
        """Make the part that recognises the programs of sites."""
        # This preset promises to merge nothing that Scrapy keeps apart.
        if not self.settings.profiles or self.canonicalizer.configuration.preset == "scrapy":
            return
        from scrapy_urlcanon.crawl.software.known_software import KnownSoftware

        self.software = KnownSoftware(
            self._crawler,
            self.settings.chosen_profiles,
            fingerprints,
            self.rule_changes,
            requests=self.requests,
            records_start=self.settings.record_start,
            make_parts=partial(self._make_parts, fingerprints),
            on_recognised=self._on_recognised,
        )
        if self._job_rules:
            for installation in self._job_rules.recognised(self.settings.chosen_profiles):
                self.software.restore(installation)
            self._suspect(self.software.installations)

    def _make_parts(self, fingerprints: PageFingerprints) -> PartsOfPages:
        from scrapy_urlcanon.crawl.software.parts_of_pages import PartsOfPages

        parts = PartsOfPages(self._crawler, self.canonical_urls, fingerprints, self.settings)
        if self.requests:
            self.requests.on_had.append(parts.had)
        if self.job:
            self.job.parts = parts
        return parts

    def _take_up(self, path: Path) -> None:
        """Make the part that schedules the requests in the file at *path*, after a killed job's."""
        from scrapy_urlcanon.crawl.order.left import take_up

        is_own = self.ordered is not None and self.ordered.is_left_in(path)
        is_known = self.job is not None and self.job.is_made_anew
        take_up(self._crawler, path, is_own=is_own, is_known=is_known)

    def _make_earlier(self, path: Path, fingerprints: PageFingerprints) -> None:
        """Make the part that refuses pages which earlier runs have got."""
        from scrapy_urlcanon.crawl.earlier.pages import EarlierPages

        self.earlier = EarlierPages(
            self._crawler,
            path,
            settings=self.settings,
            fingerprints=fingerprints,
            requests=self.requests,
            rule_changes=self.rule_changes,
            on_variant=self._on_variant_of_earlier,
        )

    def _make_checks(self, fingerprints: PageFingerprints, requests: PageRequests) -> None:
        """Make the parts that compare the contents of pages."""
        from scrapy_urlcanon.crawl.checks.audit import Audit
        from scrapy_urlcanon.crawl.checks.kept_contents import KeptContents
        from scrapy_urlcanon.crawl.checks.page_contents import PageContents

        settings = self.settings
        contents = PageContents(
            requests,
            fingerprints,
            settings.audit_max_pages,
            settings.audit_max_size,
            make_contents=self._shared.contents if self._shared else KeptContents,
        )
        self.contents = contents
        self.audit = Audit(
            self._crawler,
            settings=settings,
            canonicalizer=self.canonicalizer,
            fingerprints=fingerprints,
            requests=requests,
            contents=contents,
            rule_changes=self.rule_changes,
        )
        if settings.declared_canonical:
            from scrapy_urlcanon.crawl.declared.declared_canonicals import (
                DeclaredCanonicalPages,
            )

            self.declared_canonicals = DeclaredCanonicalPages(
                self._crawler,
                settings=settings,
                canonical_urls=self.canonical_urls,
                fingerprints=fingerprints,
                requests=requests,
                contents=contents,
                rule_changes=self.rule_changes,
                audit=self.audit,
            )
        listening = (self._shared, self.recorder, self.declared_canonicals)
        self.audit.on_audited += (part.audited for part in listening if part)

    @classmethod
    def of(
        cls, crawler: Crawler, fingerprinter_class: type[PageFingerprints] | None = None
    ) -> Crawl:
        """Return the crawl of *crawler*, made by the first call.

        :param fingerprinter_class: the class of the fingerprinter that is being constructed. By
            default the one in the settings, if it is ours.
        """
        crawl = getattr(crawler, _ATTRIBUTE, None)
        if not isinstance(crawl, cls):
            crawl = cls(crawler, fingerprinter_class or _class_in_settings(crawler))
            setattr(crawler, _ATTRIBUTE, crawl)
        return crawl

    @property
    def order(self) -> Order | None:
        """The order of the crawl, if one is set."""
        return self.ordered.order if self.ordered else None

    @property
    def reads_pages(self) -> bool:
        """Whether any part reads the text of pages."""
        return any((self.recorder, self.contents, self.order))

    @property
    def sampling_audit(self) -> Audit | None:
        """The audit, if it fetches a share of what is dropped.

        None if it only compares pages for other parts.
        """
        return self.audit if self.settings.audit else None

    def fingerprinter_of(self, kind: type[F]) -> F:
        """Return the fingerprinter of the crawl, or a new one if that is not of this *kind*."""
        made = self.fingerprinter
        return made if isinstance(made, kind) else self._make(kind)

    def spider_opened(self) -> None:
        """Start the parts: the scheduler is open, and nothing is scheduled yet."""
        obey_meta(self._crawler)
        self._hear_of_drops()
        if self.fingerprinter and self.dropped:
            self.first_urls.watch(
                self._crawler, self.fingerprinter, on_foreign=self.dropped.counts.disown
            )
            keep_apart(self._crawler, self._fallback, self.fingerprinter, has_former=self._former)
        if self._shared:
            audit = self.audit
            suspend = audit.suspension.suspended_elsewhere if audit else self.rule_changes.suspend
            hear = audit.verdicts.count_from_other_process if audit else None
            self._shared.begin(self.first_urls, self.canonical_urls.of, suspend, hear)
        if self.earlier:
            self.earlier.begin(self.canonicalizer.configuration)
        if self.job:
            self.job.resume()
        warn_of_another(self._crawler)
        if self.is_run:
            for doubt in self.settings.doubts():
                logger.warning("%s", doubt, extra={"spider": self._crawler.spider})

    # Who is told of what, in this order.

    def _hear_of_drops(self) -> None:
        """Report drops to the part that attributes them, or to the others if there is none."""
        if self.dropped:
            hear_of_drops(self._crawler, self.dropped.request_dropped)
            return
        for part in (self.order, self.recorder):
            if part:
                hear_of_drops(self._crawler, part.request_dropped)

    def _make_dropped(self, fingerprints: PageFingerprints) -> None:
        rescue = self.requests if self.settings.rescue else None
        audit = self.sampling_audit
        declared = self.declared_canonicals
        listening = (self.order, rescue, audit, declared, self.recorder)
        self.dropped = DroppedDuplicates(
            self.canonicalizer,
            fingerprints,
            DropCounts(self._crawler),
            declared_by=declared.declared_by if declared else None,
            linking_pages=self.linking_pages,
            orphans=self.audit.suspension.orphans if self.audit else (),
            listeners=[part.dropped for part in listening if part],
            changes_urls=self.settings.changes_urls,
        )
        self.rule_changes.on_change.append(self.dropped.forget)

    def _on_variant_of_earlier(self, request: Request, url: str) -> None:
        """Let the audit check that *request* is for the page that an earlier run got by *url*."""
        if self.sampling_audit and self.dropped:
            self.sampling_audit.answered(self.dropped.replaced(request, url))

    def _on_recognised(self, host: str, found: tuple[Installation, ...]) -> None:
        if self._job_rules:
            self._job_rules.recognise(host, found)
        self._suspect(found)

    def _suspect(self, found: tuple[Installation, ...]) -> None:
        """Let the order expect little of what is usually a duplicate in these programs."""
        if self.order:
            self.order.suspicions.recognised(found)

    # Rules and fingerprinter.

    def _guarded_configuration(self) -> Configuration:
        """Return the rules to crawl under, checked against those of what is already stored."""
        settings, spider = self._crawler.settings, self._crawler.spider
        configuration, mode = self.settings.configuration, self.settings.job_rules
        if self._shared:
            configuration = self._shared.guard(configuration, mode)
        if self._is_job:
            from scrapy_urlcanon.crawl.job.job_rules import JobRules

            self._job_rules = JobRules(settings, self.unwritten)
            configuration = self._job_rules.guard(configuration, mode)
        if spider and any(map(settings.getbool, STORES)):
            from scrapy_urlcanon.crawl.job.guarded_stores import guard_stores

            self._former = guard_stores(settings, configuration, mode, spider.name, self.unwritten)
        return configuration

    def _make_fallback(self) -> None:
        """Make the fallback fingerprinter.

        A fallback that wraps a fingerprinter of ours asks this crawl for one while it is being
        built. It gets one over Scrapy's own (:meth:`fingerprinter_of`).
        """
        self._fallback = build_from_crawler(ScrapyRequestFingerprinter, self._crawler)
        named = self.settings.fallback_request_fingerprinter_class
        if named and not issubclass(named, PageFingerprints):
            setattr(self._crawler, _ATTRIBUTE, self)
            self._fallback = build_from_crawler(named, self._crawler)

    def _make(self, kind: type[F]) -> F:
        return kind(self.canonicalizer, self.canonical_urls, self.first_urls, self._fallback)

    def _make_rule_changes(self) -> RuleChanges:
        """Make the part that changes rules; suspend what earlier runs of the job suspended."""
        changes = RuleChanges(self.canonicalizer)
        if self.fingerprinter:
            changes.on_change.append(self.fingerprinter.forget)
        if self._shared:
            changes.on_suspend.append(self._shared.suspended)
        if self._job_rules:
            for entry, domain in self._job_rules.suspended:
                changes.suspend(entry, domain)
            changes.on_suspend.append(self._job_rules.suspend)
            self._crawler.signals.connect(self._job_rules.spider_closed, signals.spider_closed)
        return changes


def _class_in_settings(crawler: Crawler) -> type[PageFingerprints] | None:
    named = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
    return named if isinstance(named, type) and issubclass(named, PageFingerprints) else None
