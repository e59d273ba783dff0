"""Takes the canonical URL that a page declares as seen: ``URLCANON_DECLARED_CANONICAL``."""

from __future__ import annotations

import logging
from collections import OrderedDict
from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.bounded import BoundedMapping
from scrapy_urlcanon.crawl.checks.claims import Belief, Claim, Claims, Way
from scrapy_urlcanon.crawl.dupefilter import record
from scrapy_urlcanon.crawl.mark import AUDIT, RELEASED, mark_of, marked
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.request import with_url
from scrapy_urlcanon.crawl.settings import (
    DECLARED_CANONICAL,
    DECLARED_CANONICAL_SETTING,
    META_KEY,
)
from scrapy_urlcanon.learn.declared import is_implausible, way_of
from scrapy_urlcanon.learn.location import locate
from scrapy_urlcanon.pages.same_page import same_page
from scrapy_urlcanon.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.checks.audit import Audit, AuditedPair
    from scrapy_urlcanon.crawl.checks.contents import PageContents
    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter
    from scrapy_urlcanon.crawl.safeguards import Safeguards
    from scrapy_urlcanon.crawl.state import CrawlState
    from scrapy_urlcanon.pages.same_page import PageDigest

logger = logging.getLogger(__name__)

_URLS_OF_A_PAGE = 10
# Of one request alone: no rule is to touch it, or rules of its own.
_OWN_RULES = frozenset({META_KEY, "verbatim_url"})


