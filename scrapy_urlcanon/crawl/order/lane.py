"""The requests of one site and one priority that wait, by what is expected of them."""

from __future__ import annotations

from array import array
from collections import deque
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.novelty.features import Features

State: TypeAlias = "dict[bytes, list[int]]"
"""The numbers of the requests that wait, by their features."""

_MAX_CLASSES: Final = 2_000
_MAX_CLASSES_IN_ALL: Final = 100_000
"""Past so many kinds of requests, of one site or of all, new ones are told apart by the shape of
their URLs alone."""
_NUMBER: Final = "I"
_RESCORED: Final = 8
"""After so many requests at the earliest everything that waits is looked at again."""
_SHARE_RESCORED: Final = 8
"""So many kinds are looked at for each request that is taken, on average."""
_DISCOUNT: Final = 0.2
"""What a page is worth that brings nothing itself and leads to nothing but news, where there is
much of that anyway; where there is none it is worth 1."""
_WEALTH: Final = 32
"""Where so many pages wait that are all new, half of the way between the two."""


class Room:
    """Counts the classes of all lanes of a crawl."""

    def __init__(self) -> None:
        self.taken = 0


class Lane:
    """Queues of requests by class: requests with equal features wait in one queue.

    What is expected of a class changes while the crawl learns, up and down, so all classes are
    scored again every few requests. Which of two equal ones comes first is decided by which has
    waited longer.

    What a page leads to counts the more the less is left that is worth anything itself: a crawl
    that has only pages of content to fetch will soon have none.

    :param expect: returns what is expected of requests with these features, and of what they lead
        to.
    :param room: is shared by all lanes.
    """

    def __init__(self, expect: Callable[[Iterable[int]], tuple[float, float]], room: Room) -> None:
        self._expect = expect
        self._room = room
        self._discount = 1.0
        # Features as bytes, since numbers take nine times as much. Most classes of a broad crawl
        # have one request, and a deque takes more than all else of a class.
        self._queues: dict[bytes, deque[int] | int] = {}
        self._scores: dict[bytes, float] = {}
        # The best first, and those that wait longest first. An entry is out of date where its
        # class is gone, has another score, or begins with another request.
        self._best: list[tuple[float, int, bytes]] = []
        self._oldest: list[tuple[int, bytes]] = []
        self._since_rescored = 0
        self._size = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._size

    def push(self, number: int, features: Features) -> None:
        """Have the request with this *number* wait; numbers grow."""
        key = _packed(features.all)
        queue = self._queues.get(key)
        if queue is None and (
            len(self._queues) >= _MAX_CLASSES or self._room.taken >= _MAX_CLASSES_IN_ALL
        ):
            key = _packed(features.coarse)
            queue = self._queues.get(key)
        if queue is None:
            self._queues[key] = number
            self._room.taken += 1
            news, lead = self._expect(array(_NUMBER, key))
            score = self._scores[key] = news + self._discount * lead
            heappush(self._best, (-score, number, key))
            heappush(self._oldest, (number, key))
        elif isinstance(queue, int):
            self._queues[key] = deque((queue, number))
        else:
            queue.append(number)
        self._size += 1

    def take(self, *, oldest: bool) -> tuple[int, tuple[int, ...]]:
        """Return number and features of the request that waits longest, or is worth most.

        It waits no more.
        """
        self._since_rescored += 1
        if self._since_rescored >= max(_RESCORED, len(self._queues) // _SHARE_RESCORED):
            self._rescore()
        key = self._key(oldest=oldest)
        queue = self._queues[key]
        number = queue if isinstance(queue, int) else queue.popleft()
        self._size -= 1
        if isinstance(queue, deque) and queue:
            heappush(self._oldest, (queue[0], key))
        else:
            del self._queues[key], self._scores[key]
            self._room.taken -= 1
        return number, tuple(array(_NUMBER, key))

    def peek(self, *, oldest: bool) -> int:
        """Return the number of the request that :meth:`take` would take."""
        return _first(self._queues[self._key(oldest=oldest)])

    def state(self) -> State:
        """Return the numbers of what waits, by features."""
        return {
            key: [queue] if isinstance(queue, int) else list(queue)
            for key, queue in self._queues.items()
        }

    def restore(self, state: State) -> list[int]:
        """Have wait what waited when :meth:`state` was called; return the numbers."""
        self._queues = {key: deque(numbers) for key, numbers in state.items()}
        self._room.taken += len(state)
        self._order_by_age()
        self._rescore()
        found = [number for numbers in state.values() for number in numbers]
        self._size = len(found)
        return found

    def _key(self, *, oldest: bool) -> bytes:
        queues, scores = self._queues, self._scores
        if oldest:
            while True:
                number, key = self._oldest[0]
                if key in queues and _first(queues[key]) == number:
                    return key
                heappop(self._oldest)
        while True:
            score, _, key = self._best[0]
            if scores.get(key) == -score:
                return key
            heappop(self._best)

    def _order_by_age(self) -> None:
        self._oldest = [(_first(queue), key) for key, queue in self._queues.items()]
        heapify(self._oldest)

    def _rescore(self) -> None:
        self._since_rescored = 0
        queues = self._queues
        if len(self._oldest) > 2 * len(queues):
            # Most are out of date: as many would gather as requests are taken.
            self._order_by_age()
        expected = {key: self._expect(array(_NUMBER, key)) for key in queues}
        wealth = sum(
            expected[key][0] * (1 if isinstance(queue, int) else len(queue))
            for key, queue in queues.items()
        )
        discount = self._discount = _DISCOUNT + (1 - _DISCOUNT) / (1 + wealth / _WEALTH)
        self._scores = {key: news + discount * lead for key, (news, lead) in expected.items()}
        self._best = [(-self._scores[key], _first(queue), key) for key, queue in queues.items()]
        heapify(self._best)


def _packed(features: tuple[int, ...]) -> bytes:
    return array(_NUMBER, features).tobytes()


def _first(queue: deque[int] | int) -> int:
    return queue if isinstance(queue, int) else queue[0]
