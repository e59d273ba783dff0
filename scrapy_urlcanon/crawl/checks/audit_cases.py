"""Carries audits out, from the first fetch of a variant to the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from scrapy_urlcanon.canonicalizer.merging_entries import MergingEntries
from scrapy_urlcanon.crawl.answers import has_nothing, is_cut_short, is_refusal
from scrapy_urlcanon.crawl.checks.blame import Blamed
from scrapy_urlcanon.crawl.checks.case import AuditCase, AuditedPair
from scrapy_urlcanon.crawl.checks.dropped_variants import key_of
from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, parts_dropped
from scrapy_urlcanon.crawl.origins import as_shown
from scrapy_urlcanon.crawl.own_requests import AUDIT, RELEASED, mark_of, marked, with_url
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.crawl.stats import Stat
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
    from collections.abc import Callable, Iterator, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.audit_sample import AuditSample
    from scrapy_urlcanon.crawl.checks.blame import Blame
    from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
    from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.checks.sites import Sites
    from scrapy_urlcanon.crawl.checks.skipped_pages import SkippedPages
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown

_MOST_FETCHES = 8
"""The most fetches of one case."""
_NO_MERGE = MergingEntries((), is_joint=False)


@define(eq=False)
class AuditCases:
    """Fetches each chosen variant and its kept page as often as a verdict requires.

    The spider is given a variant that shows another page, but not one that shows the same. A
    skipped URL has no kept page to compare with: :class:`.SkippedPages` searches for its page.

    :param variants: the dropped variants that may yet be let through.
    :param held: holds responses of some of these.
    :param blame: finds out which of several entries wrongly merged two pages.
    :param skipped: None if no rule skips URLs.
    :param on_concluded: called with each case of a dropped variant, and its result.
    :param rounds: yields a number for each case.
    """

    _crawler: Crawler
    _contents: PageContents
    _sample: AuditSample
    _sites: Sites
    _variants: DroppedVariants
    _held: HeldResponses
    _blame: Blame
    _skipped: SkippedPages | None
    _on_concluded: Callable[[AuditCase, AuditedPair], None]
    _rounds: Iterator[int]
    # By the address of the variant: the server never sees the fragment.
    _cases: dict[str, AuditCase] = field(init=False, factory=dict)

    def __contains__(self, url: str) -> bool:
        """Tell whether *url* is being compared with another one."""
        return as_shown(url) in self._cases

    def decides_on(self, drop: Drop) -> bool:
        """Tell whether an audit of the request of *drop* is under way, and will decide about it."""
        case = self._cases.get(as_shown(drop.request.url))
        if not case or case.on_verdict or case.drop.is_made_up:
            return False
        is_same_page = case.drop.fingerprint == drop.fingerprint
        return is_same_page and key_of(case.drop.request) == key_of(drop.request)

    def lacking(self) -> Iterator[Request]:
        """Yield the dropped requests of open cases whose page the spider has not been given."""
        for case in self._cases.values():
            if not case.is_got and not case.on_verdict:
                yield case.drop.request

    def rename(self, names: Mapping[bytes, bytes]) -> None:
        """Replace fingerprints of pages by those of *names*."""
        for case in self._cases.values():
            case.rename(names)

    def begin(
        self,
        page: bytes,
        drop: Drop,
        merged_by: MergingEntries,
        reference: PageDigest | None,
        *,
        has_kept: bool,
    ) -> None:
        """Begin to compare *drop*, which the sample has chosen, with *page*.

        :param reference: the content of the first URL of *page*. None if that URL was fetched by an
            earlier run of the job, if the content is forgotten, or if only other URLs were fetched.
        :param has_kept: whether the callback of *drop* has had what the first URL shows.
        """
        case = AuditCase(drop, page, merged_by, next(self._rounds), has_kept=has_kept)
        self._cases[case.address] = case
        if reference:
            case.compare_with(reference, self._sites.of(drop.domain).noise, self._contents.common)
        self._fetch_side(case, Side.VARIANT if reference or drop.is_skipped else Side.KEPT)

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
        """Compare *page* with that of *drop*; the spider has both, and no rule merged them.

        :param reference: the content of *page*.
        :param shown: the content of the page of *drop*; None if it has to be fetched.
        :param on_verdict: called with the verdict.
        :param at_any_cost: whether to begin even if the budget has no room.
        :return: whether the comparison has begun.
        """
        url = drop.request.url
        is_affordable = at_any_cost or self._sample.is_affordable(Need.SUSPECTED, more=1)
        if url in self or not is_affordable:
            return False
        self._sample.begin(url, [])
        case = AuditCase(drop, page, _NO_MERGE, next(self._rounds), on_verdict=on_verdict)
        self._cases[case.address] = case
        comparison = case.compare_with(reference, self._sites.of(drop.domain).noise)
        self._go_on(case, comparison.add(Side.VARIANT, shown) if shown else Side.VARIANT)
        return True

    def note(self, url: str, response: Response) -> None:
        """Note that the spider gets the page at *url*, which may be that of a skipped URL."""
        if self._skipped:
            for case, result in self._skipped.note(url, self._contents.read(response)):
                self._go_on(case, result)

    def dropped(self, request: Request) -> None:
        """Note that *request* was dropped. If it is the fetch of an audit, that has failed.

        That happens if it was redirected to itself, or if another middleware replaced it by a
        request that was sent before.
        """
        mark = mark_of(request, AUDIT)
        case = mark and self._cases.get(as_shown(mark["case"]))
        if mark and case and case.is_waiting_for(mark):
            self._take(case, None)

    def come_no_more(self) -> None:
        """End the cases that wait for a response or for more pages, since the spider is idle.

        A fetch that is still open then was swallowed by a middleware, of which no signal tells.
        """
        for case in [case for case in self._cases.values() if case.is_fetching]:
            if self._cases.get(case.address) is case:
                self._take(case, None)
        if self._skipped:
            for case, result in self._skipped.go_on():
                self._go_on(case, result)

    def fetched(self, request: Request, response: Response | None) -> bool:
        """Take the response to a fetch of an audit; return whether the spider is to be given it.

        It is given a page that it asked for and has not had.

        :param request: a request with the mark of an audit.
        :param response: None if the fetch failed.
        """
        mark = mark_of(request, AUDIT) or {}
        case = self._cases.get(as_shown(mark["case"]))
        if response is not None:
            # The engine sets this later, but a held response needs the meta now.
            response.request = request
        if case is None or not case.is_waiting_for(mark):
            # It is from a run that was killed, or the variant was let through in the meantime.
            if response is not None and not has_nothing(response):
                self._held.hold(mark["case"], response)
            return False
        return self._take(case, response)

    def take(self, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """End the cases whose drop *is_meant* accepts; return the drops that the spider lacks."""
        drops = []
        for case in tuple(self._cases.values()):
            url = case.drop.request.url
            if not case.on_verdict and is_meant(case.drop):
                self._sample.give_back(url)
                self._close(case)
                if case.is_got:
                    record_as_seen(self._crawler, with_url(case.drop.request, url))
                else:
                    self._held.hold(url, case.response)
                    drops.append(case.drop)
        return drops

    def _go_on(self, case: AuditCase, result: Judgement | Side) -> None:
        """Fetch the side of *case* that is needed next, or end it with its verdict."""
        if isinstance(result, Side):
            self._fetch_side(case, result)
        elif case.on_verdict:
            self._close(case)
            case.on_verdict(result)
        else:
            self._conclude(case, result)

    def _go_on_blaming(self, case: AuditCase, result: str | Blamed) -> None:
        if isinstance(result, Blamed):
            self._conclude(case, *result)
        else:
            self._fetch(case, result)

    def _fetch_side(self, case: AuditCase, side: Side) -> None:
        case.side = side
        self._fetch(case, case.drop.request.url if side is Side.VARIANT else case.drop.first)

    def _fetch(self, case: AuditCase, url: str) -> None:
        case.fetches += 1
        case.is_fetching = True
        dropped = case.drop.request
        mark = {"case": dropped.url, "round": case.round, "number": case.fetches}
        # Once a request was sent, which ``download_timeout`` shows, middlewares may have added to
        # its meta, and it is no longer known what the spider had set.
        given = [] if "download_timeout" in dropped.meta else [*dropped.meta]
        request = marked(dropped, AUDIT, url, meta=given, **mark)
        # Before other requests: the verdict may save fetches, and decides about the rule sooner.
        request.priority += 1
        Stat.AUDIT_FETCHES.inc(self._crawler)
        self._crawler.engine.crawl(request)

    def _take(self, case: AuditCase, response: Response | None) -> bool:
        """Take the response to a fetch for *case*; return whether the spider is to be given it."""
        case.is_fetching = False
        if case.found:
            self._go_on_blaming(case, self._blame.go_on(case, case.found, response))
            return False
        judgement = self._judge(case, response)
        if judgement is None:
            self._sample.pause(case.drop.request.url, case.fetches)
            return False
        if case.on_verdict or isinstance(judgement, Side):
            self._go_on(case, judgement)
            return False
        return self._end(case, judgement)

    def _judge(self, case: AuditCase, response: Response | None) -> Judgement | Side | None:
        """Return the verdict, the side to fetch next, or None if the case waits for more pages."""
        if response is None or has_nothing(response):
            case.is_refused = is_refusal(response)
        elif is_cut_short(response):
            case.note_part(response)
        else:
            return self._compare(case, response)
        return case.failed()

    def _compare(self, case: AuditCase, response: Response) -> Judgement | Side | None:
        """Add *response* to the comparison; return as :meth:`_judge` does."""
        shown = self._contents.shown(response)
        if self._skipped and case.drop.is_skipped and case.comparison is None:
            return self._skipped.judge(case, response, shown)
        if case.side is Side.VARIANT:
            case.response = case.response or response
        common = self._contents.common
        is_anothers = common.is_of_another(shown.digest, case.page, case.url_of_side)
        if case.comparison is None:
            if is_anothers:
                return Judgement(Verdict.CANNOT_TELL, SHARED)
            case.compare_with(shown.digest, self._sites.of(case.drop.domain).noise, common)
            return Side.VARIANT
        judgement = case.comparison.add(case.side, shown)
        # Also if the spider has both pages, since that comparison does not know of other pages.
        if is_anothers:
            dropped = parts_dropped(case.drop.request.url, case.drop.first)
            self._sites.of(case.drop.domain).note_shared(shown.texts, dropped)
        if isinstance(judgement, Side) and case.fetches >= _MOST_FETCHES:
            return Judgement(Verdict.CANNOT_TELL, RESTLESS)
        return judgement

    def _end(self, case: AuditCase, judgement: Judgement) -> bool:
        """Act on the verdict about a variant; return whether the spider gets the response."""
        drop = case.drop
        if judgement.verdict is not Verdict.ANOTHER:
            is_first = case.side is Side.VARIANT and not case.has_control
            case.is_got = judgement.reason == NO_TEXT and is_first
            self._conclude(case, judgement)
            return case.is_got
        other = OtherPage(drop.request.url, drop.first, judgement.own)
        site = self._sites.of(drop.domain)
        is_evidence = site.is_new(case.page, other, judgement.lacking)
        callback = callback_of(drop.request, self._crawler.spider)
        # If not, only another callback has had what the kept page shows.
        lacking = judgement.lacking if case.has_kept else ()
        case.is_got = site.is_new_to(callback, other, lacking) or is_evidence
        if not is_evidence:
            reason = "what it shows of its own another one showed before"
            self._conclude(case, Judgement(Verdict.CANNOT_TELL, reason))
        elif case.merged_by.is_joint or len(case.merged_by.entries) == 1:
            self._conclude(case, judgement)
        else:
            self._go_on_blaming(case, self._blame.begin(case, judgement))
        return case.is_got

    def _conclude(
        self, case: AuditCase, judgement: Judgement, guilty: RuleEntry | None = None
    ) -> None:
        """End *case* with a verdict about the *guilty* entry, or all that merged it if None."""
        entries = (guilty,) if guilty else case.merged_by.entries
        drop, url = case.drop, case.drop.request.url
        self._close(case)
        pair = AuditedPair(url, drop.first, entries, drop.domain, judgement, case.page)
        case.is_refused |= judgement.reason == CHANGED
        self._on_concluded(case, pair)
        is_sure = pair.is_same and not case.may_differ_in_little(self._contents)
        if case.is_got or (is_sure and not self._sample.may_need_recheck(entries, drop.domain)):
            return
        if not pair.is_same:
            self._held.hold(url, case.response)
            is_file = case.is_of_files and judgement.reason != SHARED
            is_unread = is_file or judgement.reason == NO_TEXT
            if (case.is_refused or is_unread or case.is_undecided(judgement)) and case.response:
                # It looks different and no control could explain why, so the spider is given it.
                Stat.AUDIT_FETCHES.inc(self._crawler)
                self._crawler.engine.crawl(marked(drop.request, RELEASED, in_doubt=True))
                return
        # It is let through later if an entry that merged it proves wrong.
        self._variants.remember(drop)

    def _close(self, case: AuditCase) -> None:
        """Remove *case*: nothing more is fetched for it."""
        del self._cases[case.address]
        self._sample.ended(case.drop.request.url, case.fetches - case.is_got)
        if self._skipped and case.drop.is_skipped:
            self._skipped.ended(case)
