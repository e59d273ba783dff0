"""The dropped variants that the audit may yet fetch, in bounded memory."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.own_requests import asks_by_url, is_retry
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request

    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats

_FOUND = 20


class DroppedVariants:
    """Keeps those that may yet be compared with their page, or let through.

    They are if what merged them is suspended. Where there is no room the oldest of them are
    forgotten.
    """

    def __init__(self, settings: CrawlSettings, stats: CrawlStats) -> None:
        self._max_count = settings.audit_max_pending
        self._max_bytes = settings.pending_max_bytes
        self._stats = stats
        self._remembered: OrderedDict[str, Drop] = OrderedDict()
        # In the same order: in a broad crawl each of many domains asks for its own.
        self._by_domain: dict[str, dict[str, Drop]] = {}
        self._held = HeldBytes(parts_of)
        # By their ranks: the oldest first would leave the later pages of a site unaudited.
        self._postponed: list[tuple[int, str]] = []
        # Those of pages that nobody had got, by the page: each page would look at all of them.
        self._early: dict[bytes, list[tuple[int, str]]] = {}
        self._early_count = 0

    def remember(self, drop: Drop) -> None:
        """Keep *drop* in case what merged it is suspended."""
        key = key_of(drop.request)
        if key not in self._remembered:
            self._remembered[key] = drop
            self._by_domain.setdefault(drop.domain, {})[key] = drop
            self._held.add(drop.request)
            self._make_room()

    def replace(self, drop: Drop) -> None:
        """Know of *drop*, which is remembered, what it says now: its page has another name."""
        key = key_of(drop.request)
        self._remembered[key] = self._by_domain[drop.domain][key] = drop

    @property
    def drops(self) -> Iterator[Drop]:
        """Those that are remembered, the oldest first."""
        return iter(self._remembered.values())

    def has(self, request: Request) -> bool:
        """Tell whether *request*, or one that asks for the very same, is remembered."""
        return key_of(request) in self._remembered

    def of(self, request: Request) -> Request | None:
        """Return what is remembered that asks for the very same as *request*, if anything does."""
        drop = self._remembered.get(key_of(request))
        return drop.request if drop else None

    def find(self, domain: str, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """Return some drops on *domain* that are remembered and that *is_meant* is true of.

        Half of them are the oldest and half the newest: what merged them may have been right at
        first.
        """
        drops = self._by_domain.get(domain, {}).values()
        oldest = [*islice(filter(is_meant, drops), _FOUND)]
        if len(oldest) < _FOUND:
            return oldest
        newest = islice(filter(is_meant, reversed(drops)), _FOUND // 2)
        return [*oldest[: _FOUND // 2], *newest]

    def forget(self, request: Request) -> Request | None:
        """Do not remember *request* any more; return what was, if anything asks for the same."""
        key = key_of(request)
        drop = self._remembered.pop(key, None)
        if drop:
            self._held.remove(drop.request)
            of_domain = self._by_domain[drop.domain]
            del of_domain[key]
            if not of_domain:
                del self._by_domain[drop.domain]
        return drop.request if drop else None

    def take(self, domain: str, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """Remove and return those on *domain* that *is_meant* is true of."""
        taken = [*filter(is_meant, self._by_domain.get(domain, {}).values())]
        for drop in taken:
            self.forget(drop.request)
        return taken

    def postpone(self, request: Request, rank: int, page: bytes | None) -> None:
        """Note that *request* is of the sample, of which more was audited by now than may be.

        :param page: its page where nobody has got that yet, so that there is nothing to compare.
        """
        if page is None:
            insort(self._postponed, (rank, key_of(request)))
            del self._postponed[self._max_count :]
        else:
            self._early.setdefault(page, []).append((rank, key_of(request)))
            self._early_count += 1
            while self._early_count > self._max_count:
                self._early_count -= len(self._early.pop(next(iter(self._early))))

    def came(self, page: bytes) -> None:
        """Note that *page* was fetched, with which those that were postponed may be compared."""
        postponed = self._early.pop(page, [])
        self._early_count -= len(postponed)
        for each in postponed:
            insort(self._postponed, each)
        del self._postponed[self._max_count :]

    def all_came(self) -> None:
        """Note that no other page is to come: some may have been got under other names."""
        for page in tuple(self._early):
            self.came(page)

    def take_postponed(
        self, is_meant: Callable[[Drop], bool], is_room: Callable[[], bool]
    ) -> Iterator[Drop]:
        """Yield those that were postponed and that *is_meant* is true of, while there is room."""
        index = 0
        while index < len(self._postponed) and is_room():
            drop = self._remembered.get(self._postponed[index][1])
            if drop and not is_meant(drop):
                index += 1
                continue
            del self._postponed[index]
            if drop:
                yield drop

    def _make_room(self) -> None:
        remembered = self._remembered
        while remembered and (
            len(remembered) > self._max_count or self._held.total > self._max_bytes
        ):
            self.forget(next(iter(remembered.values())).request)
            self._stats.inc(Stat.AUDIT_FORGOTTEN)


def key_of(request: Request) -> str:
    """Return what tells *request* from others: its URL, and what it sends, if anything.

    Of what nothing filters each callback would get the page, and of the others the first alone.
    """
    is_for_each = request.dont_filter and not is_retry(request)
    callback = f" {callback_of(request, None)}" if is_for_each else ""
    if asks_by_url(request):
        return f"{request.url}{callback}"
    sent = blake2b(request.body, digest_size=8).hexdigest()
    return f"{request.method} {request.url} {sent}{callback}"
