"""The priority queue of the scheduler for ``URLCANON_ORDER``."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue

from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.order import index
from scrapy_urlcanon.crawl.order.lane import Lane, Room, Turn
from scrapy_urlcanon.crawl.order.stores import DiskStore, MemoryStore
from scrapy_urlcanon.crawl.scheduling.engine import under_way

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request

    from scrapy_urlcanon.crawl.order.lane import State
    from scrapy_urlcanon.crawl.order.progress import OrderedCrawl


_LEFT_AT_ONCE: Final = 100
"""After this many requests that are left, the engine handles the network. Writing 20,000 took
seconds, in which the crawl did nothing else."""


_WHILE_PROVING: Final = 2
"""At most this many requests of a site are under way at once while its end is proved: a draw and a
request of the shape that was tried least. What leads on may be a chain, as the pages of a list, of
which only one can be fetched at a time. With three draws for each of them, a list was left after 37
pages; with one it is followed for 87."""

_PATIENCE: Final = 1.0
"""Callbacks alone are waited for so many seconds. The engine asks every five seconds at least."""


class SiteQueue:
    """The waiting requests of one download slot.

    Higher priorities come first, as in Scrapy. Among requests of one priority the order decides.
    """

    def __init__(
        self, crawl: OrderedCrawl, store: MemoryStore | DiskStore, room: Room, slot: str
    ) -> None:
        self._crawl = crawl
        self._room = room
        self._order = crawl.order
        self._store = store
        self._slot = slot
        self._lanes: dict[int, Lane] = {}
        self._size = 0

    def __len__(self) -> int:
        """Return how many requests wait."""
        return self._size

    @property
    def is_proving(self) -> bool:
        """Whether the end of what comes next is being proved."""
        return self._crawl.draws(self._slot, max(self._lanes)) > 0

    def push(self, request: Request) -> None:
        """Add *request*.

        :raises ValueError: if it cannot be stored.
        """
        number = self._store.put(request)
        self._lane(request.priority).push(number, self._order.features(request))
        self._size += 1

    def pop(self) -> Request | None:
        """Return the next request; None if that one was left, or if none waits."""
        if not self._size:
            return None
        priority = max(self._lanes)
        lane = self._lanes[priority]
        turn = self._turn(priority)
        number, features = lane.take(turn)
        if not lane:
            del self._lanes[priority]
        self._size -= 1
        request = self._store.take(number)
        if request is None:
            return None
        own = self._crawl.own_priority(request)
        is_done = self._crawl.is_done(self._slot, own)
        if (is_done or self._crawl.is_left(request)) and self._crawl.leave(request):
            return None
        self._order.taken(request, self._slot, own, features, turn)
        return request

    def peek(self) -> Request | None:
        """Return the request that :meth:`pop` would return, without removing it."""
        if not self._size:
            return None
        priority = max(self._lanes)
        return self._store.get(self._lanes[priority].peek(self._turn(priority)))

    def _turn(self, priority: int) -> Turn:
        draws = self._crawl.draws(self._slot, priority)
        return self._lanes[priority].proving(draws) if draws else self._order.turn(self._slot)

    def close(self) -> list[int]:
        """Return the priorities of the requests that wait."""
        return list(self._lanes)

    def state(self) -> dict[int, State]:
        """Return the numbers of the requests that wait, by priority and features."""
        return {priority: lane.state() for priority, lane in self._lanes.items()}

    def restore(self, state: dict[int, State]) -> list[int]:
        """Add the requests that waited when :meth:`state` was called; return their numbers."""
        numbers = []
        for priority, of_lane in state.items():
            numbers += self._lane(priority).restore(of_lane)
        self._size += len(numbers)
        return numbers

    def _lane(self, priority: int) -> Lane:
        lane = self._lanes.get(priority)
        if lane is None:
            lane = self._lanes[priority] = Lane(
                self._order.count_on, self._order.doubts, self._room
            )
        return lane


class NoveltyPriorityQueue(DownloaderAwarePriorityQueue):
    """A ``SCHEDULER_PRIORITY_QUEUE`` that returns requests first that probably bring something new.

    It is fair between download slots, as its base class: it takes turns among those with the fewest
    active downloads. Requests of equal worth come in the order in which they began to wait,
    including start requests. It stores requests itself: ``SCHEDULER_MEMORY_QUEUE`` and similar
    settings have no effect.
    """

    def __init__(
        self,
        crawler: Any,
        downstream_queue_cls: Any,
        key: str,
        startprios: Any = None,
        *,
        start_queue_cls: Any = None,
    ) -> None:
        crawl = Crawl.of(crawler).ordered
        if crawl is None:
            raise ValueError("SCHEDULER_PRIORITY_QUEUE is that of URLCANON_ORDER, which is not set")
        self._crawl = crawl
        crawl.has_queue = True
        self._room = Room()
        self._disk = DiskStore(Path(key), crawler.spider) if key else None
        self._store = self._disk or MemoryStore()
        # The names of the slots in sorted order, in which they take turns.
        self._slots: list[str] = []
        self._last = ""
        # Since when callbacks alone have been waited for; 0 if they are not.
        self._stalled_at = 0.0
        super().__init__(crawler, downstream_queue_cls, key, start_queue_cls=start_queue_cls)
        if index.is_of_order(startprios):
            self._restore(startprios)
        elif startprios:
            self._take_over(startprios)

    def pqfactory(self, slot: str, startprios: Iterable[int] = ()) -> ScrapyPriorityQueue:
        """Return the queue of *slot*."""
        del startprios
        return cast("ScrapyPriorityQueue", SiteQueue(self._crawl, self._store, self._room, slot))

    def push(self, request: Request) -> None:
        """Add *request*.

        :raises ValueError: if it cannot be stored.
        """
        slot = self._downloader_interface.get_slot_key(request)
        queue = self.pqueues.get(slot)
        if queue is None:
            queue = self.pqfactory(slot)
            queue.push(request)
            self._add(slot, queue)
        else:
            queue.push(request)

    def pop(self) -> Request | None:
        """Return the next request; None if none may be fetched now, or many were left in a row."""
        for _ in range(_LEFT_AT_ONCE):
            slot = self._next()
            if slot is None:
                return None
            self._last = slot
            queue = self.pqueues[slot]
            request = queue.pop()
            if not queue:
                del self.pqueues[slot]
                del self._slots[bisect_left(self._slots, slot)]
            if request is not None:
                return request
        self._crawl.asks_again()
        return None

    def peek(self) -> Request | None:
        """Return the request that :meth:`pop` would return, without removing it."""
        slot = self._next()
        return None if slot is None else self.pqueues[slot].peek()

    def _add(self, slot: str, queue: ScrapyPriorityQueue) -> None:
        self.pqueues[slot] = queue
        insort(self._slots, slot)

    def _next(self) -> str | None:
        """Return the slot whose turn it is; None if no request may be fetched now.

        Scrapy's own queue examines all slots each time. Here the search stops at the first slot
        without active downloads, and no more slots can have some than there are downloads.
        """
        begin = bisect_right(self._slots, self._last)
        found, fewest = None, -1
        for number in chain(range(begin, len(self._slots)), range(begin)):
            slot = self._slots[number]
            ((active, _),) = self._downloader_interface.stats((slot,))
            if self._has_to_wait(slot, active):
                continue
            if not active:
                return slot
            if fewest < 0 or active < fewest:
                found, fewest = slot, active
        return found

    def _has_to_wait(self, slot: str, active: int) -> bool:
        """Tell whether enough requests of *slot*, whose end is being proved, are under way.

        :param active: the number of its downloads.
        """
        if not cast("SiteQueue", self.pqueues[slot]).is_proving:
            return False
        slot_key = self._downloader_interface.get_slot_key
        count = sum(slot_key(request) == slot for request in under_way(self.crawler))
        if count < _WHILE_PROVING:
            self._stalled_at = 0.0
            return False
        if not active and not self._stalled_at:
            # Only callbacks are at work. They may be waiting for a request that waits here.
            self._stalled_at = monotonic()
        return not self._stalled_at or monotonic() - self._stalled_at < _PATIENCE

    def close(self) -> Any:
        """Store what waits; return what the scheduler has to store and return to the next run."""
        self._slots.clear()
        if self._disk is None:
            return super().close()
        self._disk.close()
        queues = cast("dict[str, SiteQueue]", self.pqueues)
        waiting = {slot: queue.state() for slot, queue in queues.items()}
        self.pqueues.clear()
        return index.write(self._disk.directory, waiting)

    def _restore(self, stored: list[Any]) -> None:
        """Add the requests that waited when the last run ended.

        :raises ValueError: if what it stored is damaged.
        """
        assert self._disk is not None  # noqa: S101 - only a stored queue has a state
        for slot, state in index.read(self._disk.directory, stored).items():
            queue = SiteQueue(self._crawl, self._store, self._room, slot)
            for number in queue.restore(state):
                self._disk.restore(number)
            self._add(slot, cast("ScrapyPriorityQueue", queue))

    def _take_over(self, startprios: Any) -> None:
        """Add the requests that waited in Scrapy's queues, in which the job was begun."""
        kind: Any = ScrapyPriorityQueue
        if isinstance(startprios, dict):
            kind = DownloaderAwarePriorityQueue
        queue = kind(
            self.crawler,
            self.downstream_queue_cls,
            self.key,
            startprios,
            start_queue_cls=self._start_queue_cls,
        )
        while (request := queue.pop()) is not None:
            self.push(request)
        queue.close()
