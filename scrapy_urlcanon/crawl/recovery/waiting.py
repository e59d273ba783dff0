"""Keeps what waits for a page: dropped variants, and other pages that share its fate."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes
from scrapy_urlcanon.crawl.recovery.page_states import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

R = TypeVar("R")


class SecondSteps:
    """Counts the second steps of a callback for one page, such as forms it sends: all must come.

    >>> steps = SecondSteps()
    >>> steps.left = 2
    >>> steps.ended(has_come=True), steps.ended(has_come=True)
    (None, <Event.GOT: 'got'>)
    >>> steps.left = 2
    >>> steps.ended(has_come=False), steps.ended(has_come=True)
    (<Event.ENDED: 'ended'>, None)
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = 0
        """How many have yet to come; 0 from the first failure on."""

    def ended(self, *, has_come: bool) -> Event | None:
        """Note that one of them came or failed; return the resulting event for the page, if any."""
        if not self.left:
            return None
        self.left = self.left - 1 if has_come else 0
        if self.left:
            return None
        return Event.GOT if has_come else Event.ENDED


class Waiting(Generic[R]):
    """All that waits for one page."""

    __slots__ = ("size", "sources", "variants")

    def __init__(self) -> None:
        self.size = 0
        """An estimate of the bytes that the requests take."""
        self.variants: dict[Hashable, dict[str, R]] = {}
        """The dropped requests by callback and URL, in the order in which they came. A callback
        without requests has no key."""
        self.sources: dict[tuple[bytes, Hashable, Hashable], bool | SecondSteps] = {}
        """What shares the fate of this page. The key is another page, its callback, and the
        callback of this page whose outcome counts. The value says whether the other page counts as
        had (see :meth:`.PageLives.redirected`), or holds the second steps to which this page
        belongs."""


class WaitingPages(Generic[R]):
    """All that waits, by page, within bounds on number and bytes.

    When a bound is exceeded, the newest variants of the page with the most bytes are forgotten. So
    a crawler trap cannot push out the variants of other pages.

    >>> waiting = WaitingPages(3, 100_000_000, lambda request: (request,))
    >>> for page, url in ((b"page", "/a"), (b"trap", "/1"), (b"trap", "/2"), (b"trap", "/3")):
    ...     waiting.add(page, "parse", url, url)
    >>> list(waiting.requests()), waiting.given_up
    (['/a', '/1', '/2'], 1)
    >>> waiting.take(b"trap", "parse"), waiting.take(b"trap", "parse"), b"trap" in waiting
    ('/1', '/2', False)

    :param max_waiting: the most variants that may wait, over all pages.
    :param max_bytes: the most bytes that they may take, as an estimate, over all pages.
    :param parts: returns the objects that a request holds, for the estimate.
    """

    def __init__(
        self, max_waiting: int, max_bytes: int, parts: Callable[[R], Iterable[object]]
    ) -> None:
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._held = HeldBytes(parts)
        self._pages: dict[bytes, Waiting[R]] = {}
        self._count = 0
        # A heap of pages, the largest first, each with its (negative) bytes when it was pushed.
        # Entries that no longer hold are corrected when they are popped.
        self._largest: list[tuple[int, bytes]] = []
        self.given_up = 0
        """How many variants were forgotten for lack of room."""

    def __contains__(self, page: object) -> bool:
        return page in self._pages

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pages)

    def requests(self) -> Iterator[R]:
        """Yield the dropped requests, those of one page in the order in which they came."""
        for waiting in self._pages.values():
            for variants in waiting.variants.values():
                yield from variants.values()

    def get(self, page: bytes) -> Waiting[R] | None:
        """Return what waits for *page*, if anything does."""
        return self._pages.get(page)

    def of(self, page: bytes) -> Waiting[R]:
        """Return what waits for *page*; creates an empty entry if nothing does."""
        waiting = self._pages.get(page)
        if waiting is None:
            waiting = self._pages[page] = Waiting()
        return waiting

    def add(self, page: bytes, callback: Hashable, url: str, request: R) -> None:
        """Let *request* wait for *page*, unless one with the same URL and callback does."""
        waiting = self.of(page)
        variants = waiting.variants.setdefault(callback, {})
        if url in variants:
            return
        variants[url] = request
        self._count += 1
        waiting.size += self._held.add(request)
        heappush(self._largest, (-waiting.size, page))
        while self._count > self._max_waiting or self._held.total > self._max_bytes:
            if not self._give_way():
                break
        if len(self._largest) > 2 * (len(self._pages) + self._max_waiting):
            self._largest = [(-each.size, page) for page, each in self._pages.items()]
            heapify(self._largest)

    def take(self, page: bytes, callback: Hashable) -> R | None:
        """Remove and return the oldest variant of *callback* that waits for *page*, or None."""
        variants = self._variants(page, callback)
        return self._remove(page, callback, next(iter(variants))) if variants else None

    def withdraw(self, page: bytes, callback: Hashable, url: str) -> None:
        """Remove the request of *callback* with this *url* from those that wait for *page*."""
        if url in self._variants(page, callback):
            self._remove(page, callback, url)

    def withdraw_all(self, page: bytes, callback: Hashable) -> None:
        """Remove all requests of *callback* from those that wait for *page*."""
        for url in tuple(self._variants(page, callback)):
            self._remove(page, callback, url)

    def rename(self, page: bytes, new: bytes) -> None:
        """Move all that waits for *page* to *new*, its new fingerprint."""
        other = self._pages.pop(page, None)
        if other is None:
            return
        waiting = self.of(new)
        waiting.size += other.size
        waiting.sources |= other.sources
        for callback, requests in other.variants.items():
            variants = waiting.variants.setdefault(callback, {})
            for url, request in requests.items():
                if variants.setdefault(url, request) is not request:
                    self._release(waiting, request)
        heappush(self._largest, (-waiting.size, new))

    def forget_if_empty(self, page: bytes) -> None:
        """Delete the entry of *page* if nothing waits for it."""
        waiting = self._pages.get(page)
        if waiting and not waiting.variants and not waiting.sources:
            del self._pages[page]

    def _variants(self, page: bytes, callback: Hashable) -> dict[str, R]:
        waiting = self._pages.get(page)
        return waiting.variants.get(callback, {}) if waiting else {}

    def _remove(self, page: bytes, callback: Hashable, url: str) -> R:
        waiting = self._pages[page]
        variants = waiting.variants[callback]
        request = variants.pop(url)
        if not variants:
            del waiting.variants[callback]
        self._release(waiting, request)
        self.forget_if_empty(page)
        return request

    def _give_way(self) -> bool:
        """Forget the newest variant of the largest page; return False if none waits."""
        while self._largest:
            size, page = heappop(self._largest)
            waiting = self._pages.get(page)
            if waiting is None or not waiting.variants:
                continue
            if waiting.size < -size:
                # It has shrunk since it was pushed.
                heappush(self._largest, (-waiting.size, page))
                continue
            callback = max(waiting.variants, key=lambda name: len(waiting.variants[name]))
            self._remove(page, callback, next(reversed(waiting.variants[callback])))
            self.given_up += 1
            heappush(self._largest, (-waiting.size, page))
            return True
        return False

    def _release(self, waiting: Waiting[R], request: R) -> None:
        """Subtract *request*, which no longer waits, from the number and the bytes."""
        self._count -= 1
        waiting.size -= self._held.remove(request)
