"""Finds out for each dropped request which rules made it a duplicate, and tells all listeners."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.entries import SKIP, RuleEntry
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.canonical_urls import names_its_page
from scrapy_urlcanon.crawl.dropped.drop import DECLARED, Drop
from scrapy_urlcanon.crawl.own_requests import REWRITTEN, is_plain, own_mark_of, with_url
from scrapy_urlcanon.crawl.settings import META_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.dropped.counts import DropCounts
    from scrapy_urlcanon.crawl.dropped.linking_pages import LinkingPages
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints


class DroppedDuplicates:
    """Attributes each dropped request to the rules that made it a duplicate, and has it counted.

    The scheduler calls it for each drop (:func:`.hear_of_drops`), whatever the duplicate filter. A
    drop is ``exact`` if its URL is the first one under its fingerprint, else a ``variant``. A
    variant is credited to each rule that changed one of the two URLs.

    :param declared_by: returns the URL of the page that declared the page of a fingerprint as its
        canonical URL, if the duplicate filter has seen that for no other reason.
    :param orphans: fingerprints that the duplicate filter has seen although nobody fetched the
        page: its URL was dropped for another page.
    :param listeners: called with each counted drop, except repeats. Repeats, requests for the very
        URL that stands for the page, are nearly all drops.
    :param changes_urls: whether requests may be replaced by requests for other URLs
        (``URLCANON_REWRITE``, ``URLCANON_SKIP_PLACES``). Then no drop is taken for a repeat. A
        dropped replacement counts as the request that it replaced, a variant, and :attr:`reporters`
        are given that one.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        fingerprints: PageFingerprints,
        counts: DropCounts,
        *,
        declared_by: Callable[[bytes], str | None] | None,
        linking_pages: LinkingPages | None,
        orphans: Container[bytes],
        listeners: list[Callable[[Drop], None]],
        changes_urls: bool,
    ) -> None:
        self._canonicalizer = canonicalizer
        self._fingerprints = fingerprints
        self._first_urls = fingerprints.first_urls
        self.counts = counts
        self._declared_by = declared_by
        self._linking_pages = linking_pages
        self._orphans = orphans
        self._listeners = listeners
        self.reporters: list[Callable[[Drop], None]] = []
        """Called after the listeners, also for repeats."""
        self._changes_urls = changes_urls
        # Cached, since the first URL of a page is looked up for each of its variants.
        self._entries_that_fired = lru_cache(10_000)(self._explain)

    def request_dropped(self, request: Request) -> None:
        """Attribute *request*, which the scheduler dropped, count it, and tell the listeners."""
        if self._first_urls.filter_watch:
            self._first_urls.filter_watch.look_back(is_dropped=True)
        fingerprint = self._fingerprints.fingerprint(request)
        is_repeat = self._is_repeat(request, fingerprint)
        if is_repeat and not self.reporters:
            self.counts.add_exact(domain_of(request.url))
            return
        drop = self._attribute(request, fingerprint)
        if self._linking_pages:
            drop = drop._replace(linked_from=self._linking_pages.of(request))
        linked = self._as_linked(drop) if self._changes_urls else drop
        self.counts.add(linked)
        if not is_repeat:
            for listener in self._listeners:
                listener(drop)
        for reporter in self.reporters:
            reporter(linked)

    def replaced(self, request: Request, url: str) -> Drop:
        """Return a drop of *request*, which was replaced by a request for *url*.

        It is not counted, since the scheduler did not drop *request* itself.
        """
        fingerprint = self._fingerprints.fingerprint(request)
        if not self._first_urls.is_scheduled(fingerprint):
            # The filter does not record start requests: here *url* is the first one.
            self._first_urls.know(fingerprint, url)
        entries = self._fired(request) | self._entries_that_fired(url)
        return Drop(request, url, fingerprint, entries, domain_of(request.url))

    def _is_repeat(self, request: Request, fingerprint: bytes) -> bool:
        """Tell whether *request* is plain and for the very URL that stands for its page."""
        first = self._first_urls.of(fingerprint)
        return (
            (first is None or first == request.url)
            and not self._changes_urls
            and is_plain(request)
            and fingerprint not in self._orphans
            and fingerprint not in self._first_urls.unasked
            and request.url not in self._first_urls.made_up
            and not (self._declared_by and self._declared_by(fingerprint))
        )

    def _attribute(self, request: Request, fingerprint: bytes) -> Drop:
        url = request.url
        domain = domain_of(url)
        declaring = self._declared_by and self._declared_by(fingerprint)
        if declaring:
            return Drop(request, declaring, fingerprint, DECLARED, domain)
        # Only first URLs that are not canonical are stored. So if there is none, this URL is
        # canonical, or no rule changed it, or its fingerprint is its own.
        first = self._first_urls.of(fingerprint) or url
        entries: frozenset[RuleEntry] = frozenset()
        if url != first and not names_its_page(request):
            entries = self._fired(request) | self._entries_that_fired(first)
        urls = self._first_urls
        is_asked = fingerprint not in urls.unasked and first not in urls.made_up
        return Drop(request, first, fingerprint, entries, domain, is_asked=is_asked)

    def _as_linked(self, drop: Drop) -> Drop:
        """Return *drop* as that of the linked request, if its request is a replacement."""
        mark = own_mark_of(drop.request, REWRITTEN)
        if mark is None:
            return drop
        linked = with_url(drop.request, mark["original"])
        if "skip" in mark:
            entries = frozenset((RuleEntry(SKIP, mark["skip"]),))
        elif drop.is_declared:
            entries = drop.entries
        else:
            entries = self._fired(linked) | self._entries_that_fired(drop.first)
        return drop._replace(request=linked, entries=entries, domain=domain_of(linked.url))

    def _fired(self, request: Request) -> frozenset[RuleEntry]:
        options = request.meta.get(META_KEY)
        if isinstance(options, dict):
            return self._explain(request.url, options)
        return self._entries_that_fired(request.url)

    def forget(self) -> None:
        """Clear the cache of fired entries, since the rules changed."""
        self._entries_that_fired.cache_clear()

    def _explain(self, url: str, options: dict[str, Any] | None = None) -> frozenset[RuleEntry]:
        steps = self._canonicalizer.explain(url, options=options).steps
        return frozenset(entry for step in steps for entry in step.entries)
