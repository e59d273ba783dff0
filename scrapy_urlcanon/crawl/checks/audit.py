"""Checks during the crawl whether the URLs that a rule merges show the same page.

The centre of this package: it hears of each drop, page and verdict. :class:`.AuditSample` chooses
what is audited, :class:`.AuditCases` carries an audit out, and :class:`.AuditVerdicts` counts the
result for the entries that merged the URLs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import define, field
from scrapy import Request, signals

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.answers import has_nothing
from scrapy_urlcanon.crawl.checks.audit_cases import AuditCases
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample, rank
from scrapy_urlcanon.crawl.checks.audit_verdicts import AuditVerdicts
from scrapy_urlcanon.crawl.checks.blame import Blame
from scrapy_urlcanon.crawl.checks.case import rounds_of
from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
from scrapy_urlcanon.crawl.checks.entries.suspension import Suspension
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
from scrapy_urlcanon.crawl.checks.skipped_pages import SkippedPages
from scrapy_urlcanon.crawl.checks.walls import Walls
from scrapy_urlcanon.crawl.own_requests import RESCUE, REWRITTEN, mark_of
from scrapy_urlcanon.crawl.scheduling.engine import on_idle
from scrapy_urlcanon.pages.same_page import sampled_lines
from scrapy_urlcanon.pages.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.checks.case import AuditCase, AuditedPair
    from scrapy_urlcanon.crawl.checks.entries.record import EntryRecord
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings

_AT_ONCE = 200
"""No more audits are begun at an idle signal once this many are under way. In a broad crawl
thousands are due then, and each occupies the event loop for a millisecond or two."""


@define(eq=False, slots=False)
class Audit:
    """Fetches some of the dropped variants and compares them with their representatives.

    If the variant shows the same page the spider does not get it. If it shows another page the
    spider gets it, and that counts against the entry that merged the two; if several entries did,
    further URLs are fetched to find the one to blame. An entry is suspended for a domain once a
    sequential test shows that its rate of false merges exceeds ``URLCANON_AUDIT_MAX_FALSE``. The
    variants that it had dropped are then scheduled again, as far as they are remembered.
    """

    _crawler: Crawler
    _settings: CrawlSettings
    _canonicalizer: Canonicalizer
    _fingerprints: PageFingerprints
    _requests: PageRequests
    _contents: PageContents
    _rule_changes: RuleChanges
    on_audited: list[Callable[[AuditedPair], None]] = field(init=False, factory=list)
    """Called with the result for each variant that was audited."""

    def __attrs_post_init__(self) -> None:
        crawler, settings, contents = self._crawler, self._settings, self._contents
        self._first_urls = self._fingerprints.first_urls
        self._sample = AuditSample(self._canonicalizer, settings.audit, settings.audit_max_false)
        self.sites = self._sample.records.sites
        """The evidence about the pages of each domain."""
        self._variants = DroppedVariants(crawler, settings, self._fingerprints)
        self.held = HeldResponses(settings.pending_max_bytes, self._fingerprints.beside_rules)
        """Responses of audited variants that may yet be given to the spider."""
        self.cases = AuditCases(
            crawler,
            contents=contents,
            sample=self._sample,
            sites=self.sites,
            variants=self._variants,
            held=self.held,
            blame=Blame(
                self._canonicalizer,
                records=self._sample.records,
                contents=contents,
                variants=self._variants,
                held=self.held,
                first_urls=self._first_urls,
            ),
            skipped=self._make_skipped(),
            on_concluded=self._concluded,
            rounds=rounds_of(crawler.settings),
        )
        """The audits under way."""
        self.suspension = Suspension(
            crawler,
            canonicalizer=self._canonicalizer,
            fingerprints=self._fingerprints,
            requests=self._requests,
            rule_changes=self._rule_changes,
            take=self._take,
        )
        self.verdicts = AuditVerdicts(self._sample, self.suspension, crawler)
        # Signals hold their receivers weakly.
        self._walls = Walls(crawler, self._variants, contents, self._sample.budget)
        self._requests.on_renamed.append(self.renamed)
        on_idle(crawler, self.spider_idle, awaits_start=True)
        crawler.signals.connect(self.verdicts.complete, signals.spider_closed)

    def _make_skipped(self) -> SkippedPages | None:
        """Make the part that searches the pages of skipped URLs, if a rule skips any."""
        if not self._canonicalizer.configuration.sets(SKIP):
            return None
        return SkippedPages(
            self._crawler,
            self._settings,
            fingerprints=self._fingerprints,
            requests=self._requests,
            contents=self._contents,
            sites=self.sites,
            held=self.held,
        )

    def merged(self) -> Iterator[Request]:
        """Yield the dropped requests that may yet be let through, if an entry proves wrong."""
        yield from (drop.request for drop in self._variants.drops)
        yield from self.cases.lacking()

    def _take(self, domain: str, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """Remove and return the drops on *domain* for which *is_meant* is true."""
        drops = [*self.cases.take(is_meant), *self._variants.take(domain, is_meant)]
        # The first one let through becomes the representative of its page. Those with a held
        # response go first: the server may refuse to send that again.
        return sorted(drops, key=lambda drop: self.held.get(drop.request.url) is None)

    def renamed(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*, after the rules have changed."""
        self.sites.forget_pages(names.keys())
        self.cases.rename(names)
        renamed = (drop for drop in tuple(self._variants.drops) if drop.fingerprint in names)
        for drop in renamed:
            self._variants.replace(self._attributed(drop, names[drop.fingerprint]))

    def _attributed(self, drop: Drop, page: bytes) -> Drop:
        """Return *drop* with *page*, its new fingerprint, and the matching first URL and entries.

        That page may have another representative, and other entries may have merged the two.
        """
        request, drop = drop.request, drop._replace(fingerprint=page)
        if drop.is_declared or drop.is_skipped or self._fingerprints.page(request) != page:
            return drop
        first = self._first_urls.of(page) or self._fingerprints.canonical(request.url)
        drop = drop._replace(first=first)
        return drop._replace(entries=frozenset(self._sample.merging_entries(drop).entries))

    def dropped(self, drop: Drop) -> None:
        """Start an audit of *drop* if it is chosen, and remember it otherwise."""
        self.cases.dropped(drop.request)
        if self.suspension.releases(drop):
            return
        drop = drop if drop.entries else self._as_got(drop)
        if not drop.entries:
            # Most drops are exact repetitions and have no entries.
            return
        self._sample.note(drop)
        if self.cases.decides_on(drop):
            # It is being audited, and was linked once more.
            return
        if self._is_auditable(drop) and (self._sample.may_repeat(drop) or not self._audit(drop)):
            is_new = not self._variants.has(drop.request)
            self._variants.remember(drop)
            order = self._sample.pass_over(drop) if is_new else None
            if order is not None:
                page = None if self._is_had(drop) else self._fingerprints.page(drop.request)
                self._variants.postpone(drop.request, order, page)

    def _as_got(self, drop: Drop) -> Drop:
        """Return *drop* with the entries that merged it with the URL that brought its page.

        For a drop of the URL that stands for the page. The callback may have got the page by
        another URL, as with ``URLCANON_REWRITE``, and may lack what this one shows.
        """
        page = self._fingerprints.page(drop.request)
        got = self._requests.got_by(drop.request, page)
        if not got or mark_of(drop.request, REWRITTEN):
            return drop
        entries = self._sample.merging_entries(drop._replace(first=got)).entries
        return drop._replace(entries=frozenset(entries))

    def _is_auditable(self, drop: Drop) -> bool:
        page = self._fingerprints.page(drop.request)
        if self._requests.lives.is_missed(page) or drop.is_declared:
            return False
        # A start URL that matches a template of `skip` was fetched. It says nothing about skipped
        # URLs.
        return not drop.is_skipped or not self._requests.lives.is_had(page)

    def _is_had(self, drop: Drop) -> bool:
        page = self._fingerprints.page(drop.request)
        return drop.is_skipped or self._requests.is_had_for(drop.request, page)

    def _audit(self, drop: Drop, *, at_any_cost: bool = False) -> bool:
        """Begin the audit of *drop* if it is chosen; return whether it has begun."""
        if not self._is_had(drop):
            self._sample.wait_for_page_of(drop)
            return False
        return self._begin(self._fingerprints.page(drop.request), drop, at_any_cost=at_any_cost)

    def declared(self, drop: Drop, page: bytes) -> None:
        """Begin to compare *drop* with *page*, which declares its URL as canonical."""
        self._sample.note(drop)
        self._begin(page, drop)

    def note(self, request: Request, response: Response) -> None:
        """Note that the spider gets *response* to *request*, and begin audits that waited."""
        page = self._requests.pages.own(request)
        if has_nothing(response):
            return
        self._sample.budget.pages += 1
        domain = domain_of(response.url)
        if domain in self.sites:
            lines, _ = sampled_lines(self._contents.read(response))
            self.sites.saw(domain, page, lines)
        self.cases.note(request.url, response)
        if mark_of(request, RESCUE):
            lacking = self._variants.of(request)
            if lacking and self._requests.is_for_one_callback(lacking, request):
                self._variants.forget(request)
            if self._requests.takes_its_place(request, page):
                self._first_urls.replace(page, request.url)
        self._variants.came(page)
        self._go_on_with_the_sample()

    def answered(self, drop: Drop) -> None:
        """Note that *drop* was answered with the content of another URL of its page.

        The HTTP cache, or an earlier run, had the page by that URL, which becomes its first URL.
        """
        page = drop.fingerprint
        if page == self._fingerprints.page(drop.request, drop.first):
            first = self._first_urls.of(page) or self._fingerprints.canonical(drop.first)
            if first != drop.first:
                self._contents.lend(page)
            self._first_urls.replace(page, drop.first)
            self._first_urls.unasked.add(page)
            self.dropped(drop)

    def spider_idle(self) -> None:
        """Begin the audits that waited for more pages, since no more will come."""
        self.cases.come_no_more()
        self._sample.wait_no_more()
        self._variants.all_came()
        self._go_on_with_the_sample(at_any_cost=True)

    def _go_on_with_the_sample(self, *, at_any_cost: bool = False) -> None:
        """Begin audits that had to wait, as far as the budget allows."""
        for record in self._sample.take_waiting(at_any_cost=at_any_cost):
            drops = self._found_for(record)
            if record.is_suspect:
                # In random order, since an entry may be wrong for some pages only, such as the
                # latest.
                drops.sort(key=rank)
            for drop in sorted(drops, key=self._sample.order_for(record)):
                # The audit that begins may be for other entries only.
                if self._audit(drop, at_any_cost=at_any_cost) and record.under_way:
                    break
            else:
                self._sample.put_off(record)
            if at_any_cost and self._sample.budget.under_way >= _AT_ONCE:
                return
        is_affordable = partial(self._sample.is_affordable, Need.SAMPLED)
        for drop in self._variants.take_postponed(self._is_had, is_affordable):
            self._audit(drop)

    def _found_for(self, record: EntryRecord) -> list[Drop]:
        """Return drops that may be audited for *record*, if possible from sections due next."""
        find = partial(self._variants.find, record.domain)
        can_tell = partial(self._can_tell_of, record)
        is_in_section = record.section_test()
        return find(lambda drop: is_in_section(drop.request.url) and can_tell(drop)) or find(
            can_tell
        )

    def _can_tell_of(self, record: EntryRecord, drop: Drop) -> bool:
        return self._sample.is_due(record, drop) and self._is_had(drop)

    def _begin(self, page: bytes, drop: Drop, *, at_any_cost: bool = False) -> bool:
        """Begin to compare *drop* with *page* if it is chosen; return whether it has begun."""
        got, has_kept = None, True
        if drop.fingerprint == page and not drop.is_skipped:
            # If the first URL has failed since, another URL is the representative now.
            first = self._first_urls.of(page) or drop.first
            # The callback may have got the page by a third URL, and lack what the first one shows.
            got = self._requests.got_by(drop.request, page)
            has_kept = got != drop.request.url
            if got == first or not has_kept:
                got = None
            drop = drop._replace(first=got or first)
        if drop.request.url in self.cases:
            return False
        merged_by = self._sample.choose(drop, at_any_cost=at_any_cost)
        if merged_by is None:
            return False
        # Of several requests for this URL, the first is the one that plain Scrapy would have sent.
        drop = drop._replace(request=self._variants.forget(drop.request) or drop.request)
        reference = None if got else self._contents.of_first(page)
        self.cases.begin(page, drop, merged_by, reference, has_kept=has_kept)
        return True

    def _concluded(self, case: AuditCase, pair: AuditedPair) -> None:
        """Count the verdict about *pair*, and begin the audits that now have room."""
        for listener in self.on_audited:
            listener(pair)
        if pair.judgement.verdict is not Verdict.CANNOT_TELL or case.has_control:
            self._sample.is_answered = True
        has_nothing_kept = case.comparison is None and self._contents.get(pair.page) is None
        if has_nothing_kept and self._requests.ask_anew(case.drop):
            # Once there is something, the variant can be compared with that.
            case.is_refused = True
        self._sample.note_audited(pair.url, is_refused=case.is_refused and not pair.is_same)
        self.verdicts.count(case, pair)
        self._sample.go_on_with(pair.entries, pair.domain)
        self._go_on_with_the_sample()
