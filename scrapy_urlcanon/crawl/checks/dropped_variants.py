"""The dropped variants that the audit may yet fetch, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_urlcanon.crawl.dropped import Drop
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats


class DroppedVariants:
    """Keeps those that wait to be compared with their page, and those that nobody asked about.

    The latter are fetched if what merged them is suspended. Where there is no room the oldest of
    them are forgotten, and then the oldest of those that wait given up.
    """

    def __init__(self, settings: CrawlSettings, stats: CrawlStats) -> None:
        self._max_count = settings.audit_max_pending
        self._max_bytes = settings.pending_max_bytes
        self._stats = stats
        self._waiting: OrderedDict[bytes, list[Drop]] = OrderedDict()
        self._count_of_waiting = 0
        self._remembered: OrderedDict[str, Drop] = OrderedDict()
        self._held = HeldBytes(parts_of)

    def wait(self, page: bytes, drop: Drop) -> None:
        """Have *drop* wait until *page* is fetched."""
        self._waiting.setdefault(page, []).append(drop)
        self._count_of_waiting += 1
        self._held.add(drop.request)
        self._make_room()

    def take_waiting(self, page: bytes) -> list[Drop]:
        """Remove and return what waits for *page*."""
        drops = self._waiting.pop(page, [])
        self._count_of_waiting -= len(drops)
        for drop in drops:
            self._held.remove(drop.request)
        return drops

    def stop_waiting(self, page: bytes, url: str) -> None:
        """Have *url* wait no more for *page*."""
        for drop in self.take_waiting(page):
            if drop.request.url != url:
                self.wait(page, drop)

    def remember(self, drop: Drop) -> None:
        """Keep *drop* in case what merged it is suspended."""
        if drop.request.url not in self._remembered:
            self._remembered[drop.request.url] = drop
            self._held.add(drop.request)
            self._make_room()

    def get(self, url: str) -> Drop | None:
        """Return the drop of *url* if it is remembered."""
        return self._remembered.get(url)

    def find(self, is_meant: Callable[[Drop], bool]) -> Drop | None:
        """Return the oldest drop that is remembered and that *is_meant* is true of."""
        return next(filter(is_meant, self._remembered.values()), None)

    def forget(self, url: str) -> None:
        """Do not remember *url* any more."""
        drop = self._remembered.pop(url, None)
        if drop:
            self._held.remove(drop.request)

    def take(
        self, is_meant: Callable[[Drop], bool], page_of: Callable[[Request], bytes | None]
    ) -> list[Drop]:
        """Remove and return those that wait or are remembered, and that *is_meant* is true of.

        :param page_of: returns the page of a request as it is now: the others wait for that.
        """
        taken = []
        for page in tuple(self._waiting):
            for drop in self.take_waiting(page):
                if is_meant(drop):
                    taken.append(drop)
                else:
                    self.wait(page_of(drop.request) or page, drop)
        for url, drop in tuple(self._remembered.items()):
            if is_meant(drop):
                self.forget(url)
                taken.append(drop)
        return taken

    def _make_room(self) -> None:
        while self._remembered and self._is_full(len(self._remembered)):
            self.forget(next(iter(self._remembered)))
            self._stats.inc(Stat.AUDIT_FORGOTTEN)
        while self._waiting and self._is_full(self._count_of_waiting):
            page, drops = next(iter(self._waiting.items()))
            self._count_of_waiting -= 1
            self._held.remove(drops.pop(0).request)
            self._stats.inc(Stat.AUDIT_GIVEN_UP)
            if not drops:
                del self._waiting[page]

    def _is_full(self, count: int) -> bool:
        return count > self._max_count or self._held.total > self._max_bytes
