"""Checks, while crawling, whether what the rules merge is one page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy import Request, signals

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.merging_entries import MergingEntries
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.answers import has_nothing, is_cut_short, is_refusal
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample, rank
from scrapy_urlcanon.crawl.checks.audit_verdicts import AuditVerdicts
from scrapy_urlcanon.crawl.checks.blame import Blame, Blamed
from scrapy_urlcanon.crawl.checks.case import AuditCase, AuditedPair, rounds_of
from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, parts_dropped
from scrapy_urlcanon.crawl.checks.skipped_pages import SkippedPages
from scrapy_urlcanon.crawl.checks.suspension import Suspension
from scrapy_urlcanon.crawl.checks.walls import Walls
from scrapy_urlcanon.crawl.own_requests import AUDIT, RELEASED, RESCUE, mark_of, marked, with_url
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.same_page import sampled_lines
from scrapy_urlcanon.pages.verdict import (
    CHANGED,
    NO_TEXT,
    RESTLESS,
    SHARED,
    Judgement,
    Side,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.entry_record import EntryRecord
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown

_NO_MERGE = MergingEntries((), is_joint=False)
_AT_ONCE = 200
"""Audits that begin when the spider is idle, before it is again: in a broad crawl thousands are due
then, for each of which the event loop is busy for a millisecond or two."""


class Audit:
    """Fetches some of the dropped variants and compares them with their representatives.

    The spider does not get a variant that is the same page. It gets one that is another page,
    which counts against the entry of the rules that merged the two; where several did, what tells
    them apart is fetched. An entry is suspended for a domain once a sequential test says that it
    merges more other pages than ``URLCANON_AUDIT_MAX_FALSE``. Then the variants that it had
    dropped, and that are remembered, are scheduled again. What is skipped has no representative:
    its page is looked for (:class:`.SkippedPages`).

    :param on_audited: is called with each variant that was audited.
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        settings: CrawlSettings,
        canonicalizer: Canonicalizer,
        fingerprints: PageFingerprints,
        first_urls: FirstUrls,
        requests: PageRequests,
        contents: PageContents,
        rule_changes: RuleChanges,
        stats: CrawlStats,
        on_audited: Callable[[AuditedPair], None],
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._first_urls = first_urls
        self._requests = requests
        self._contents = contents
        self._on_audited = on_audited
        self._stats = stats
        self._sample = AuditSample(canonicalizer, settings.audit, settings.audit_max_false)
        self.sites = self._sample.records.sites
        """What is known of the pages of each domain."""
        self._cases: dict[str, AuditCase] = {}
        self._rounds = rounds_of(crawler.settings)
        self._variants = DroppedVariants(settings, stats)
        self.held = HeldResponses(settings.pending_max_bytes)
        """What was fetched of variants that may yet be let through."""
        self.suspension = Suspension(
            crawler,
            canonicalizer=canonicalizer,
            fingerprints=fingerprints,
            first_urls=first_urls,
            requests=requests,
            rule_changes=rule_changes,
            stats=stats,
            variants=self._variants,
            held=self.held,
            take_under_way=self._take_under_way,
        )
        self.verdicts = AuditVerdicts(self._sample, self.suspension, stats)
        self._blame = Blame(
            canonicalizer,
            records=self._sample.records,
            contents=contents,
            variants=self._variants,
            held=self.held,
        )
        self._skipped: SkippedPages | None = None
        if canonicalizer.configuration.sets(SKIP):
            self._skipped = SkippedPages(
                crawler,
                settings,
                fingerprints=fingerprints,
                requests=requests,
                contents=contents,
                sites=self.sites,
                held=self.held,
            )
        # Signals hold their receivers weakly.
        self._walls = Walls(crawler, self._variants, contents, self._sample.budget, stats)
        requests.on_renamed.append(self.renamed)
        crawler.signals.connect(self.spider_idle, signals.spider_idle)
        crawler.signals.connect(self.verdicts.complete, signals.spider_closed)

    def merged(self) -> Iterator[Request]:
        """Yield what was dropped and is to be let through if what merged it proves wrong."""
        yield from (drop.request for drop in self._variants.drops)
        for case in self._cases.values():
            if not case.is_got and not case.on_verdict:
                yield case.drop.request

    def renamed(self, names: Mapping[bytes, bytes]) -> None:
        """Take over that pages are known by other *names*: the rules changed."""
        self.sites.forget_pages(names.keys())
        for case in self._cases.values():
            case.rename(names)
        renamed = (drop for drop in tuple(self._variants.drops) if drop.fingerprint in names)
        for drop in renamed:
            self._variants.replace(self._attributed(drop, names[drop.fingerprint]))

    def _attributed(self, drop: Drop, page: bytes) -> Drop:
        """Return *drop* as one of *page*, the name of its page now, for which another URL stands.

        What makes the two one may be other entries than before.
        """
        request, drop = drop.request, drop._replace(fingerprint=page)
        if drop.is_declared or drop.is_skipped or self._fingerprints.page(request) != page:
            return drop
        first = self._first_urls.of(page) or self._fingerprints.canonical(request.url)
        drop = drop._replace(first=first)
        return drop._replace(entries=frozenset(self._sample.merging_entries(drop).entries))

    # Which variants are fetched.

    def dropped(self, drop: Drop) -> None:
        """Choose the dropped variants to audit, and remember the others."""
        mark = mark_of(drop.request, AUDIT)
        case = mark and self._cases.get(mark["case"])
        if mark and case and case.is_waiting_for(mark):
            # It was redirected to itself, or another middleware made of it what was sent before.
            self._take(case, None)
        if self.suspension.releases(drop) or not drop.entries:
            # Nearly all drops are of the very same URL: no rule merged anything.
            return
        self._sample.note(drop)
        case = self._cases.get(drop.request.url)
        if case and not case.on_verdict and case.drop.fingerprint == drop.fingerprint:
            # What becomes of it is told when that ends: pages link one URL again and again.
            return
        if self._is_auditable(drop) and (self._sample.may_repeat(drop) or not self._audit(drop)):
            is_new = not self._variants.has(drop.request)
            self._variants.remember(drop)
            order = self._sample.pass_over(drop) if is_new else None
            if order is not None:
                page = None if self._is_had(drop) else self._fingerprints.page(drop.request)
                self._variants.postpone(drop.request, order, page)

    def _is_auditable(self, drop: Drop) -> bool:
        page = self._fingerprints.page(drop.request)
        if page is None or self._requests.is_missed(page) or drop.is_declared:
            return False
        # A start URL may fit a template that skips: it tells nothing of the others.
        return not drop.is_skipped or not self._requests.is_had(page)

    def _is_had(self, drop: Drop) -> bool:
        page = self._fingerprints.page(drop.request)
        return drop.is_skipped or bool(page and self._requests.is_had_for(drop.request, page))

    def _audit(self, drop: Drop, *, at_any_cost: bool = False) -> bool:
        """Audit *drop* if it is chosen; return whether it is."""
        page = self._fingerprints.page(drop.request)
        if page is None or not self._is_had(drop):
            self._sample.have_wait(drop)
            return False
        return self._begin(page, drop, at_any_cost=at_any_cost)

    def declared(self, drop: Drop, page: bytes) -> None:
        """Compare *drop* with *page*, which was fetched and declares it, if it is chosen."""
        self._sample.note(drop)
        self._begin(page, drop)

    def compare(
        self,
        drop: Drop,
        page: bytes,
        reference: PageDigest,
        shown: Shown | None,
        on_verdict: Callable[[Judgement], None],
        *,
        at_any_cost: bool,
    ) -> bool:
        """Compare *page* and that of *drop*, both of which the spider has, if there is room.

        :param reference: what *page* showed.
        :param shown: what the other one showed, where that is not to be fetched for it.
        :param on_verdict: is called with the verdict.
        :return: whether it is under way, or there is a verdict.
        """
        url = drop.request.url
        is_affordable = at_any_cost or self._sample.is_affordable(Need.SUSPECTED, more=1)
        if url in self._cases or not is_affordable:
            return False
        self._sample.begin(url, [])
        case = AuditCase(drop, page, _NO_MERGE, next(self._rounds), on_verdict=on_verdict)
        self._cases[url] = case
        comparison = case.compare_with(reference, self.sites.noise_of(drop.domain))
        self._go_on_comparing(case, comparison.add(Side.VARIANT, shown) if shown else Side.VARIANT)
        return True

    def _go_on_comparing(self, case: AuditCase, judgement: Judgement | Side) -> None:
        if isinstance(judgement, Side):
            self._fetch_side(case, judgement)
        elif case.on_verdict:
            self._close(case)
            case.on_verdict(judgement)

    def note(self, request: Request, response: Response) -> None:
        """Note that *request* stands for its page, which the spider gets."""
        page = self._requests.pages.own(request)
        if page is None or has_nothing(response):
            return
        self._sample.budget.pages += 1
        domain = domain_of(response.url)
        if domain in self.sites:
            lines, _ = sampled_lines(self._contents.read(response))
            self.sites.saw(domain, page, lines)
        if self._skipped:
            self._follow(self._skipped.note(request.url, self._contents.read(response)))
        if mark_of(request, RESCUE):
            self._variants.forget(request)
            self._first_urls.replace(page, request.url)
        self._variants.came(page)
        self._go_on_with_the_sample()

    def answered(self, drop: Drop) -> None:
        """Note that the spider gets what the other URL of *drop* showed, as if that came first."""
        if drop.fingerprint == self._fingerprints.page(drop.request, drop.first):
            self._first_urls.replace(drop.fingerprint, drop.first)
            self.dropped(drop)

    def spider_idle(self) -> None:
        """Audit what waits for more pages: there will be none.

        What is being fetched by now does not come: a middleware that raises at a response is not
        heard of here, nor one that lets it vanish.
        """
        for case in [case for case in self._cases.values() if case.is_fetching]:
            if self._cases.get(case.drop.request.url) is case:
                self._take(case, None)
        if self._skipped:
            self._follow(self._skipped.go_on())
        self._sample.wait_no_more()
        self._variants.all_came()
        self._go_on_with_the_sample(at_any_cost=True)

    def _go_on_with_the_sample(self, *, at_any_cost: bool = False) -> None:
        """Audit what had to wait, as far as that is affordable by now."""
        for record in self._sample.take_waiting(at_any_cost=at_any_cost):
            drops = self._found_for(record)
            if record.is_suspect:
                # It may be wrong for some of these pages alone, such as the last ones.
                drops.sort(key=rank)
            # That which tells of most of the entries that wait.
            for drop in sorted(drops, key=self._sample.order_for(record)):
                # It may have had no part in the merge, and others that are due have.
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
        """Return what may tell of the entry of *record*: of the sections where it is looked for."""
        find = partial(self._variants.find, record.domain)
        can_tell = partial(self._can_tell_of, record)
        is_told_in = record.section_test()
        return find(lambda drop: is_told_in(drop.request.url) and can_tell(drop)) or find(can_tell)

    def _can_tell_of(self, record: EntryRecord, drop: Drop) -> bool:
        return self._sample.is_due(record, drop) and self._is_had(drop)

    # One variant after the other, from fetch to verdict.

    def _begin(self, page: bytes, drop: Drop, *, at_any_cost: bool = False) -> bool:
        """Begin to compare *drop* with *page* if it is chosen; return whether it is."""
        url = drop.request.url
        if drop.fingerprint == page and not drop.is_skipped:
            # Another URL may stand for the page than when it was dropped: that one failed.
            drop = drop._replace(first=self._first_urls.of(page) or drop.first)
        if url in self._cases:
            return False
        merged_by = self._sample.choose(drop, at_any_cost=at_any_cost)
        if merged_by is None:
            return False
        # Of several requests for it the first one is what Scrapy alone would have sent.
        drop = drop._replace(request=self._variants.forget(drop.request) or drop.request)
        case = self._cases[url] = AuditCase(drop, page, merged_by, next(self._rounds))
        reference = self._contents.of_first(page)
        if reference:
            case.compare_with(reference, self.sites.noise_of(drop.domain), self._contents.common)
        # Else it was fetched by an earlier run of the job, or what it showed is forgotten, or it
        # is yet to be fetched.
        self._fetch_side(case, Side.VARIANT if reference or drop.is_skipped else Side.KEPT)
        return True

    def _fetch_side(self, case: AuditCase, side: Side) -> None:
        case.side = side
        self._fetch(case, case.drop.request.url if side is Side.VARIANT else case.drop.first)

    def _fetch(self, case: AuditCase, url: str) -> None:
        case.fetches += 1
        case.is_fetching = True
        mark = {"case": case.drop.request.url, "round": case.round, "number": case.fetches}
        request = marked(case.drop.request, AUDIT, url, **mark)
        # Before what waits: what it tells may spare fetches, and what was told is told sooner.
        request.priority += 1
        self._stats.inc(Stat.AUDIT_FETCHES)
        self._crawler.engine.crawl(request)

    def _follow(self, told: Iterable[tuple[AuditCase, Judgement | Side]]) -> None:
        """Do what is *told* of each case: fetch that side, or end with that verdict."""
        for case, judgement in told:
            if isinstance(judgement, Side):
                self._fetch_side(case, judgement)
            else:
                self._conclude(case, judgement)

    def _follow_blame(self, case: AuditCase, told: str | Blamed) -> None:
        if isinstance(told, Blamed):
            self._conclude(case, *told)
        else:
            self._fetch(case, told)

    def fetched(self, request: Request, response: Response | None) -> bool:
        """Take over what an audit fetched; return whether the spider is to get it.

        Not what it has already, or did not ask for.

        :param request: one with a mark of the audit.
        :param response: None if it failed.
        """
        mark = mark_of(request, AUDIT) or {}
        case = self._cases.get(mark["case"])
        if response is not None:
            # As the engine will. It may be held for the spider, with what is noted there.
            response.request = request
        if case is None or not case.is_waiting_for(mark):
            # Of a run before, which was killed; or the variant was let through meanwhile.
            if response is not None and not has_nothing(response):
                self.held.hold(mark["case"], response)
            return False
        return self._take(case, response)

    def _take(self, case: AuditCase, response: Response | None) -> bool:
        """Take over what was fetched for *case*; return whether the spider is to get it."""
        case.is_fetching = False
        if case.found:
            self._follow_blame(case, self._blame.go_on(case, case.found, response))
            return False
        judgement = self._judge(case, response)
        if judgement is None:
            self._sample.pause(case.drop.request.url, case.fetches)
            return False
        if case.on_verdict or isinstance(judgement, Side):
            self._go_on_comparing(case, judgement)
            return False
        return self._end(case, judgement)

    def _judge(self, case: AuditCase, response: Response | None) -> Judgement | Side | None:
        """Return what is to be said of a variant, or fetched for that; None if it is to wait."""
        if response is None or has_nothing(response):
            case.is_refused = is_refusal(response)
        elif is_cut_short(response):
            case.note_part(response)
        else:
            return self._compare(case, response)
        return case.failed()

    def _compare(self, case: AuditCase, response: Response) -> Judgement | Side | None:
        """Return what a page tells of a variant, or is to be fetched next; None as above."""
        shown = self._contents.shown(response)
        if self._skipped and case.drop.is_skipped and case.comparison is None:
            return self._skipped.judge(case, response, shown)
        if case.side is Side.VARIANT:
            case.response = case.response or response
        if case.comparison is None:
            if self._contents.common.is_elsewhere(shown.digest, case.page, case.url_of_side):
                return Judgement(Verdict.CANNOT_TELL, SHARED)
            case.compare_with(
                shown.digest, self.sites.noise_of(case.drop.domain), self._contents.common
            )
            return Side.VARIANT
        judgement = case.comparison.add(case.side, shown)
        if self._contents.common.is_elsewhere(shown.digest, case.page, case.url_of_side):
            dropped = parts_dropped(case.drop.request.url, case.drop.first)
            self.sites.of(case.drop.domain).note_shared(shown.texts, dropped)
        if isinstance(judgement, Side) and case.is_exhausted:
            return Judgement(Verdict.CANNOT_TELL, RESTLESS)
        return judgement

    def _end(self, case: AuditCase, judgement: Judgement) -> bool:
        """Take over a verdict, and return whether the spider is to get the variant."""
        drop = case.drop
        if judgement.verdict is not Verdict.ANOTHER:
            is_first = case.side is Side.VARIANT and not case.has_control
            case.is_got = judgement.reason == NO_TEXT and is_first
            self._conclude(case, judgement)
            return case.is_got
        other = OtherPage(drop.request.url, drop.first, judgement.own)
        site = self.sites.of(drop.domain)
        case.is_got = site.is_new(case.page, other, judgement.lacking)
        if not case.is_got:
            reason = "what it shows of its own another one showed before"
            self._conclude(case, Judgement(Verdict.CANNOT_TELL, reason))
        elif case.merged_by.is_joint or len(case.merged_by.entries) == 1:
            self._conclude(case, judgement)
        else:
            self._follow_blame(case, self._blame.begin(case, judgement))
        return case.is_got

    def _conclude(
        self, case: AuditCase, judgement: Judgement, guilty: RuleEntry | None = None
    ) -> None:
        """End a case with a verdict over the *guilty* entry, or all of those that merged it."""
        entries = (guilty,) if guilty else case.merged_by.entries
        drop, url = case.drop, case.drop.request.url
        self._close(case)
        pair = AuditedPair(url, drop.first, entries, drop.domain, judgement, case.page)
        self._on_audited(pair)
        if judgement.verdict is not Verdict.CANNOT_TELL or case.has_control:
            self._sample.is_answered = True
        case.is_refused |= judgement.reason == CHANGED
        self._sample.told(url, is_refused=case.is_refused and not pair.is_same)
        self.verdicts.count(case, pair)
        self._sample.go_on_with(entries, drop.domain)
        self._go_on_with_the_sample()
        is_told = pair.is_same and not case.may_differ_in_little(self._contents)
        if case.is_got or (is_told and not self._sample.may_doubt(entries, drop.domain)):
            return
        if not pair.is_same:
            self.held.hold(url, case.response)
            is_file = case.is_of_files and judgement.reason != SHARED
            if (case.is_refused or is_file or case.is_undecided(judgement)) and case.response:
                # It looks different, and no control says more: the spider is to have it.
                self._stats.inc(Stat.AUDIT_FETCHES)
                self._crawler.engine.crawl(marked(drop.request, RELEASED, in_doubt=True))
                return
        # In case what merged it proves wrong.
        self._variants.remember(drop)

    def _close(self, case: AuditCase) -> None:
        """Forget *case*, of which nothing more is fetched."""
        del self._cases[case.drop.request.url]
        self._sample.ended(case.drop.request.url, case.fetches - case.is_got)
        if self._skipped and case.drop.is_skipped:
            self._skipped.ended(case)

    def _take_under_way(self, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """End the cases that need no verdict any more; return what the spider lacks of them."""
        drops = []
        for url, case in tuple(self._cases.items()):
            if not case.on_verdict and is_meant(case.drop):
                self._sample.give_back(url)
                self._close(case)
                if case.is_got:
                    record_as_seen(self._crawler, with_url(case.drop.request, url))
                else:
                    self.held.hold(url, case.response)
                    drops.append(case.drop)
        return drops
