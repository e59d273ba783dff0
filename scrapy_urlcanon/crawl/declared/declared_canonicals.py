"""Drops requests for declared canonical URLs: the setting ``URLCANON_DECLARED_CANONICAL``."""

from __future__ import annotations

import logging
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from attrs import define
from scrapy import Request

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.answers import is_cut_short
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.canonical_urls import OWN_RULES
from scrapy_urlcanon.crawl.declared.claims import Belief, Claim, Claims, Way
from scrapy_urlcanon.crawl.declared.dropped_requests import DroppedRequests
from scrapy_urlcanon.crawl.declared.link_labels import LinkLabels
from scrapy_urlcanon.crawl.declared.open_claims import OpenClaim, OpenClaims
from scrapy_urlcanon.crawl.dropped.drop import DECLARED, Drop
from scrapy_urlcanon.crawl.own_requests import (
    RELEASED,
    is_unfiltered,
    marked,
    sent_to,
    with_url,
)
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.scheduling.engine import on_idle
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen, warn_of_no_filter
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.verdict import Verdict
from scrapy_urlcanon.redaction import shown_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
    from scrapy_urlcanon.crawl.checks.audit import Audit
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.pages.page import Page
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown
    from scrapy_urlcanon.pages.verdict import Judgement

logger = logging.getLogger(__name__)


