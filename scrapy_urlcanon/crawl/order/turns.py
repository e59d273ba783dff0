"""How often requests are fetched that are not those of which most is expected."""

from __future__ import annotations

from typing import Final

from attrs import define, field

from scrapy_urlcanon.crawl.order.lane import Turn

_COLD: Final = 16
"""So many requests of a site go to the shapes of URLs in turn before any is taken for its worth
alone: of each shape too little is known."""
_FLOOR, _LOWEST_FLOOR, _LESS = 16, 64, 4
"""One of so many requests is taken out of turn in each of the two ways, whatever is expected: the
first, while such ones bring as much as others; else less by that many each time, down to the
second. With less by 16 the lists of a mail archive that lead to whole threads were found late."""
_HIGHEST_FLOOR: Final = 4
"""That often where what most is expected of brings next to nothing: there is nothing to lose."""
_AS_GOOD: Final = 0.5
"""This share of what those bring of late of which most was expected. That they bring anything is
not enough: a crawl of pages that all say something gave an eighth of its fetches to find those with
a tenth of what others say."""
_OF_LATE: Final = 10
_TRIED: Final = Turn.LEAST_TRIED
_OUT_OF_TURN: Final = (
    (Turn.OLDEST,),
    (Turn.NEWEST, _TRIED, Turn.LEAST_KNOWN, _TRIED, _TRIED),
)
"""The turns of each way, one after the other. With the least tried alone the messages of a mail
archive came late, which are of one shape with its many lists. With the least known as often a
finder's filters did not end, each of which is another word, and a tracker's long pages came late.
Without the newest it took long to find what lies deep: where the lists of a site say something too,
as in a reference, nothing else was asked for until all of them were fetched.
"""
USUAL: Final = 0.2
"""What a usual page counts."""
_NEXT_TO_NOTHING: Final = USUAL / 10
"""Amounts below it are not compared. A calendar of pages with four new words each was fetched to
the end of a crawl, and of what else waited, with 30 words each, less and less was tried."""


@define
class _Way:
    """A way in which requests are taken out of turn: less often while only the best bring much."""

    turns: tuple[Turn, ...]
    next: int
    floor: int = _FLOOR
    taken: int = 0

    @property
    def turn(self) -> Turn:
        """Which of its turns comes next."""
        return self.turns[self.taken % len(self.turns)]


def _ways() -> list[_Way]:
    distance = _FLOOR // len(_OUT_OF_TURN)
    return [_Way(turns, _COLD + distance * n) for n, turns in enumerate(_OUT_OF_TURN)]


@define
class Turns:
    """Says which of the requests of a download slot comes next: mostly the best, at times others.

    >>> turns = Turns()
    >>> for _ in range(_COLD + 4):
    ...     turns.take(turns.current)
    >>> turns.current
    <Turn.BEST: 1>
    """

    taken: int = 0
    ways: list[_Way] = field(factory=_ways)
    best: float = 0.0
    """What those brought of late of which most was expected."""

    @property
    def current(self) -> Turn:
        """Which request comes next."""
        if self.taken < _COLD:
            return Turn.SHAPES
        return next((way.turn for way in self.ways if self.taken >= way.next), Turn.BEST)

    def take(self, turn: Turn) -> None:
        """Note that the next one was taken."""
        way = self._way(turn) if self.taken >= _COLD else None
        if way:
            way.next = self.taken + way.floor
            way.taken += 1
        self.taken += 1

    def came(self, turn: Turn, amount: float) -> None:
        """Note how much one brought that was taken at this *turn*."""
        if turn is Turn.BEST:
            self.best += (amount - self.best) / _OF_LATE
        elif way := self._way(turn):
            if self.best < _NEXT_TO_NOTHING and self.taken >= _COLD + _OF_LATE:
                way.floor = max(way.floor - _LESS, _HIGHEST_FLOOR)
            elif amount >= _AS_GOOD * self.best:
                way.floor = _FLOOR
            else:
                way.floor = min(way.floor + _LESS, _LOWEST_FLOOR)

    def _way(self, turn: Turn) -> _Way | None:
        return next((way for way in self.ways if turn in way.turns), None)
