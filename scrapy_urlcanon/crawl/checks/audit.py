"""Checks, while crawling, whether what the rules merge is one page."""

from __future__ import annotations

import logging
from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field
from scrapy import Request, signals

from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
from scrapy_urlcanon.crawl.checks.entry_record import EntryRecord, OtherPage
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, mark_of, marked, with_url
from scrapy_urlcanon.crawl.seen import forget_seen, record_as_seen
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.verdict import (
    MOST_FETCHES,
    NO_TEXT,
    Comparison,
    Judgement,
    Side,
    Verdict,
)
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.merge import Merge
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats
    from scrapy_urlcanon.pages.verdict import Noise

logger = logging.getLogger(__name__)

_ROWS = 20


class AuditedPair(NamedTuple):
    """What the audit found about one dropped variant."""

    url: str
    """The variant."""
    first: str
    """The URL that stood for it."""
    entries: tuple[RuleEntry, ...]
    """What makes the two one; of another page, what is to blame for that."""
    domain: str
    judgement: Judgement

    @property
    def is_same(self) -> bool:
        """Whether both show one page."""
        return self.judgement.verdict is Verdict.SAME


@define(eq=False)
class _Trial:
    """One dropped variant, from when it is fetched to its verdict."""

    drop: Drop
    page: bytes
    merge: Merge
    comparison: Comparison
    side: Side = Side.VARIANT
    """What is being fetched."""
    fetches: int = 0
    found: Judgement | None = None
    """What it was found to be, where it is not known yet which entry is to blame."""
    suspects: deque[RuleEntry] = field(factory=deque)
    """Those that may be, the next one first."""
    looks: deque[str] = field(factory=deque)
    """URLs that tell the suspected entry from the others, and that are still to be fetched."""
    failures: int = 0
    """How many of these fetches failed."""


