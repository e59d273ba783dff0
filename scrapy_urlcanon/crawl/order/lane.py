"""Holds the waiting requests of one site and priority, and chooses which is fetched next."""

from __future__ import annotations

from collections import Counter, deque
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from itertools import chain
from math import floor, log2, sqrt
from operator import mul
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import define

from scrapy_urlcanon.novelty.features import Features

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

State: TypeAlias = "dict[bytes, tuple[bytes, list[int]]]"
"""By features of waiting requests: the shape of their URLs, and their numbers."""

_MAX_CLASSES: Final = 2_000
_MAX_CLASSES_IN_ALL: Final = 100_000
"""The most kinds of requests, of one lane and in all. Beyond them, new requests are told apart only
by the shape of their URLs."""
_RESCORED: Final = 2
"""All classes are scored again after this many requests at the earliest."""
_SHARE_RESCORED: Final = 64
"""How many classes are scored for each request that is taken, on average. With 8, a shop with
filters had 500 classes after 20 fetches, and for 60 more did not learn from its first product."""
_DISCOUNT: Final = 0.1
"""The least weight of what a page leads to, if many good pages wait already; the greatest is 1, if
none do."""
_WEALTH: Final = 21
"""With so many waiting pages as good as the best, the weight is halfway between the two."""
_STEPS: Final = 4
"""How many levels better a page is that is worth twice as much. Within a level the request that has
waited longest comes first: a site links its best pages first, and an expectation that is a few per
cent higher, learned from three pages, is no reason to deviate from that."""


class Turn(Enum):
    """The rule by which the next request is chosen; among equal ones, the oldest is taken."""

    BEST = auto()
    """The request that is worth most."""
    OLDEST = auto()
    """The request that has waited longest."""
    NEWEST = auto()
    """A request with the same features as the one that came last."""
    LEAST_TRIED = auto()
    """A request of the shape that was fetched least often."""
    LEAST_KNOWN = auto()
    """A request with the features about which least is known."""
    SHAPES = auto()
    """A request of the shape that is next in turn (:meth:`Lane._of_next_shape`)."""
    DRAWN = auto()
    """Any request, drawn at random."""
    DRAWN_OF_LEAST_TRIED = auto()
    """One of the shapes that were fetched least often, drawn at random."""


_DRAWN: Final = frozenset({Turn.DRAWN, Turn.DRAWN_OF_LEAST_TRIED})


@define
class _Class:
    """The requests with the same features."""

    first: int
    """The number of the request that has waited longest."""
    shape: bytes
    """The coarse features of all of them."""
    others: deque[int] | None = None
    """The numbers of the others; None if there are none, as most often in a broad crawl, since a
    deque takes much memory."""

    def __len__(self) -> int:
        return 1 + len(self.others) if self.others else 1

    @property
    def last(self) -> int:
        """The number of the request that came last."""
        return self.others[-1] if self.others else self.first

    def at(self, place: int) -> int:
        """Return the number of the request at this *place*, the oldest at 0."""
        return self.others[place - 1] if self.others and place else self.first

    def remove(self, place: int) -> None:
        """Remove the request at this *place*; others must be left."""
        assert self.others  # noqa: S101 - else the class is removed
        if place:
            del self.others[place - 1]
        else:
            self.first = self.others.popleft()


class Room:
    """Counts the classes of all lanes of a crawl, and draws random numbers for them."""

    def __init__(self) -> None:
        self.taken = 0
        # Seeded, so that two crawls of the same pages go alike; and one for all lanes, since it
        # takes 2.5 kB.
        self._random = Random(1)  # noqa: S311
        self.draw = self._random.random()
        """From 0 to 1: the place of the request that is drawn next."""

    def draw_again(self) -> None:
        """Draw another number."""
        self.draw = self._random.random()