@define(eq=False, slots=False)
class DeclaredCanonicalPages:
    """Drops a request whose URL a fetched page declares as its canonical URL.

    Pages of a site declare in different ways, told apart by what differs between the two URLs
    (:class:`.Way`). A way is believed (:class:`.Belief`) once enough pages that declare in it were
    the same as the pages that they declare. Until then both are fetched and compared.

    A request is dropped only if its callback has had the declaring page. Dropped requests are
    scheduled again if their way is no longer believed, or if two pages that declare the same URL
    differ.

    :param audit: compares pages that look different, with controls, and a sample of the drops with
        the pages that declared them.
    """

    _crawler: Crawler
    _settings: CrawlSettings
    _canonical_urls: CanonicalUrls
    _fingerprints: PageFingerprints
    _requests: PageRequests
    _contents: PageContents
    _rule_changes: RuleChanges
    _audit: Audit

    def __attrs_post_init__(self) -> None:
        limit = self._settings.audit_max_pages
        self._belief = Belief(limit)
        self._claims = Claims(limit)
        self._labels = LinkLabels(limit)
        # Pages that the duplicate filter has as seen only because of a claim.
        self._seen: BoundedMapping[bytes, Claim] = BoundedMapping(limit)
        # Requests that were dropped because of that, and may be let through.
        self._dropped = DroppedRequests(self._crawler, self._settings)
        self._has_dupefilter = True
        # Pages that are fetched as probes, although the claim is believed.
        self._probed: BoundedMapping[bytes, bool] = BoundedMapping(limit)
        # Claims whose two pages looked different, and that have no verdict yet.
        self._open = OpenClaims()
        self._requests.on_raised.append(self.raised)
        on_idle(self._crawler, self.spider_idle, awaits_start=True)

    def scheduled(self, request: Request, response: Response) -> None:
        """Record *request* as seen if a believed claim says that the spider has its page.

        :param response: the response whose callback yielded it.
        """
        is_of_our_rules = OWN_RULES.isdisjoint(request.meta) and not is_unfiltered(request)
        if not is_of_our_rules or not self._has_dupefilter:
            return
        is_label_due = self._labels.takes(request.url)
        if not is_label_due and not self._claims.are_any:
            return
        page = self._fingerprints.fingerprint(request)
        if is_label_due:
            self._labels.note(request, page, response)
        claims = self._claims.about(page)
        if claims:
            self._record_claimed(request, page, claims)

    def _record_claimed(self, request: Request, page: bytes, claims: tuple[Claim, ...]) -> None:
        callback = callback_of(request, self._crawler.spider)
        for claim in claims:
            if self._requests.is_deeper(claim.page, request):
                # The depth limit may have cut off links of the declaring page.
                continue
            # The rules may have changed since the claim was made.
            is_about_it = self._fingerprints.page(request, claim.target) == page
            if is_about_it and claim.callback == callback and self._is_believed(page, claim):
                if page not in self._probed and self._belief.takes_probe(claim.way):
                    self._probed[page] = True
                if page in self._probed:
                    return
                was_seen = record_as_seen(self._crawler, request)
                if was_seen is None:
                    self._has_dupefilter = False
                    warn_of_no_filter(self._crawler, DECLARED_CANONICAL_SETTING)
                elif not was_seen:
                    self._seen[page] = claim
                return

    def delivered(self, response: Response) -> None:
        """Note what *response*, which a callback was given, declares.

        Ignored if only an errback got it or a middleware handled an exception; if it is an error,
        since that may declare the page that is missing; and if it was cut short, since another URL
        may bring more.
        """
        request = response.request
        if (
            request is None
            or not self._requests.is_delivered(request)
            or response.status != HTTPStatus.OK
            or is_cut_short(response)
            or request.method != "GET"
            or not OWN_RULES.isdisjoint(request.meta)
            or self._requests.passed_on.fingerprint_of(request)
        ):
            return
        page = self._requests.pages.own(request)
        content = self._contents.get(page)
        if not content:
            return
        for shown in {page, *self._requests.pages.redirected_to(request)}:
            for claim in self._claims.settle(shown):
                self._compare(claim, content, self._contents.shown(response))
        target = page_of(response).canonical
        target_page = self._fingerprints.page(request, target) if target else None
        if target_page:
            self._take(request, page, content, target_page, page_of(response))
        # Only for this site: its noise is better known now, and its pages may be requested with the
        # headers of this request.
        domain = domain_of(self._canonical_urls.of(request) or request.url)
        for each in self._open.take(domain):
            self._look_again(each, request)

    def raised(self, response: Response) -> None:
        """Forget what *response* declares, and let through what was dropped because of it.

        Its callback raised, so the spider has not had the page.
        """
        request = response.request
        if request is None:
            return
        target = page_of(response).canonical
        if not target:
            return
        page = self._requests.pages.own(request)
        target_page = self._fingerprints.page(request, target)
        if target_page is None:
            return
        callback = callback_of(request, self._crawler.spider)
        self._claims.withdraw(target_page, page, callback)
        claim = self._seen.get(target_page)
        if claim and (claim.page, claim.callback) == (page, callback):
            self._release(target_page)

    def spider_idle(self) -> None:
        """Decide all open claims of the ways by which requests were dropped.

        Until now they were reconsidered only as far as the budget of the audit allowed.
        """
        templates = {
            claim.way: self._dropped.first(page)
            for page in self._dropped
            if (claim := self._seen.get(page))
        }
        for way, template in templates.items():
            for each in self._open.take_of(way):
                self._look_again(each, template, at_any_cost=True)

    def dropped(self, drop: Drop) -> None:
        """Remember *drop* if it was dropped because of a claim, and audit a sample of these."""
        page = drop.fingerprint
        claim = self._seen.get(page)
        if claim is None:
            return
        # Remembered even if it is audited, since the callback may raise at the declaring page.
        self._dropped.remember(drop.request, page)
        if not self._is_believed(page, claim):
            self._release(page)
        else:
            self._audit.declared(drop, claim.page)

    def audited(self, pair: AuditedPair) -> None:
        """Count the verdict of an audit if it is about a claim."""
        is_told = pair.judgement.verdict is not Verdict.CANNOT_TELL
        if not is_told or DECLARED.isdisjoint(pair.entries):
            return
        page = self._fingerprints.fingerprint(Request(pair.url))
        claim = self._seen.get(page)
        if claim is None:
            return
        if not pair.is_same:
            # The audit gave it to the spider.
            self._seen.pop(page)
            self._dropped.take(page)
        self._count(claim, page, same_page=pair.is_same)

    def declared_by(self, fingerprint: bytes) -> str | None:
        """Return the URL of the page that declared the page with this *fingerprint*.

        None if no page did, or if it was recorded as seen for another reason.
        """
        # Most sites make no claims, and this is called for each drop.
        claim = self._seen.get(fingerprint) if self._claims.are_any else None
        return claim.url if claim else None

    def _take(
        self,
        request: Request,
        page: bytes,
        content: PageDigest,
        target_page: bytes,
        declaring: Page,
    ) -> None:
        """Note the claim of *page*, which has *content*, that *target_page* is the same page.

        :param declaring: the declaring page as parsed.
        """
        target = declaring.canonical
        # The same object as *page* if they are equal, to save memory.
        owner = self._claims.own(content.digest, page if target_page == page else target_page)
        if owner:
            self._release(owner)
        if target_page == page:
            return
        source = self._canonical_urls.of(request) or request.url
        canonical = self._canonical_urls.of(request, target) or target
        domain = domain_of(source)
        if domain != domain_of(canonical):
            Stat.DECLARED_FOREIGN.inc(self._crawler)
            return
        Stat.DECLARED.inc(self._crawler)
        # Imported here for a faster start: on most sites pages declare only themselves.
        from scrapy_urlcanon.learn.canonicals import is_implausible, way_of  # noqa: PLC0415
        from scrapy_urlcanon.learn.location import locate  # noqa: PLC0415

        one, other = locate(source), locate(canonical)
        if is_implausible(one, other):
            Stat.DECLARED_IMPLAUSIBLE.inc(self._crawler)
            return
        # From now on its pages are recorded, so that the lines which they share are known before
        # any two are compared.
        self._audit.sites.of(domain)
        way = Way(domain, way_of(one, other))
        claim = Claim(
            page,
            request.url,
            content.digest,
            declaring.title,
            target,
            target_page,
            way,
            callback_of(request, self._crawler.spider),
            _contradictions(declaring, canonical),
        )
        self._labels.claimed(claim)
        known = self._contents.get(target_page)
        if known:
            self._compare(claim, known)
        else:
            self._compare_with_others(claim, content, target_page)
            self._claims.add(target_page, claim)

    def _compare(self, claim: Claim, content: PageDigest, shown: Shown | None = None) -> None:
        """Compare the declaring page of *claim* with the declared one, which has *content*.

        :param shown: the lines of the declared page, if they are in memory.
        """
        declaring = self._contents.get(claim.page)
        if declaring is None:
            return
        is_same = self._audit.sites.of(claim.way.domain).noise.same_page(declaring, content)
        if is_same is None:
            return
        common = self._contents.common
        if not is_same and (
            common.has_several_paths(content) or common.has_several_paths(declaring)
        ):
            # It may be a log-in form, or a "not found" page.
            return
        if is_same:
            self._count(claim, content.digest, same_page=True)
        elif self._open.is_full or self._belief.is_refuted(claim.way):
            self._count(claim, claim.content, same_page=False)
        else:
            is_probe = claim.target_page in self._probed
            self._open.add(OpenClaim(claim, content, shown, is_probe))

    def _look_again(self, each: OpenClaim, template: Request, *, at_any_cost: bool = False) -> None:
        """Compare again two pages that looked different, now that more is known about noise.

        If they still differ both are fetched again, as far as the budget of the audit allows.

        :param template: a request for a page of the same site, to be copied for these fetches.
        :param at_any_cost: whether to fetch them even if the budget has no room.
        """
        claim, way = each.claim, each.claim.way
        declaring = self._contents.get(claim.page)
        if declaring is None or self._belief.is_refuted(way):
            self._open.close(each)
        elif self._audit.sites.of(way.domain).noise.same_page(declaring, each.content):
            self._open.close(each)
            self._count(claim, each.content.digest, same_page=True)
        else:
            request = sent_to(template, claim.target)
            is_begun = self._audit.cases.compare(
                Drop(request, claim.url, claim.target_page, DECLARED, way.domain),
                claim.page,
                declaring,
                each.shown,
                partial(self._compared, each),
                at_any_cost=at_any_cost or each.is_probe,
            )
            if not is_begun:
                self._open.put_back(each)

    def _compared(self, each: OpenClaim, judgement: Judgement) -> None:
        """Count the verdict about two pages, one of which declares the other."""
        self._open.close(each, judgement.verdict)
        if judgement.verdict is Verdict.SAME:
            self._count(each.claim, each.content.digest, same_page=True)
        elif judgement.verdict is Verdict.ANOTHER:
            self._count(each.claim, each.claim.content, same_page=False)

    def _compare_with_others(self, claim: Claim, content: PageDigest, page: bytes) -> None:
        """Compare *claim* with others about *page*: if two declaring pages differ, one is wrong."""
        for other in self._claims.about(page):
            shown = self._contents.get(other.page)
            noise = self._audit.sites.of(claim.way.domain).noise
            if shown and noise.same_page(shown, content) is False:
                self._claims.dispute(page)
                self._release(page)
                if other.way == claim.way:
                    self._compare(claim, shown)
                return

    def _count(self, claim: Claim, content: bytes, *, same_page: bool) -> None:
        was_believed = self._belief.holds(claim.way)
        self._belief.add(claim.way, content, same_page=same_page)
        if same_page:
            self._belief.discredit(claim)
            self._labels.proved(claim)
        Stat.DECLARED_COMPARED.inc(self._crawler)
        if not same_page:
            Stat.DECLARED_WRONG.inc(self._crawler)
            if was_believed:
                # If it was not believed, nothing was dropped because of it.
                if not self._belief.holds(claim.way):
                    self._warn_of(claim)
                self._release_what_is_not_believed(claim.way.domain)

    def _is_believed(self, page: bytes, claim: Claim) -> bool:
        return (
            self._belief.holds(claim.way)
            and not self._open.is_doubtful(claim.way)
            and not self._belief.is_contradicted(claim)
            and not self._claims.is_disputed(page, claim)
            and not self._labels.is_contradicted(claim)
            and not self._rule_changes.is_suspended(RuleEntry(DECLARED_CANONICAL), claim.way.domain)
        )

    def _release_what_is_not_believed(self, domain: str) -> None:
        for page in self._dropped:
            claim = self._seen.get(page)
            if claim and claim.way.domain == domain and not self._is_believed(page, claim):
                self._release(page)

    def _release(self, page: bytes) -> None:
        """Schedule the remembered requests for *page* that were dropped."""
        requests = self._dropped.take(page)
        if not requests:
            return
        self._seen.pop(page)
        Stat.DECLARED_RELEASED.inc(self._crawler)
        first, *others = requests
        # The duplicate filter has the page as seen, so it drops the others again. As variants of
        # the first they wait for its outcome.
        self._crawler.engine.crawl(marked(first, RELEASED))
        for request in others:
            self._crawler.engine.crawl(with_url(request, request.url))

    def _warn_of(self, claim: Claim) -> None:
        Stat.DECLARED_DISTRUSTED.inc(self._crawler)
        logger.warning(
            "Canonical URLs that pages of %(domain)s declare as %(source)s declares %(target)s "
            "are no longer believed: too many of them show another page. What was dropped for "
            "them is fetched, as far as it is remembered.",
            {
                "domain": claim.way.domain,
                "source": shown_url(claim.url),
                "target": shown_url(claim.target),
            },
            extra={"spider": self._crawler.spider},
        )


def _contradictions(page: Page, canonical: str) -> frozenset[str]:
    """Return the names of other addresses in *page* that contradict *canonical*.

    An address such as ``og:url``, or that of the next page, contradicts it if it contains a part of
    the page's own URL that *canonical* does not have.
    """
    url, target = split(page.url), split(canonical)
    own = {*(url.query or ()), *url.path.split("/")} - {
        *(target.query or ()),
        *target.path.split("/"),
    }
    addresses = {name: split(address) for name, address in page.other_addresses.items() if address}
    return frozenset(
        name
        for name, other in addresses.items()
        if own & {*(other.query or ()), *other.path.split("/")}
    )