class Audit:
    """Fetches some of the dropped variants and compares them with their representatives.

    The spider does not get a variant that is the same page. It gets one that is another page,
    which counts against the entry of the rules that merged the two; where several did, what tells
    them apart is fetched. An entry is suspended for a domain once a sequential test says that it
    merges more other pages than ``URLCANON_AUDIT_MAX_FALSE``. Then the variants that it had
    dropped, and that are remembered, are scheduled again.

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
        self._canonicalizer = canonicalizer
        self._fingerprints = fingerprints
        self._first_urls = first_urls
        self._requests = requests
        self._contents = contents
        self._rule_changes = rule_changes
        self._stats = stats
        self._on_audited = on_audited
        self._sample = AuditSample(canonicalizer, settings.audit, settings.audit_max_false)
        self._trials: dict[str, _Trial] = {}
        self._variants = DroppedVariants(settings, stats)
        # Of the sample, but when they were dropped audits had taken their share of the pages.
        self._postponed: deque[str] = deque(maxlen=settings.audit_max_pending)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def noise(self, domain: str) -> Noise:
        """Return what is known to be another at each visit on *domain*."""
        return self._sample.site(domain).noise

    # Which variants are fetched.

    def dropped(self, drop: Drop) -> None:
        """Choose the dropped variants to audit, and remember the others."""
        mark = mark_of(drop.request, AUDIT)
        if mark:
            # Another middleware made a request of it that was sent before.
            self._trials.pop(mark["trial"], None)
        page = self._fingerprints.page(drop.request)
        if page is None or self._requests.is_missed(page) or DECLARED_CANONICAL in drop.rules:
            return
        merge = self._sample.choose(drop)
        if merge is None:
            self._variants.remember(drop)
            if self._sample.has(drop):
                self._postponed.append(drop.request.url)
        elif self._requests.is_had(page):
            self._begin(page, drop, merge)
        else:
            self._variants.wait(page, drop)

    def takes(self, drop: Drop, page: bytes) -> bool:
        """Compare *drop* with *page*, which was fetched, if it is chosen; return whether it is."""
        merge = self._sample.choose(drop)
        if merge is None:
            return False
        self._begin(page, drop, merge)
        return True

    def had(self, page: bytes) -> None:
        """Send the variants that wait for *page*, which a callback has, by whatever request."""
        for drop in self._variants.take_waiting(page):
            self._begin(page, drop, self._sample.merge_of(drop))

    def note(self, request: Request, response: Response) -> None:
        """Note that *request* stands for its page, which the spider gets."""
        page = self._requests.page(request)
        if page is None or response.status >= HTTPStatus.BAD_REQUEST:
            return
        self._sample.pages += 1
        if mark_of(request, RESCUE):
            # This one stands for the page now.
            self._variants.stop_waiting(page, request.url)
        self._go_on_with_the_sample()

    def _go_on_with_the_sample(self) -> None:
        """Audit what had to wait, as far as the share allows by now."""
        for _ in range(len(self._postponed)):
            if not self._sample.is_affordable:
                break
            drop = self._variants.get(self._postponed.popleft())
            if drop:
                self.dropped(drop)

    # One variant after the other, from fetch to verdict.

    def _begin(self, page: bytes, drop: Drop, merge: Merge) -> None:
        url = drop.request.url
        self._variants.forget(url)
        reference = self._contents.get(page)
        if reference is None:
            self._variants.remember(drop)
        if reference is None or url in self._trials:
            return
        comparison = Comparison(reference, self.noise(drop.domain), drop.first, url)
        trial = self._trials[url] = _Trial(drop, page, merge, comparison)
        self._fetch_side(trial, Side.VARIANT)

    def _fetch_side(self, trial: _Trial, side: Side) -> None:
        trial.side = side
        self._fetch(trial, trial.drop.request.url if side is Side.VARIANT else trial.drop.first)

    def _fetch(self, trial: _Trial, url: str) -> None:
        trial.fetches += 1
        self._crawler.engine.crawl(
            marked(
                trial.drop.request,
                AUDIT,
                url,
                trial=trial.drop.request.url,
                number=trial.fetches,
            )
        )

    def is_known(self, request: Request, response: Response | None) -> bool:
        """Tell whether the spider has what an audit fetched already, or did not ask for it.

        :param request: one with a mark of the audit.
        :param response: None if it failed.
        """
        mark = mark_of(request, AUDIT) or {}
        trial = self._trials.get(mark["trial"])
        if trial is None or mark["number"] != trial.fetches:
            # Of a run before, which was killed.
            return True
        if trial.found:
            self._go_on(trial, trial.found, response)
            return True
        judgement = self._judge(trial, response)
        if isinstance(judgement, Side):
            self._fetch_side(trial, judgement)
            return True
        # The verdict may have come with the kept page.
        return not self._end(trial, judgement) or trial.side is Side.KEPT

    def _judge(self, trial: _Trial, response: Response | None) -> Judgement | Side:
        """Return what is to be said of a variant, or what is to be fetched for that."""
        is_variant = trial.side is Side.VARIANT
        if response is None or response.status >= HTTPStatus.BAD_REQUEST:
            which = "it" if is_variant else "the kept page"
            return trial.comparison.failed(trial.side, f"{which} failed when it was audited")
        shown = self._contents.shown(response)
        common = self._contents.common
        judgement = trial.comparison.add(trial.side, shown)
        is_same = isinstance(judgement, Judgement) and judgement.verdict is Verdict.SAME
        if is_variant and (
            common.has_several_pages(shown.digest)
            if is_same
            else common.has_several_paths(shown.digest)
        ):
            return Judgement(Verdict.CANNOT_TELL, "several pages show what it shows")
        return judgement

    def _end(self, trial: _Trial, judgement: Judgement) -> bool:
        """Take over a verdict, and return whether the spider is to get the variant."""
        drop, entries = trial.drop, trial.merge.entries
        if judgement.verdict is not Verdict.ANOTHER:
            self._conclude(trial, entries, judgement)
            if judgement.verdict is Verdict.CANNOT_TELL:
                self._variants.remember(drop)
            return judgement.reason == NO_TEXT
        is_new = self._sample.site(drop.domain).is_new(trial.page, judgement)
        if not is_new:
            reason = "what it shows of its own another one showed before"
            self._conclude(trial, entries, Judgement(Verdict.CANNOT_TELL, reason))
        elif trial.merge.is_joint or len(entries) == 1:
            self._conclude(trial, entries, judgement)
        else:
            trial.found = judgement
            records = {entry: self._sample.record(entry, drop.domain) for entry in entries}
            # The least proven first.
            trial.suspects.extend(
                sorted(entries, key=lambda e: (-len(records[e].others), records[e].same))
            )
            self._suspect(trial, judgement)
        return is_new

    def _suspect(self, trial: _Trial, found: Judgement) -> None:
        """Look at the next entry that may be to blame.

        One is if the two URLs still show two pages with all the others applied: what a URL looks
        like then is fetched, where it is not one of the two.
        """
        if not trial.suspects:
            reason = "another page, and no entry is to blame for it alone"
            judgement = found._replace(verdict=Verdict.CANNOT_TELL, reason=reason)
            self._conclude(trial, trial.merge.entries, judgement)
            return
        without = self._canonicalizer.canonicalize_without
        drop = trial.drop
        urls = {url: without(url, [trial.suspects[0]]) for url in (drop.request.url, drop.first)}
        trial.looks.extend(look for url, look in urls.items() if look != url)
        self._look(trial, found)

    def _look(self, trial: _Trial, found: Judgement) -> None:
        if trial.looks:
            self._fetch(trial, trial.looks[0])
        else:
            entry = trial.suspects.popleft()
            self._sample.record(entry, trial.drop.domain, is_guilty=True)
            self._conclude(trial, (entry,), found)

    def _go_on(self, trial: _Trial, found: Judgement, response: Response | None) -> None:
        """Take over what was fetched to tell the suspected entry from the others."""
        entry, drop = trial.suspects[0], trial.drop
        if response is None or response.status >= HTTPStatus.BAD_REQUEST:
            trial.failures += 1
            if trial.failures < MOST_FETCHES:
                self._look(trial, found)
                return
            reason = "another page, and what tells the entries apart failed"
            judgement = found._replace(verdict=Verdict.CANNOT_TELL, reason=reason)
            self._conclude(trial, trial.merge.entries, judgement)
            return
        look = trial.looks.popleft()
        is_variant = look == self._canonicalizer.canonicalize_without(drop.request.url, [entry])
        if self._contents.shown(response).has(found.own) is is_variant:
            self._look(trial, found)
            return
        self._sample.record(entry, drop.domain).add(None)
        trial.looks.clear()
        trial.suspects.popleft()
        self._suspect(trial, found)

    def _conclude(
        self, trial: _Trial, entries: tuple[RuleEntry, ...], judgement: Judgement
    ) -> None:
        """End a trial with a verdict over *entries*."""
        drop = trial.drop
        del self._trials[drop.request.url]
        self._sample.ended(trial.fetches)
        self._on_audited(AuditedPair(drop.request.url, drop.first, entries, drop.domain, judgement))
        self._count(drop, entries, judgement)
        for record in self._sample.records_of(entries, drop.domain):
            self._pursue(record, drop)
        self._go_on_with_the_sample()

    def _pursue(self, record: EntryRecord, last: Drop) -> None:
        """Audit another variant of an entry that is suspected, or of which nothing is known yet.

        No other one may be dropped from now on.
        """
        is_open = bool(record.others) or not record.judged
        is_under_way = record.chosen > record.judged + record.cannot_tell
        if is_open and not is_under_way and self._sample.is_awaited(record):
            drop = self._variants.find(
                lambda drop: (
                    drop.domain == record.domain
                    and record.entry in drop.entries
                    and drop.request.url != last.request.url
                )
            )
            if drop:
                self.dropped(drop)

    def _count(self, drop: Drop, entries: tuple[RuleEntry, ...], judgement: Judgement) -> None:
        """Count a verdict over *entries*, and suspend what it condemns."""
        records = self._sample.records_of(entries, drop.domain)
        if judgement.verdict is Verdict.CANNOT_TELL:
            self._stats.inc(Stat.AUDIT_UNJUDGED)
            for record in records:
                record.cannot_tell += 1
            return
        self._stats.inc(Stat.AUDITED)
        other = None
        if judgement.verdict is Verdict.ANOTHER:
            self._stats.inc(Stat.AUDIT_FALSE_MERGE)
            other = OtherPage(drop.request.url, drop.first, judgement.own)
        for record in records:
            record.add(other)
            if record.outcome is Outcome.FAILS:
                self._suspend(record)

    # What becomes of an entry that is wrong.

    def _suspend(self, record: EntryRecord) -> None:
        entry, domain = record.entry, record.domain
        is_known = entry.option in BY_NAME or entry.option == DECLARED_CANONICAL
        if not is_known or not self._rule_changes.suspend(entry, domain):
            return
        self._stats.inc(Stat.AUDIT_SUSPENDED, rule=str(entry))
        let_through = self._let_through(record)
        last = record.others[-1]
        logger.warning(
            "%(rule)s is off for %(domain)s from now on: of %(audited)s that are due to it, "
            "%(false)d were other pages, for example %(first)s and %(second)s. %(dropped)s that "
            "it had dropped, as far as they are remembered, %(are)s fetched now.%(advice)s",
            {
                "rule": entry,
                "domain": domain,
                "audited": count_of(record.judged, "audited duplicate"),
                "false": len(record.others),
                "first": shown_url(last.first),
                "second": shown_url(last.url),
                "dropped": count_of(let_through, "URL"),
                "are": "is" if let_through == 1 else "are",
                "advice": _advice(entry, domain),
            },
            extra={"spider": self._crawler.spider},
        )

    def _let_through(self, record: EntryRecord) -> int:
        """Schedule what an entry had merged, and nothing else; return how many requests."""
        entry, domain = record.entry, record.domain
        if entry.option in BY_NAME:
            self._rename_pages(domain, record.others)

        def is_meant(drop: Drop) -> bool:
            if drop.domain != domain or entry not in drop.entries:
                return False
            if entry.option not in BY_NAME:
                return True
            canonicalize = self._canonicalizer.canonicalize
            return canonicalize(drop.request.url) != canonicalize(drop.first)

        drops = self._variants.take(is_meant, self._fingerprints.page)
        for url, trial in tuple(self._trials.items()):
            if is_meant(trial.drop):
                # It needs no verdict any more: what is on its way is not for the spider.
                del self._trials[url]
                drops.append(trial.drop)
        for drop in drops:
            self._stats.inc(Stat.AUDIT_LET_THROUGH)
            # A copy: the fingerprint of a request is that of the rules it was made under.
            self._crawler.engine.crawl(with_url(drop.request, drop.request.url))
        return len(drops)

    def _rename_pages(self, domain: str, others: list[OtherPage]) -> None:
        """Know the pages of *domain* by the fingerprints that their URLs have now.

        What the spider has is not to be fetched again. And the URL that a wrong entry made of
        others is one that nobody has fetched: under its fingerprint another page is known so far.
        """
        for page, url in self._first_urls.items():
            if domain not in url:
                continue
            request = Request(url)
            new = self._fingerprints.fingerprint(request)
            if new != page:
                self._first_urls.forget(page)
                forget_seen(self._crawler, page)
                self._requests.rename(page, new)
                self._contents.rename(page, new)
                record_as_seen(self._crawler, request)
        for other in others:
            # The spider got it from the audit.
            record_as_seen(self._crawler, Request(other.url))

    def spider_closed(self, spider: Spider) -> None:
        """Complete the stats and log what was found."""
        rows = self._sample.records[:_ROWS]
        for record in rows:
            names = {"rule": str(record.entry), "domain": record.domain}
            self._stats.set(Stat.AUDIT_RULE_SAME, record.same, **names)
            self._stats.set(Stat.AUDIT_RULE_ANOTHER, len(record.others), **names)
            self._stats.set(Stat.AUDIT_RULE_CANNOT_TELL, record.cannot_tell, **names)
            self._stats.set(Stat.AUDIT_RULE_OUTCOME, record.outcome.value, **names)
        if rows:
            logger.info("\n".join(_lines(rows)), extra={"spider": spider})


def _advice(entry: RuleEntry, domain: str) -> str:
    """Return the line of the settings that does for good what a suspension does for a crawl."""
    if entry.option not in BY_NAME:
        return ""
    rules = {domain: BY_NAME[entry.option].taken_back(entry.entry)}
    return f" For good: URLCANON_RULES = {rules!r}."


def _lines(rows: list[EntryRecord]) -> Iterator[str]:
    yield "Audited duplicates: the same page, another one, and where it could not be told"
    for record in rows:
        yield (
            f"{record.same:8,} {len(record.others):6,} {record.cannot_tell:6,}  "
            f"{record.entry} on {record.domain}: {record.outcome.value}"
        )
