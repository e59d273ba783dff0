"""The requests of one site and one priority that wait, by what can be counted on of them."""

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
"""By features of requests that wait: the shape of their URLs, and their numbers."""

_MAX_CLASSES: Final = 2_000
_MAX_CLASSES_IN_ALL: Final = 100_000
"""Past so many kinds of requests, of one site or of all, new ones are told apart by the shape of
their URLs alone."""
_RESCORED: Final = 2
"""After so many requests at the earliest everything that waits is looked at again."""
_SHARE_RESCORED: Final = 64
"""So many kinds are looked at for each request that is taken, on average. With 8 a shop with
filters had 500 kinds after 20 fetches, and for 60 more the first product was not learned from."""
_DISCOUNT: Final = 0.1
"""What a page is worth that brings nothing itself and leads to nothing but the best, where there is
much of that anyway; where there is none it is worth 1."""
_WEALTH: Final = 21
"""Where so many pages wait that are as good as the best, half of the way between the two."""
_STEPS: Final = 4
"""What is twice as good is so many steps better. Within a step that comes first which waits
longest: a site links first what it has most of to say, and a few per cent more that are expected,
of pages of which three were fetched, are no reason to do otherwise."""


class Turn(Enum):
    """Which of the requests that wait comes next."""

    BEST = auto()
    """That which is worth most."""
    OLDEST = auto()
    """That which waits longest."""
    NEWEST = auto()
    """That which waits longest of those with the features of what began to wait last."""
    LEAST_TRIED = auto()
    """That which waits longest of those whose shape was fetched least often."""
    LEAST_KNOWN = auto()
    """That which waits longest of those of whose features least is known."""
    SHAPES = auto()
    """That which waits longest of the shape whose turn it is, of all that wait."""
    DRAWN = auto()
    """Any of all that wait, drawn at random."""


@define
class _Class:
    """The requests with the same features."""

    first: int
    """The number of the one that waits longest."""
    shape: bytes
    """The coarse features of all of them."""
    others: deque[int] | None = None
    """The numbers of the others. Most classes of a broad crawl have none, and a deque takes much
    memory."""

    def __len__(self) -> int:
        return 1 + len(self.others) if self.others else 1

    @property
    def last(self) -> int:
        """The number of the one that began to wait last."""
        return self.others[-1] if self.others else self.first

    def at(self, place: int) -> int:
        """Return the number of that at this *place*, as they wait."""
        return self.others[place - 1] if self.others and place else self.first

    def remove(self, place: int) -> None:
        """Have that at this *place* wait no more; it is not the last one that waits."""
        assert self.others  # noqa: S101 - else the class is removed
        if place:
            del self.others[place - 1]
        else:
            self.first = self.others.popleft()


class Room:
    """Counts the classes of all lanes of a crawl, and draws for them."""

    def __init__(self) -> None:
        self.taken = 0
        # Two crawls of the same pages go alike. Of each lane it would take 2.5 kB a host.
        self._random = Random(1)  # noqa: S311
        self.draw = self._random.random()
        """From 0 to 1: says which one is drawn next."""

    def draw_again(self) -> None:
        """Have another one drawn next."""
        self.draw = self._random.random()


class Lane:
    """Queues of requests by class: requests with equal features wait in one queue.

    What is expected of a class changes while the crawl learns, up and down, so all classes are
    scored again every few requests. Which of two about equal ones comes first is decided by which
    has waited longer.

    What a page leads to counts the more the less is left that is worth anything itself: a crawl
    that has only pages of content to fetch will soon have none.

    :param count_on: returns for the features of some classes what can be counted on of each of
        these, which is more than 0, and what of what each leads to.
    :param doubts: returns how little is known of each of these features.
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
        # The best first, and those that wait longest first. An entry is out of date where its
        # class is gone; of those that wait longest, where it begins with another request too.
        self._best: list[tuple[int, int, bytes]] = []
        self._oldest: list[tuple[int, bytes]] = []
        # How many of a shape were taken.
        self._tried: Counter[bytes] = Counter()
        self._since_rescored = 0
        self._size = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._size

    def push(self, number: int, features: Features) -> None:
        """Have the request with this *number* wait; numbers grow."""
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
        """Return number and features of the request whose *turn* it is.

        It waits no more.
        """
        self._since_rescored += 1
        if self._since_rescored >= max(_RESCORED, len(self._classes) // _SHARE_RESCORED):
            self._rescore()
        key, place = self._place(turn)
        if turn is Turn.DRAWN:
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

    def state(self) -> State:
        """Return what waits."""
        return {
            key: (each.shape, [each.first, *(each.others or ())])
            for key, each in self._classes.items()
        }

    def restore(self, state: State) -> list[int]:
        """Have wait what waited when :meth:`state` was called; return the numbers."""
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
        """Return the class of the request whose *turn* it is, and its place in that."""
        if turn is not Turn.DRAWN:
            return self._key(turn), 0
        place = int(self._room.draw * self._size)
        for key, each in self._classes.items():
            if place < len(each):
                return key, place
            place -= len(each)
        raise IndexError("none waits")

    def _key(self, turn: Turn) -> bytes:
        classes = self._classes
        # Of thousands of classes: a function of each took as long as all else that is done here.
        if turn is Turn.LEAST_TRIED:
            tried = self._tried
            fewest = min([tried[shape] for shape in {each.shape for each in classes.values()}])
            ages = [
                (each.first, key) for key, each in classes.items() if tried[each.shape] == fewest
            ]
            return min(ages)[1]
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
        """Return the class that waits longest of the shape whose turn it is.

        A shape has turns by what its requests are worth, and by the root of how many were found:
        seats are given so to parties (the divisors of V. D'Hondt). With one turn each the rarest
        shapes, of which a site has many, took all; with turns by their numbers alone the views of
        a list did, of which there are more than of what it lists.
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
            # Most are out of date: as many would gather as requests are taken.
            self._order_by_age()
        # All at once: one by one that took half of the time.
        news, leads = self._count_on([*classes])
        wealth = sum(map(mul, news, map(len, classes.values())))
        # In pages like the best there is, here or behind these: the scale of what is expected is
        # that of the site, and where all bring little, a list of more of it is not worth more.
        wealth /= max(chain(news, leads), default=1.0)
        discount = self._discount = _DISCOUNT + (1 - _DISCOUNT) / (1 + wealth / _WEALTH)
        self._best = [
            (-_level(its_news + discount * its_lead), each.first, key)
            for (key, each), its_news, its_lead in zip(classes.items(), news, leads, strict=True)
        ]
        heapify(self._best)


def _level(worth: float) -> int:
    return floor(_STEPS * log2(worth))
