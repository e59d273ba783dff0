"""Remembers dropped variants that may yet be audited or let through, in bounded memory."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from hashlib import blake2b
from heapq import heapify, heappop, heapreplace
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.own_requests import asks_by_url, is_retry
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from typing import TypeAlias, TypeVar

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.settings import CrawlSettings

    K = TypeVar("K", bound=Hashable)
    _Kind: TypeAlias = tuple[str, frozenset[RuleEntry]]

_FOUND = 20
_MADE_AT_ONCE = 100
"""If there are too many drops, so small a part of the room is made at once."""


class DroppedVariants:
    """Remembers the dropped variants that may yet be audited or let through.

    They are let through if an entry that merged them is suspended. If there are too many, the
    oldest of those are forgotten that the entries with the most drops merged: a session id in all
    links must not push out what a rarer entry dropped.
    """

    def __init__(
        self, crawler: Crawler, settings: CrawlSettings, fingerprints: PageFingerprints
    ) -> None:
        self._max_count = settings.audit_max_pending
        self._max_bytes = settings.pending_max_bytes
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._remembered: OrderedDict[str, Drop] = OrderedDict()
        # The same drops in the same order, by domain, since a broad crawl has many domains.
        self._by_domain: dict[str, dict[str, Drop]] = {}
        # The same by domain and entries.
        self._by_kind: dict[_Kind, dict[str, Drop]] = {}
        self._held = HeldBytes(parts_of)
        # Those of the sample that wait for room in the budget, by rank. In the order of drops, only
        # the early pages of a site would be audited.
        self._postponed: list[tuple[int, str]] = []
        # Those of the sample whose page was not fetched yet, by page.
        self._early: dict[bytes, list[tuple[int, str]]] = {}
        self._early_count = 0

    def remember(self, drop: Drop) -> None:
        """Remember *drop*, unless one with the same key is remembered already.

        A request of the spider replaces one that an audit made up.
        """
        key = self._key_of(drop.request)
        known = self._remembered.get(key)
        if known and known.is_made_up and not drop.is_made_up:
            self.forget(known.request)
        if key not in self._remembered:
            self._remembered[key] = drop
            self._by_domain.setdefault(drop.domain, {})[key] = drop
            self._by_kind.setdefault(_kind_of(drop), {})[key] = drop
            self._held.add(drop.request)
            self._make_room()

    def replace(self, drop: Drop) -> None:
        """Replace the drop that has the same request by *drop*, whose fingerprint is new."""
        key = self._key_of(drop.request)
        _remove(key, self._by_kind, _kind_of(self._remembered[key]))
        self._by_kind.setdefault(_kind_of(drop), {})[key] = drop
        self._remembered[key] = self._by_domain[drop.domain][key] = drop

    @property
    def drops(self) -> Iterator[Drop]:
        """The remembered drops, the oldest first."""
        return iter(self._remembered.values())

    def has(self, request: Request) -> bool:
        """Tell whether a request with the same key as *request* is remembered."""
        return self._key_of(request) in self._remembered

    def of(self, request: Request) -> Request | None:
        """Return the remembered request with the same key as *request*, or None."""
        drop = self._remembered.get(self._key_of(request))
        return drop.request if drop else None

    def find(self, domain: str, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """Return some of the remembered drops on *domain* that *is_meant* accepts.

        Half of them are the oldest and half the newest, since an entry may be right for the first
        pages of a site and wrong for later ones.
        """
        drops = self._by_domain.get(domain, {}).values()
        oldest = [*islice(filter(is_meant, drops), _FOUND)]
        if len(oldest) < _FOUND:
            return oldest
        newest = islice(filter(is_meant, reversed(drops)), _FOUND // 2)
        return [*oldest[: _FOUND // 2], *newest]

    def forget(self, request: Request) -> Request | None:
        """Forget the request with the same key as *request*; return it, or None.

        None as well if an audit had made it up, since the spider never asked for it.
        """
        key = self._key_of(request)
        drop = self._remembered.pop(key, None)
        if drop:
            self._held.remove(drop.request)
            _remove(key, self._by_domain, drop.domain)
            _remove(key, self._by_kind, _kind_of(drop))
        return drop.request if drop and not drop.is_made_up else None

    def take(self, domain: str, is_meant: Callable[[Drop], bool]) -> list[Drop]:
        """Remove and return the drops on *domain* that *is_meant* accepts."""
        taken = [*filter(is_meant, self._by_domain.get(domain, {}).values())]
        for drop in taken:
            self.forget(drop.request)
        return taken

    def postpone(self, request: Request, rank: int, page: bytes | None) -> None:
        """Keep *request*, which belongs to the sample, until the budget has room for it.

        :param rank: its place in the sample, the lowest first.
        :param page: its page, if it was not fetched yet, so that the request waits for that as
            well.
        """
        if page is None:
            insort(self._postponed, (rank, self._key_of(request)))
            del self._postponed[self._max_count :]
        else:
            self._early.setdefault(page, []).append((rank, self._key_of(request)))
            self._early_count += 1
            while self._early_count > self._max_count:
                self._early_count -= len(self._early.pop(next(iter(self._early))))

    def came(self, page: bytes) -> None:
        """Note that *page* was fetched, so that its postponed requests only wait for room."""
        postponed = self._early.pop(page, [])
        self._early_count -= len(postponed)
        for each in postponed:
            insort(self._postponed, each)
        del self._postponed[self._max_count :]

    def all_came(self) -> None:
        """End all waits for a page: no more will come, and some have new fingerprints."""
        for page in tuple(self._early):
            self.came(page)

    def take_postponed(
        self, is_meant: Callable[[Drop], bool], is_room: Callable[[], bool]
    ) -> Iterator[Drop]:
        """Yield the postponed drops that *is_meant* accepts, by rank, while there is room."""
        index = 0
        while index < len(self._postponed) and is_room():
            drop = self._remembered.get(self._postponed[index][1])
            if drop and not is_meant(drop):
                index += 1
                continue
            del self._postponed[index]
            if drop:
                yield drop

    def _key_of(self, request: Request) -> str:
        apart = self._fingerprints.beside_rules(request)
        return f"{key_of(request)} {apart.hex()}" if apart else key_of(request)

    def _make_room(self) -> None:
        if len(self._remembered) <= self._max_count and self._held.total <= self._max_bytes:
            return
        count = self._max_count - self._max_count // _MADE_AT_ONCE
        size = self._max_bytes - self._max_bytes // _MADE_AT_ONCE
        # The number, since sets have no order: of kinds with as many drops the oldest is first.
        kinds = [
            (-len(drops), number, kind)
            for number, (kind, drops) in enumerate(self._by_kind.items())
        ]
        heapify(kinds)
        while self._remembered and (len(self._remembered) > count or self._held.total > size):
            left, number, kind = kinds[0]
            self.forget(next(iter(self._by_kind[kind].values())).request)
            Stat.AUDIT_FORGOTTEN.inc(self._crawler)
            if left == -1:
                heappop(kinds)
            else:
                heapreplace(kinds, (left + 1, number, kind))


def _kind_of(drop: Drop) -> _Kind:
    return drop.domain, drop.entries


def _remove(key: str, drops_by: dict[K, dict[str, Drop]], group: K) -> None:
    """Remove the drop with this *key* from its *group*, and the group if it is empty then."""
    drops = drops_by[group]
    del drops[key]
    if not drops:
        del drops_by[group]


def key_of(request: Request) -> str:
    """Return a key that is equal for requests that ask for the same: URL, method and body.

    The key of a request with ``dont_filter`` includes the callback, since each callback gets the
    page.
    """
    is_for_each = request.dont_filter and not is_retry(request)
    callback = f" {callback_of(request, None)}" if is_for_each else ""
    if asks_by_url(request):
        return f"{request.url}{callback}"
    sent = blake2b(request.body, digest_size=8).hexdigest()
    return f"{request.method} {request.url} {sent}{callback}"
