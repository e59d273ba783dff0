"""Audits skipped URLs: searches their pages among those that the crawl gets by other URLs.

A template of ``skip`` claims that each page is found elsewhere too, but not under which URL. So a
sample of skipped URLs is fetched, and their pages are searched by content.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define
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
"""The most pages with one title that are compared. If there are more, none is called missing."""


@define(eq=False, slots=False)
class SkippedPages:
    """Searches the pages of skipped URLs among those that the spider has had or gets later.

    Only pages with the same title are compared. If none is the same, the case waits until the
    spider is idle. Then it is compared with the most similar page, as any two URLs are. If no page
    has its title, it is fetched a second time as a control.

    :param sites: the evidence about the pages of each domain.
    :param held: holds the responses of skipped URLs whose page is not found yet.
    """

    _crawler: Crawler
    _settings: CrawlSettings
    _fingerprints: PageFingerprints
    _requests: PageRequests
    _contents: PageContents
    _sites: Sites
    _held: HeldResponses

    def __attrs_post_init__(self) -> None:
        crawler, settings = self._crawler, self._settings
        self._urls: BoundedMapping[int, tuple[str, ...]] = BoundedMapping(settings.audit_max_pages)
        # How many more pages can be noted before any is forgotten.
        self._room = settings.audit_max_pages // 2
        # The content of cases whose page was not found so far, and the cases that wait, by title.
        self._shown: dict[AuditCase, PageDigest] = {}
        self._waiting: dict[int, list[AuditCase]] = {}
        # The keys (:func:`_key`) of the pages of earlier runs, or None if these are not known.
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
        """Store the keys of all pages that the job has had, for its next run."""
        if self._earlier is not None and self._room >= 0:
            self._titles.end({*self._earlier, *self._urls})

    def note(self, url: str, content: PageDigest) -> Iterator[tuple[AuditCase, Judgement]]:
        """Note that the spider has *content* of *url*; yield the cases whose page that is."""
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
        """Note that *case* has a verdict; if the spider got its page, others may match that."""
        shown = self._shown.pop(case, None)
        waiting = self._waiting.get(_key(shown)) if shown else None
        if waiting and case in waiting:
            waiting.remove(case)
        url = case.drop.request.url
        if case.is_got and case.response:
            content = self._contents.read(case.response)
            page = self._fingerprints.fingerprint(Request(url))
            self._contents.keep(page, content)
            self._contents.common.assign(content, page)
            self._add(url, content)
            record_as_seen(self._crawler, Request(url))

    def judge(self, case: AuditCase, response: Response, shown: Shown) -> Judgement | None:
        """Return the verdict about a skipped URL, or None if it has to wait for more pages.

        The verdict is "the same" if its page is found at another URL.
        """
        content, noise = shown.digest, self._sites.of(case.drop.domain).noise
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
        """Search the pages of waiting cases once more, since no more pages will come.

        Yields each case with its verdict, or with the side to fetch next. More may be known about
        noise by now. On each domain only the first case without a page is compared with the most
        similar page: what that shows about noise may be enough to find the pages of the others.
        """
        asked = set()
        for case in [*chain.from_iterable(self._waiting.values())]:
            domain, shown = case.drop.domain, self._shown.get(case)
            if domain in asked or shown is None:
                # It waits for the first case of its domain, or its template was suspended.
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
        """Begin to compare *case* with the most similar page; return the side to fetch for that."""
        like = self._like(shown)
        if not like:
            return Side.VARIANT
        likeness = [_likeness(shown, content) for _, _, content in like]
        place, case.page, content = like[likeness.index(max(likeness))]
        case.drop = case.drop._replace(first=place)
        noise = self._sites.of(case.drop.domain).noise
        comparison = case.compare_with(content, noise, self._contents.common)
        case.response = self._held.get(case.drop.request.url)
        if case.response is None:
            return Side.VARIANT
        following = comparison.add(Side.VARIANT, self._contents.shown(case.response))
        return following if isinstance(following, Side) else Side.VARIANT

    def _led_to(self, case: AuditCase, response: Response) -> str | None:
        """Return the URL that the skipped one redirected to, if the spider has had that page."""
        if response.url == case.drop.request.url:
            return None
        page = self._fingerprints.page(Request(response.url))
        return response.url if self._requests.lives.is_had(page) else None

    def _place_of(self, case: AuditCase, shown: PageDigest) -> str | None:
        """Return another URL by which the spider had the same page, or None."""
        like = self._like(shown)
        return next((url for url, _, content in like if self._are_one(case, shown, content)), None)

    def _are_one(self, case: AuditCase, shown: PageDigest, content: PageDigest) -> bool:
        return bool(self._sites.of(case.drop.domain).noise.same_page(content, shown))

    def _like(self, shown: PageDigest) -> list[tuple[str, bytes, PageDigest]]:
        """Return the URLs with the same title, each with its fingerprint and content."""
        found = []
        for url in self._urls.get(_key(shown)) or ():
            # Under the present rules, since some may have been suspended.
            page = self._fingerprints.page(Request(url))
            content = self._contents.get(page)
            if content:
                found.append((url, page, content))
        return found

    def _knows_all(self, key: int) -> bool:
        """Tell whether all pages of the crawl with this *key* are remembered."""
        is_of_this_run = self._earlier is not None and key not in self._earlier
        return is_of_this_run and self._room >= 0 and len(self._urls.get(key) or ()) <= _MOST_LIKE


def _found_at(case: AuditCase, place: str) -> Judgement:
    case.drop = case.drop._replace(first=place)
    return Judgement(Verdict.SAME)


def _judged_alone(noise: Noise, before: PageDigest, shown: Shown) -> Judgement:
    """Return the verdict about a page that no other URL showed, from two fetches of it."""
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
    """Return what two pages must share to be compared: the title, or all bytes of a file."""
    return hash64(content.digest) if content.lines is None else content.title


def _likeness(one: PageDigest, other: PageDigest) -> float:
    if one.sketch is None or other.sketch is None:
        return float(one.digest == other.digest)
    return similarity(one.sketch, other.sketch)
