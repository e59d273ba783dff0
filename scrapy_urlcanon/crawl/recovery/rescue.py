"""Fetches another URL of a page when the request that stood for it failed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    MARK_KEY,
    RESCUE,
    REWRITTEN,
    mark_of,
    marked,
    with_url,
)
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.representatives import Representatives
    from scrapy_urlcanon.crawl.stats import CrawlStats

# What the plugin, a redirect or a retry put there on the way.
_OF_ANOTHER_URL = {
    MARK_KEY,
    "redirect_reasons",
    "redirect_times",
    "redirect_ttl",
    "redirect_urls",
    "retry_times",
}
_NOT_PLAIN = frozenset({MARK_KEY, "redirect_urls"})


class Waiting:
    """What waits for the outcome of one page."""

    __slots__ = ("sources", "variants")

    def __init__(self) -> None:
        self.variants: dict[str, Request] = {}
        """The dropped requests by URL, in the order in which they came."""
        self.sources: set[bytes] = set()
        """The pages that redirect here: they have the same outcome."""

    def __len__(self) -> int:
        return len(self.variants) + len(self.sources)


class Rescue:
    """Fetches a dropped variant when the request that stood for its page fails for good.

    One variant after another is sent, with its own callback, meta and priority, until one gives
    a page or none is left. Variants that are dropped after the failure are sent the same way.

    :param limit: how many dropped requests may wait, in all; the oldest give way, and
        are counted in ``urlcanon/rescue/given_up``.
    """

    def __init__(
        self,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        representatives: Representatives,
        stats: CrawlStats,
        limit: int,
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._representatives = representatives
        self._stats = stats
        self._limit = limit
        self._waiting: OrderedDict[bytes, Waiting] = OrderedDict()
        self._size = 0
        self._under_way: set[bytes] = set()
        self._refused: Request | None = None
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    @property
    def waiting(self) -> Iterator[Request]:
        """The dropped requests that wait, in the order in which they came."""
        for waiting in self._waiting.values():
            yield from waiting.variants.values()

    def dropped(self, drop: Drop) -> None:
        """Keep the dropped request, or let it through where its page has failed."""
        request = drop.request
        if drop.is_exact and _NOT_PLAIN.isdisjoint(request.meta):
            # Nearly all drops: the very request that stands for its page.
            return
        if DECLARED_CANONICAL in drop.rules:
            # What stands for it is another page, which the spider has.
            for source in self._representatives.redirected_to(request):
                self._representatives.settle(source, fetched=True)
            return
        page = self._fingerprints.page(request)
        if page is None:
            return
        if "redirect_urls" in request.meta:
            self._redirect_ended(request, page)
        if mark_of(request, RESCUE) or mark_of(request, AUDIT):
            self._refused = request
            return
        variant = _original(request)
        if variant is not request or not drop.is_exact:
            self._offer(page, variant)

    def restore(self, variant: Request) -> None:
        """Let *variant* wait again: it did when the job was stopped."""
        page = self._fingerprints.page(variant)
        if page is not None:
            self._offer(page, variant)

    def add_original(self, request: Request) -> None:
        """Let the URL that the failed *request* was rewritten from wait as a variant."""
        mark = mark_of(request, REWRITTEN)
        page = mark and self._fingerprints.page(request, mark["url"])
        if page and not self._representatives.outcome(page):
            self._wait(page, _original(request))

    def settled(self, page: bytes, fetched: bool) -> None:  # noqa: FBT001
        """Send the next variant of *page* where it was not *fetched*, else forget them."""
        if page in self._under_way:
            self._under_way.remove(page)
            if fetched:
                self._stats.inc(Stat.RESCUED)
        waiting = self._waiting.get(page)
        if waiting is None:
            return
        while not fetched and waiting.variants:
            # What redirects here goes on waiting: for this variant now.
            self._size -= 1
            if self._send(page, waiting.variants.pop(next(iter(waiting.variants)))):
                return
        del self._waiting[page]
        self._size -= len(waiting)
        for source in waiting.sources:
            self._representatives.settle(source, fetched=fetched)

    def spider_idle(self) -> None:
        """Send what waits for requests that ended unnoticed."""
        self._representatives.give_up()

    def _redirect_ended(self, request: Request, page: bytes) -> None:
        """Note that a redirect led to *request*, which is a duplicate of *page*."""
        outcome = self._representatives.outcome(page)
        for source in self._representatives.redirected_to(request):
            if source == page or outcome is not None:
                # If it led back to where it came from, it was not going to give a page.
                self._representatives.settle(source, fetched=bool(outcome))
            else:
                self._wait_for(page).sources.add(source)
                self._count(page)

    def _offer(self, page: bytes, variant: Request) -> None:
        outcome = self._representatives.outcome(page)
        if outcome is None:
            self._wait(page, variant)
        elif not outcome:
            self._send(page, variant)

    def _wait(self, page: bytes, variant: Request) -> None:
        self._wait_for(page).variants.setdefault(variant.url, variant)
        self._count(page)

    def _wait_for(self, page: bytes) -> Waiting:
        waiting = self._waiting.get(page)
        if waiting is None:
            waiting = self._waiting[page] = Waiting()
        self._size -= len(waiting)
        return waiting

    def _count(self, page: bytes) -> None:
        self._size += len(self._waiting[page])
        while self._size > self._limit:
            _, oldest = self._waiting.popitem(last=False)
            self._size -= len(oldest)
            self._stats.inc(Stat.RESCUE_GIVEN_UP, len(oldest.variants))

    def _send(self, page: bytes, variant: Request) -> bool:
        """Schedule *variant*, and tell whether the scheduler took it."""
        copy = marked(variant, RESCUE)
        self._crawler.engine.crawl(copy)
        if self._refused is copy:
            # It was sent before.
            self._refused = None
            return False
        self._representatives.await_again(page)
        self._under_way.add(page)
        self._stats.inc(Stat.RESCUE_SENT)
        return True


def _original(request: Request) -> Request:
    """Return *request* as it was before it was rewritten, or itself if it was not."""
    mark = mark_of(request, REWRITTEN)
    if mark is None:
        return request
    meta = {key: value for key, value in request.meta.items() if key not in _OF_ANOTHER_URL}
    return with_url(request, mark["original"], meta=meta)
