"""Looks for the pages of URLs that are skipped among those of other URLs."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, signals

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.checks.job_titles import JobTitles
from scrapy_urlcanon.crawl.scheduling.engine import is_local
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen
from scrapy_urlcanon.pages.same_page import key_of, sampled_lines, similarity
from scrapy_urlcanon.pages.signature import hash64
from scrapy_urlcanon.pages.verdict import (
    NO_TEXT,
    RESTLESS,
    SHARED,
    Judgement,
    Side,
    Verdict,
    some_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.checks.case import AuditCase
    from scrapy_urlcanon.crawl.checks.held_responses import HeldResponses
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.checks.sites import Sites
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.pages.noise import Noise
    from scrapy_urlcanon.pages.same_page import PageDigest
    from scrapy_urlcanon.pages.shown import Shown

_MOST_LIKE = 500
"""Where more pages have one title, one of them may be the same that is not looked at."""


class SkippedPages:
    """Looks for what skipped URLs show among the pages that the spider has got, or gets later.

    One page has one title, so those are looked at that have the same. What is not found waits until
    the crawl has nothing else to fetch. Then it is compared with the page that is most like it, as
    any two URLs are; where no page has its title it is fetched a second time, as a control.

    :param sites: what is known of the pages of each domain.
    :param held: keeps what URLs showed whose page is not found yet.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: CrawlSettings,
        *,
        fingerprints: PageFingerprints,
        requests: PageRequests,
        contents: PageContents,
        sites: Sites,
        held: HeldResponses,
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._requests = requests
        self._contents = contents
        self._sites = sites
        self._held = held
        self._urls: BoundedMapping[int, tuple[str, ...]] = BoundedMapping(settings.audit_max_pages)
        # Of more pages some are forgotten, and until then none is.
        self._room = settings.audit_max_pages // 2
        # What was looked for in vain so far, and of that what may yet be found.
        self._shown: dict[AuditCase, PageDigest] = {}
        self._waiting: dict[int, list[AuditCase]] = {}
        # What pages of earlier runs have in common with others; None where that is not known.
        self._earlier: frozenset[int] | None = frozenset()
        seen = settings.seen_file(crawler.spider)
        if (seen and seen.exists()) or not is_local(crawler.settings):
            self._earlier = None
        elif crawler.settings["JOBDIR"]:
            self._titles = JobTitles(Path(crawler.settings["JOBDIR"]))
            self._earlier = self._titles.read()
            crawler.signals.connect(self._titles.begin, signals.spider_opened)
            crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def spider_closed(self) -> None:
        """Keep for the next run of a job what pages this one and those before have got."""
        if self._earlier is not None and self._room >= 0:
            self._titles.end({*self._earlier, *self._urls})

    def note(self, url: str, content: PageDigest) -> Iterator[tuple[AuditCase, Judgement]]:
        """Note that the spider has *content* of *url*; yield the cases that waited for it."""
        self._add(url, content)
        for case in tuple(self._waiting.get(_key(content), ())):
            shown = self._shown.get(case)
            if shown and self._are_one(case, shown, content):
                yield case, _found_at(case, url)

    def _add(self, url: str, content: PageDigest) -> None:
        key = _key(content)
        urls = self._urls.get(key) or ()
        if url not in urls and len(urls) <= _MOST_LIKE:
            self._urls[key] = (*urls, url)
            self._room -= 1

    def ended(self, case: AuditCase) -> None:
        """Note that there is a verdict; where the spider got the page, others may be the same."""
        shown = self._shown.pop(case, None)
        waiting = self._waiting.get(_key(shown)) if shown else None
        if waiting and case in waiting:
            waiting.remove(case)
        url = case.drop.request.url
        if case.is_got and case.response:
            content = self._contents.read(case.response)
            page = self._fingerprints.fingerprint(Request(url))
            self._contents.keep(page, content)
            self._contents.common.belongs(content, page)
            self._add(url, content)
            record_as_seen(self._crawler, Request(url))

    def judge(self, case: AuditCase, response: Response, shown: Shown) -> Judgement | None:
        """Return what is to be said of a skipped URL; None where it is to wait.

        It is a variant of the URL under which the page is found.
        """
        content, noise = shown.digest, self._sites.noise_of(case.drop.domain)
        if self._contents.common.has_several_pages(content):
            return Judgement(Verdict.CANNOT_TELL, SHARED)
        place = self._led_to(case, response) or self._place_of(case, content)
        if place:
            return _found_at(case, place)
        before = self._shown.setdefault(case, content)
        if before is content:
            self._waiting.setdefault(_key(content), []).append(case)
            self._held.hold(case.drop.request.url, response)
            return None
        case.response = response
        return _judged_alone(noise, before, shown)

    def go_on(self) -> Iterator[tuple[AuditCase, Judgement | Side]]:
        """Look for the pages of those that wait once more: no other one is to come.

        Yield each with its verdict, or what is to be fetched for that. More may be known of what is
        noise. The first on each domain that is not found is compared with the page that is most
        like it, if any has its title: what that tells of noise may be enough for the others.
        """
        asked = set()
        for case in [*chain.from_iterable(self._waiting.values())]:
            domain, shown = case.drop.domain, self._shown.get(case)
            if domain in asked or shown is None:
                # What is asked may tell more of it; or its template was turned off meanwhile.
                continue
            place = self._place_of(case, shown)
            if place:
                yield case, _found_at(case, place)
            elif not self._knows_all(_key(shown)):
                reason = "not all pages are known that it may be"
                yield case, Judgement(Verdict.CANNOT_TELL, reason)
            else:
                asked.add(domain)
                self._waiting[_key(shown)].remove(case)
                yield case, self._compare(case, shown)

    def _compare(self, case: AuditCase, shown: PageDigest) -> Side:
        """Have *case* compare what it showed with the page most like it; return what to fetch."""
        like = self._like(shown)
        if not like:
            return Side.VARIANT
        likeness = [_likeness(shown, content) for _, _, content in like]
        place, case.page, content = like[likeness.index(max(likeness))]
        case.drop = case.drop._replace(first=place)
        noise = self._sites.noise_of(case.drop.domain)
        comparison = case.compare_with(content, noise, self._contents.common)
        case.response = self._held.get(case.drop.request.url)
        if case.response is None:
            return Side.VARIANT
        following = comparison.add(Side.VARIANT, self._contents.shown(case.response))
        return following if isinstance(following, Side) else Side.VARIANT

    def _led_to(self, case: AuditCase, response: Response) -> str | None:
        """Return the URL that answered, as of a short link, if the spider has the page."""
        if response.url == case.drop.request.url:
            return None
        page = self._fingerprints.page(Request(response.url))
        return response.url if page is not None and self._requests.is_had(page) else None

    def _place_of(self, case: AuditCase, shown: PageDigest) -> str | None:
        """Return under which other URL the spider has the page, if it has."""
        like = self._like(shown)
        return next((url for url, _, content in like if self._are_one(case, shown, content)), None)

    def _are_one(self, case: AuditCase, shown: PageDigest, content: PageDigest) -> bool:
        return bool(self._sites.noise_of(case.drop.domain).same_page(content, shown))

    def _like(self, shown: PageDigest) -> list[tuple[str, bytes, PageDigest]]:
        """Return the URLs of its title with their pages, where it is known what they showed."""
        found = []
        for url in self._urls.get(_key(shown)) or ():
            # By the rules of now: some may have been suspended.
            page = self._fingerprints.page(Request(url))
            content = page and self._contents.get(page)
            if page and content:
                found.append((url, page, content))
        return found

    def _knows_all(self, key: int) -> bool:
        """Tell whether all pages are known that have *key* in common."""
        is_of_this_run = self._earlier is not None and key not in self._earlier
        return is_of_this_run and self._room >= 0 and len(self._urls.get(key) or ()) <= _MOST_LIKE


def _found_at(case: AuditCase, place: str) -> Judgement:
    case.drop = case.drop._replace(first=place)
    return Judgement(Verdict.SAME)


def _judged_alone(noise: Noise, before: PageDigest, shown: Shown) -> Judgement:
    """Return what is to be said of a page that no other URL shows at the end of the crawl."""
    content = shown.digest
    if _key(before) != _key(content):
        return Judgement(Verdict.CANNOT_TELL, RESTLESS)
    lines, limit = sampled_lines(before)
    changed = noise.note(lines, shown.lines, limit)
    own = noise.of_one_page(shown.texts, changed)
    texts = some_of(text for line, text in shown.texts.items() if line in own)
    if content.title:
        own |= {key_of(content.title_shape, content.title)}
    if not own:
        return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
    return Judgement(Verdict.ANOTHER, only_variant=texts, own=own)


def _key(content: PageDigest) -> int:
    """Return what pages have in common that may be one: the title, or all of a file."""
    return hash64(content.digest) if content.lines is None else content.title


def _likeness(one: PageDigest, other: PageDigest) -> float:
    if one.sketch is None or other.sketch is None:
        return float(one.digest == other.digest)
    return similarity(one.sketch, other.sketch)