class DeclaredCanonicalPages:
    """Has the dupefilter drop what a page that the spider got declares to be its own page.

    That is believed of a way of declaring (:class:`.Belief`) once pages that declare so were
    seen beside what they declare and showed the same. While it is not believed both are
    fetched, as without this, which is where the evidence comes from; and it comes on, for
    whatever is seen before the page that declares it.

    A request is dropped only if the callback that it is for has had the page. What was
    dropped is let through where its way of declaring is not believed any more, or where two
    pages that declare it differ.

    :param audit: what compares a sample of the drops with what they were dropped for.
    """

    def __init__(
        self,
        crawler: Crawler,
        state: CrawlState,
        fingerprinter: RequestFingerprinter,
        contents: PageContents,
        safeguards: Safeguards,
        *,
        audit: Audit | None,
    ) -> None:
        self._crawler = crawler
        self._state = state
        self._fingerprinter = fingerprinter
        self._representatives = contents.representatives
        self._contents = contents
        self._audit = audit
        self._max_pending = safeguards.audit_max_pending
        limit = safeguards.audit_max_pages
        self._belief = Belief(limit)
        self._claims = Claims(limit)
        # What the dupefilter has as seen for what a page declared, and no other reason.
        self._seen: BoundedMapping[bytes, Claim] = BoundedMapping(limit)
        # What it dropped for that, by page and URL: to be let through.
        self._dropped: OrderedDict[bytes, dict[str, Request]] = OrderedDict()
        self._has_dupefilter = True
        fingerprinter.dropped.declared_by = self._declared_by
        fingerprinter.dropped.listeners.append(self.dropped)
        if audit:
            audit.listeners.append(self.audited)

    def scheduled(self, request: Request) -> None:
        """Record *request*, which a callback made, as seen if the spider has its page."""
        if request.dont_filter or not self._has_dupefilter:
            return
        if not _OWN_RULES.isdisjoint(request.meta):
            return
        page = self._fingerprinter.fingerprint(request)
        claims = self._claims.about(page)
        callback = self._callback(request) if claims else None
        for claim in claims:
            # The rules may have changed since, and what they make one page.
            is_about_it = self._fingerprinter.page(request, claim.target) == page
            if is_about_it and claim.callback == callback and self._is_believed(page, claim):
                was_seen = record(self._crawler, request)
                if was_seen is None:
                    self._warn_of_scheduler()
                elif not was_seen:
                    self._seen[page] = claim
                return

    def delivered(self, response: Response) -> None:
        """Take note of what *response*, which a callback gets, declares.

        Only of a success: a page of errors may declare the page that is missing.
        """
        request = response.request
        if (
            request is None
            or response.status != HTTPStatus.OK
            or request.method != "GET"
            or not _OWN_RULES.isdisjoint(request.meta)
            or mark_of(request, AUDIT)
        ):
            return
        page = self._representatives.page(request)
        content = page and self._contents.get(page)
        if not page or not content:
            return
        for shown in {page, *self._representatives.redirected_to(request)}:
            for claim in self._claims.settle(shown):
                self._compare(claim, content)
        target = page_of(response).canonical
        target_page = self._fingerprinter.page(request, target) if target else None
        if target_page:
            self._take(request, page, content, target, target_page)

    def dropped(self, drop: Drop) -> None:
        """Have *drop* audited or remember it, if it is due to what a page declared."""
        page = drop.fingerprint
        claim = self._seen.get(page)
        if claim is None or DECLARED_CANONICAL not in drop.rules:
            return
        if not self._is_believed(page, claim):
            self._remember(drop)
            self._release(page)
        elif not (self._audit and self._audit.takes(drop, claim.page)):
            self._remember(drop)

    def audited(self, pair: AuditedPair) -> None:
        """Take note of what the audit found."""
        if DECLARED_CANONICAL not in pair.options:
            return
        page = self._fingerprinter.fingerprint(Request(pair.url))
        claim = self._seen.get(page)
        if claim is None:
            return
        if not pair.is_same:
            # The spider has got it.
            self._seen.pop(page)
            self._dropped.pop(page, None)
        self._count(claim, page, same_page=pair.is_same)

    def _declared_by(self, fingerprint: bytes) -> str | None:
        claim = self._seen.get(fingerprint)
        return claim.url if claim else None

    def _take(
        self, request: Request, page: bytes, content: PageDigest, target: str, target_page: bytes
    ) -> None:
        owner = self._claims.own(content.digest, target_page)
        if owner:
            self._release(owner)
        if target_page == page:
            return
        source = self._state.canonical(request) or request.url
        canonical = self._state.canonical(request, target) or target
        domain = _domain(source)
        if domain != _domain(canonical):
            self._inc("foreign")
            return
        self._inc("declared")
        one, other = locate(source), locate(canonical)
        if is_implausible(one, other):
            self._inc("implausible")
            return
        way = Way(domain, way_of(one, other))
        claim = Claim(page, request.url, content.digest, target, way, self._callback(request))
        known = self._contents.get(target_page)
        if known:
            self._compare(claim, known)
        else:
            self._compare_with_others(claim, content, target_page)
            self._claims.add(target_page, claim)

    def _compare(self, claim: Claim, content: PageDigest) -> None:
        """Compare the page that declares with the one that it declares, which has *content*."""
        declaring = self._contents.get(claim.page)
        if declaring is None:
            return
        is_same = same_page(declaring, content)
        if is_same is None:
            return
        common = self._contents.common
        if not is_same and (
            common.has_several_paths(content) or common.has_several_paths(declaring)
        ):
            # A form to log in, or "not found".
            return
        self._count(claim, content.digest if is_same else claim.content, same_page=is_same)

    def _compare_with_others(self, claim: Claim, content: PageDigest, page: bytes) -> None:
        """Compare pages that declare the same *page*: where they differ not all are right."""
        for other in self._claims.about(page):
            shown = self._contents.get(other.page)
            if shown and same_page(shown, content) is False:
                self._claims.dispute(page)
                self._release(page)
                if other.way == claim.way:
                    self._compare(claim, shown)
                return

    def _count(self, claim: Claim, content: bytes, *, same_page: bool) -> None:
        was_believed = self._belief.holds(claim.way)
        self._belief.add(claim.way, content, same_page=same_page)
        self._inc("compared")
        if not same_page:
            self._inc("wrong")
            if was_believed and not self._belief.holds(claim.way):
                self._warn_of(claim)
            self._release_what_is_not_believed(claim.way.domain)

    def _is_believed(self, page: bytes, claim: Claim) -> bool:
        return (
            self._belief.holds(claim.way)
            and not self._claims.is_disputed(page, claim)
            and (DECLARED_CANONICAL, claim.way.domain) not in self._state.suspended
        )

    def _remember(self, drop: Drop) -> None:
        request, page = drop.request, drop.fingerprint
        requests = self._dropped.setdefault(page, {})
        if len(requests) < _URLS_OF_A_PAGE:
            requests.setdefault(request.url, request)
        if len(self._dropped) > self._max_pending:
            self._dropped.popitem(last=False)
            self._inc("forgotten")

    def _release_what_is_not_believed(self, domain: str) -> None:
        for page in tuple(self._dropped):
            claim = self._seen.get(page)
            if claim and claim.way.domain == domain and not self._is_believed(page, claim):
                self._release(page)

    def _release(self, page: bytes) -> None:
        """Let through what was dropped of *page*, if anything was and is remembered."""
        requests = self._dropped.pop(page, None)
        if not requests:
            return
        self._seen.pop(page)
        self._inc("released")
        first, *others = requests.values()
        # The dupefilter has the page as seen. It drops the others again, as variants of the
        # first one, which wait for what becomes of that.
        self._crawler.engine.crawl(marked(first, RELEASED))
        for request in others:
            self._crawler.engine.crawl(with_url(request, request.url))

    def _callback(self, request: Request) -> Hashable:
        """Return what of the spider *request* is for; a ``CrawlSpider`` has one for each rule."""
        callback = request.callback or getattr(self._crawler.spider, "parse", None)
        return getattr(callback, "__qualname__", callback), request.meta.get("rule")

    def _inc(self, name: str) -> None:
        self._crawler.stats.inc_value(f"urlcanon/declared_canonical/{name}")

    def _warn_of(self, claim: Claim) -> None:
        self._inc("distrusted")
        logger.warning(
            "The canonical URLs that pages of %(domain)s declare as %(source)s declares "
            "%(target)s are not believed any more: too many of them show another page. What "
            "was dropped for them, as far as it is remembered, is fetched.",
            {
                "domain": claim.way.domain,
                "source": redact(claim.url),
                "target": redact(claim.target),
            },
            extra={"spider": self._crawler.spider},
        )

    def _warn_of_scheduler(self) -> None:
        self._has_dupefilter = False
        logger.warning(
            "%(setting)s has no effect: the scheduler has no dupefilter 'df'.",
            {"setting": DECLARED_CANONICAL_SETTING},
            extra={"spider": self._crawler.spider},
        )


def _domain(url: str) -> str:
    host = split(url).host
    return domain_or_host(host)
