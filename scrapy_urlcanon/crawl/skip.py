"""Skips requests whose page is always found under another URL, which is requested if known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field
from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.canonicalizer.entries import SKIP, RuleEntry
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.canonical_urls import names_its_page, options_of
from scrapy_urlcanon.crawl.dropped.drop import Drop
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    RELEASED,
    RESCUE,
    is_unfiltered,
    leads_off_site,
    mark_of,
    original_of,
    own_mark_of,
    rewritten,
)
from scrapy_urlcanon.crawl.scheduling.drops import receives_repeated
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
    from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces


@define(eq=False)
class SkippedRequests:
    """Refuses requests whose canonical URL matches a ``skip`` template, before they are scheduled.

    It receives ``request_scheduled``, so that redirects and retries are skipped too. It lets
    through requests with ``dont_filter``, such as start requests; methods other than GET and HEAD;
    and requests with ``urlcanon_key``, since it is not known that another URL has their page.

    If the other URL of the page is known, a request for it replaces the skipped one, as if a
    redirect had been followed. If that fails the skipped URL is fetched, as any URL of a failed
    page (:class:`.PageRequests`). A skipped URL is also fetched if the spider does not allow the
    domain of the other URL.

    It is made only if a rule skips anything, since its receiver of the signal costs each request
    more than a fingerprint.

    :param path: the file that has the other URLs of skipped pages, if there is one.
    :param on_skipped: called with each request that is refused without a replacement.
    :raises ConfigurationError: if the file cannot be used.
    """

    _crawler: Crawler
    _canonicalizer: Canonicalizer
    _canonical_urls: CanonicalUrls
    _path: str | None
    _on_skipped: Callable[[Drop], None] | None
    _places: SkipPlaces | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        if self._path and self._crawler.spider is not None:
            from scrapy_urlcanon.crawl.earlier.skip_places import SkipPlaces  # noqa: PLC0415

            self._places = SkipPlaces.of_crawl(Path(self._path))
        connect = self._crawler.signals.connect
        connect(self.request_scheduled, signals.request_scheduled)
        connect(self.spider_closed, signals.spider_closed)

    @receives_repeated
    def request_scheduled(self, request: Request) -> None:
        """Refuse *request*, and count it, if its URL matches a template.

        :raises IgnoreRequest: to make the engine drop the request (Scrapy 2.19, ``core/engine.py``,
            ``_schedule_request``).
        """
        if is_unfiltered(request) or request.method not in {"GET", "HEAD"}:
            return
        if names_its_page(request) or _is_to_be_fetched(request):
            return
        canonical = self._canonical_urls.of(request)
        if canonical is None:
            return
        skip = self._canonicalizer.cause_of_skip(canonical, options=options_of(request))
        if skip is None:
            return
        place = self._places.of(canonical, self._canonicalizer) if self._places else None
        if place is not None and (
            self._has_led_here(place, request)
            or leads_off_site(request, place, self._crawler.spider)
        ):
            return
        Stat.SKIPPED.inc(self._crawler, template=skip.entry)
        if place is not None:
            Stat.SKIP_PLACED.inc(self._crawler)
            # The request of the spider, to be fetched if the replacement fails.
            linked = original_of(request)
            self._crawler.engine.crawl(rewritten(linked, place, skip=skip.entry))
        elif self._on_skipped:
            self._on_skipped(self._drop(request, skip))
        raise IgnoreRequest(f"its page is always found elsewhere: {place or skip.entry}")

    def spider_closed(self) -> None:
        """Close the file."""
        if self._places:
            self._places.close()
        # The spider may still yield requests, which nobody fetches.
        self._places = None

    def _drop(self, request: Request, skip: Cause) -> Drop:
        entries = frozenset((RuleEntry(SKIP, skip.entry),))
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        return Drop(request, "", fingerprint, entries, domain_of(request.url))

    def _has_led_here(self, place: str, request: Request) -> bool:
        """Tell whether *request* follows a redirect from *place*: the page has moved here."""
        of = self._canonical_urls.of
        sources = sources_of(request)
        return bool(sources) and of(request, place) in {of(request, url) for url in sources}


def _is_to_be_fetched(request: Request) -> bool:
    """Tell whether *request* is fetched although its URL is skipped.

    It is if its replacement failed, or if an audit fetches or releases it.
    """
    return bool(own_mark_of(request, RESCUE, RELEASED) or mark_of(request, AUDIT))
