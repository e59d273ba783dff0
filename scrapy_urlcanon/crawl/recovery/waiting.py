"""What waits for a page: variants that were dropped, and other pages that share its fate."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes
from scrapy_urlcanon.crawl.recovery.page_states import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

R = TypeVar("R")


class SecondSteps:
    """The second steps of a callback to one page, such as a form that it sends: it needs all.

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
        """How many have not come yet; 0 as soon as one has failed."""

    def ended(self, *, has_come: bool) -> Event | None:
        """Note that one of them came or failed; return the event for the page, if any."""
        if not self.left:
            return None
        self.left = self.left - 1 if has_come else 0
        if self.left:
            return None
        return Event.GOT if has_come else Event.ENDED


class Waiting(Generic[R]):
    """What waits for one page."""

    __slots__ = ("size", "sources", "variants")

    def __init__(self) -> None:
        self.size = 0
        """About how many bytes the requests take."""
        self.variants: dict[Hashable, dict[str, R]] = {}
        """The dropped requests by callback and URL, in the order in which they came. No callback
        without requests."""
        self.sources: dict[tuple[bytes, Hashable, Hashable], bool | SecondSteps] = {}
        """What shares the fate of this page: another page, its callback, and the callback of this
        page whose outcome counts. The value says whether it counts as had (see
        :meth:`.PageLives.redirected`), or has the second steps of which this page is one."""


class WaitingPages(Generic[R]):
    """What waits for each page, within bounds.

    Beyond them, the youngest variants of the page with the most bytes are forgotten. So a trap does
    not push out the variants of other pages.

    >>> waiting = WaitingPages(3, 100_000_000, lambda request: (request,))
    >>> for page, url in ((b"page", "/a"), (b"trap", "/1"), (b"trap", "/2"), (b"trap", "/3")):
    ...     waiting.add(page, "parse", url, url)
    >>> list(waiting.requests()), waiting.given_up
    (['/a', '/1', '/2'], 1)
    >>> waiting.take(b"trap", "parse"), waiting.take(b"trap", "parse"), b"trap" in waiting
    ('/1', '/2', False)

    :param max_waiting: how many variants may wait, in all.
    :param max_bytes: about how many bytes they may take, in all.
    :param parts: returns the objects that a request holds, for an estimate of its bytes.
    """

    def __init__(
        self, max_waiting: int, max_bytes: int, parts: Callable[[R], Iterable[object]]
    ) -> None:
        self._max_waiting = max_waiting
        self._max_bytes = max_bytes
        self._held = HeldBytes(parts)
        self._pages: dict[bytes, Waiting[R]] = {}
        self._count = 0
        # A heap of pages, the largest first, each with its bytes when it was pushed.
        self._largest: list[tuple[int, bytes]] = []
        self.given_up = 0
        """How many variants wait no more, for lack of room."""

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
        """Return what waits for *page*; if nothing does, an empty object that is kept."""
        waiting = self._pages.get(page)
        if waiting is None:
            waiting = self._pages[page] = Waiting()
        return waiting

    def add(self, page: bytes, callback: Hashable, url: str, request: R) -> None:
        """Have *request* for *url* wait for *page*, unless one for *url* does already."""
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
        """Remove and return what of *callback* has waited for *page* longest, or None."""
        variants = self._variants(page, callback)
        return self._remove(page, callback, next(iter(variants))) if variants else None

    def withdraw(self, page: bytes, callback: Hashable, url: str) -> None:
        """Have no request of *callback* for *url* wait for *page*."""
        if url in self._variants(page, callback):
            self._remove(page, callback, url)

    def withdraw_all(self, page: bytes, callback: Hashable) -> None:
        """Have no request of *callback* wait for *page*."""
        for url in tuple(self._variants(page, callback)):
            self._remove(page, callback, url)

    def rename(self, page: bytes, new: bytes) -> None:
        """Have all that waits for *page* wait for *new*, its new fingerprint."""
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
        """Forget *page* where nothing waits for it."""
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
        """Forget the youngest variant of the page with the most bytes; tell if there is one."""
        while self._largest:
            size, page = heappop(self._largest)
            waiting = self._pages.get(page)
            if waiting is None or not waiting.variants:
                continue
            if waiting.size < -size:
                # It has shrunk since.
                heappush(self._largest, (-waiting.size, page))
                continue
            callback = max(waiting.variants, key=lambda name: len(waiting.variants[name]))
            self._remove(page, callback, next(reversed(waiting.variants[callback])))
            self.given_up += 1
            heappush(self._largest, (-waiting.size, page))
            return True
        return False

    def _release(self, waiting: Waiting[R], request: R) -> None:
        """Take *request*, which no longer waits, out of the count and the bytes."""
        self._count -= 1
        waiting.size -= self._held.remove(request)