class Lane:
    """Queues of requests by class: requests with equal features wait in one queue.

    What is expected of a class changes while the crawl learns, up and down, so all classes are
    scored again every few requests. Of two about equal classes, the one that has waited longer
    comes first.

    What a page leads to counts more if few good pages wait: a crawl that only fetches content, and
    no lists, will soon have nothing left.

    :param count_on: returns for the features of classes what is expected of each, more than 0, and
        what is expected of the pages that each leads to.
    :param doubts: returns for such features how uncertain each expectation is.
    :param room: is shared by all lanes.
    """

    def __init__(
        self,
        count_on: Callable[[Sequence[bytes]], tuple[list[float], list[float]]],
        doubts: Callable[[Sequence[bytes]], list[float]],
        room: Room,
    ) -> None:
        self._count_on = count_on
        self._doubts = doubts
        self._room = room
        self._discount = 1.0
        self._classes: dict[bytes, _Class] = {}
        # Two heaps of classes: the best first, and the oldest first. An entry is out of date if its
        # class is gone, or, in the second heap, if its first request has been taken.
        self._best: list[tuple[int, int, bytes]] = []
        self._oldest: list[tuple[int, bytes]] = []
        # How many requests of each shape were taken.
        self._tried: Counter[bytes] = Counter()
        # Whether what was taken last was drawn.
        self._has_drawn = False
        # Requests taken since the last time, and the one that is taken next.
        self._since_rescored = 1
        self._size = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._size

    def push(self, number: int, features: Features) -> None:
        """Add the request with this *number*; numbers only grow."""
        shape, key = features
        found = self._classes.get(key)
        if found is None and (
            len(self._classes) >= _MAX_CLASSES or self._room.taken >= _MAX_CLASSES_IN_ALL
        ):
            key = shape
            found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = _Class(number, shape)
            self._room.taken += 1
            (news,), (lead,) = self._count_on((key,))
            heappush(self._best, (-_level(news + self._discount * lead), number, key))
            heappush(self._oldest, (number, key))
        elif found.others is None:
            found.others = deque((number,))
        else:
            found.others.append(number)
        self._size += 1

    def take(self, turn: Turn) -> tuple[int, Features]:
        """Remove the request that *turn* selects, and return its number and features."""
        key, place = self._place(turn)
        self._since_rescored += 1
        self._has_drawn = turn is Turn.DRAWN
        if turn in _DRAWN:
            self._room.draw_again()
        found = self._classes[key]
        number = found.at(place)
        self._size -= 1
        if len(self._tried) > _MAX_CLASSES:
            self._tried.clear()
        self._tried[found.shape] += 1
        if found.others:
            found.remove(place)
            heappush(self._oldest, (found.first, key))
        else:
            del self._classes[key]
            self._room.taken -= 1
        return number, Features(found.shape, key)

    def peek(self, turn: Turn) -> int:
        """Return the number of the request that :meth:`take` would take."""
        key, place = self._place(turn)
        return self._classes[key].at(place)

    def proving(self, tries: int) -> Turn:
        """Return the rule by which the next request is chosen while the end is to be proved.

        What waits is drawn from at random. But what leads on may be few requests among many, as the
        next page of a list beside all that its first pages link. So each second fetch tries the
        shape that was tried least, until all that wait had *tries*. Of that shape one is drawn too:
        if only the last volumes of a journal have texts, those that have waited longest have none.
        """
        if not self._has_drawn:
            return Turn.DRAWN
        shapes = {each.shape for each in self._classes.values()}
        is_tried = len(shapes) == 1 or min(map(self._tried.__getitem__, shapes)) >= tries
        return Turn.DRAWN if is_tried else Turn.DRAWN_OF_LEAST_TRIED

    def state(self) -> State:
        """Return all requests that wait, for :meth:`restore`."""
        return {
            key: (each.shape, [each.first, *(each.others or ())])
            for key, each in self._classes.items()
        }

    def restore(self, state: State) -> list[int]:
        """Add the requests that waited when :meth:`state` was called; return their numbers."""
        self._classes = {
            key: _Class(first, shape, deque(others) if others else None)
            for key, (shape, (first, *others)) in state.items()
        }
        self._room.taken += len(state)
        self._order_by_age()
        self._rescore()
        found = [number for _, numbers in state.values() for number in numbers]
        self._size = len(found)
        return found

    def _place(self, turn: Turn) -> tuple[bytes, int]:
        """Return the class of the request that *turn* selects, and its place in the class."""
        if self._since_rescored >= max(_RESCORED, len(self._classes) // _SHARE_RESCORED):
            self._rescore()
        if turn not in _DRAWN:
            return self._key(turn), 0
        waiting, size = [*self._classes.items()], self._size
        if turn is Turn.DRAWN_OF_LEAST_TRIED:
            waiting = self._least_tried()
            size = sum(len(each) for _, each in waiting)
        place = int(self._room.draw * size)
        for key, each in waiting:
            if place < len(each):
                return key, place
            place -= len(each)
        raise IndexError("none waits")

    def _least_tried(self) -> list[tuple[bytes, _Class]]:
        """Return the classes of the shapes that were fetched least often, by their features."""
        # Written without a function call for each class, since there are thousands of classes.
        tried, classes = self._tried, self._classes
        fewest = min([tried[shape] for shape in {each.shape for each in classes.values()}])
        return [(key, each) for key, each in classes.items() if tried[each.shape] == fewest]

    def _key(self, turn: Turn) -> bytes:
        classes = self._classes
        if turn is Turn.LEAST_TRIED:
            return min([(each.first, key) for key, each in self._least_tried()])[1]
        if turn is Turn.NEWEST:
            return max([(each.last, key) for key, each in classes.items()])[1]
        if turn is Turn.LEAST_KNOWN:
            doubts = self._doubts([*classes])
            unknown = zip(doubts, classes.items(), strict=True)
            return max([(doubt, -each.first, key) for doubt, (key, each) in unknown])[2]
        if turn is Turn.SHAPES:
            return self._of_next_shape()
        if turn is Turn.OLDEST:
            while True:
                number, key = self._oldest[0]
                if key in classes and classes[key].first == number:
                    return key
                heappop(self._oldest)
        while True:
            _, _, key = self._best[0]
            if key in classes:
                return key
            heappop(self._best)

    def _of_next_shape(self) -> bytes:
        """Return the oldest class of the shape that is next in turn.

        Turns are divided among shapes as seats are among parties (the divisors of V. D'Hondt), by
        what the requests of a shape are worth times the root of how many were found. With one turn
        for each shape, the many rare shapes of a site took all turns; with turns by numbers alone,
        the views of a list did, of which there are more than of what it lists.
        """
        classes, tried = self._classes, self._tried
        oldest: dict[bytes, bytes] = {}
        waiting: Counter[bytes] = Counter()
        worth: dict[bytes, float] = {}
        counted = self._count_on([*classes])
        for (key, each), news, lead in zip(classes.items(), *counted, strict=True):
            shape = each.shape
            waiting[shape] += len(each)
            worth[shape] = worth.get(shape, 0.0) + (news + self._discount * lead) * len(each)
            if each.first <= classes[oldest.setdefault(shape, key)].first:
                oldest[shape] = key

        def claim(shape: bytes) -> tuple[float, int]:
            found = waiting[shape] + tried[shape]
            of_each = worth[shape] / waiting[shape] * sqrt(found)
            return of_each / (1 + tried[shape]), -classes[oldest[shape]].first

        return oldest[max(oldest, key=claim)]

    def _order_by_age(self) -> None:
        self._oldest = [(each.first, key) for key, each in self._classes.items()]
        heapify(self._oldest)

    def _rescore(self) -> None:
        self._since_rescored = 0
        classes = self._classes
        if len(self._oldest) > 2 * len(classes):
            # Most entries are out of date, and more would gather with each request.
            self._order_by_age()
        # In one call: one for each class took half of the time.
        news, leads = self._count_on([*classes])
        wealth = sum(map(mul, news, map(len, classes.values())))
        # Counted in pages as good as the best one, here or behind these: if all pages of a site
        # bring little, that is no reason to prefer lists of them.
        wealth /= max(chain(news, leads), default=1.0)
        discount = self._discount = _DISCOUNT + (1 - _DISCOUNT) / (1 + wealth / _WEALTH)
        self._best = [
            (-_level(its_news + discount * its_lead), each.first, key)
            for (key, each), its_news, its_lead in zip(classes.items(), news, leads, strict=True)
        ]
        heapify(self._best)


def _level(worth: float) -> int:
    return floor(_STEPS * log2(worth))
