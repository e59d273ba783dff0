"""Decides when a request other than the most promising one is fetched."""

from __future__ import annotations

from typing import Final

from attrs import define, field

from scrapy_urlcanon.crawl.order.lane import Turn
from scrapy_urlcanon.novelty.news import Usual

_COLD: Final = 16
"""The first requests of a site, this many, are taken by shape of URL in turn: too little is known
about each shape to rank them."""
_FLOOR, _LOWEST_FLOOR, _LESS = 16, 64, 4
"""In each of the two ways, one of this many requests is taken out of turn, whatever is expected of
it: the first number as long as such requests bring as much as others. Otherwise the interval grows
by the third number each time, up to the second. In steps of 16, the lists of a mail archive that
lead to whole threads were found late."""
_HIGHEST_FLOOR: Final = 4
"""The interval if the most promising requests bring next to nothing: then nothing can be lost."""
_AS_GOOD: Final = 0.5
"""A request out of turn counts as good if it brings this share of what the most promising ones
brought recently. It is not enough that it brings anything: a crawl whose pages all say something
spent an eighth of its fetches on pages that say a tenth as much."""
_OF_LATE: Final = 10
_TRIED: Final = Turn.LEAST_TRIED
_OUT_OF_TURN: Final = (
    (Turn.OLDEST,),
    (Turn.NEWEST, _TRIED, Turn.LEAST_KNOWN, _TRIED, _TRIED),
)
"""The rules of each way, used in rotation. With only the least tried shapes, the messages of a mail
archive came late, since they have one shape and its lists have many. With the least known as often,
the filters of a finder, each of which is a new word, did not end, and the long pages of a tracker
came late. Without the newest, pages deep in a site took long to find: if its lists say something
too, as in a reference, nothing else was fetched before all of them."""
USUAL: Final = 0.2
"""The worth of an average page."""
_NEXT_TO_NOTHING: Final = USUAL / 10
"""Amounts below this are not compared. Otherwise a calendar whose pages have four new words each
was fetched to the end of the crawl, while other pages with 30 words were tried less and less."""


@define
class _Way:
    """A way of taking requests out of turn, less often while only the most promising bring much."""

    turns: tuple[Turn, ...]
    next: int
    floor: int = _FLOOR
    taken: int = 0

    @property
    def turn(self) -> Turn:
        """The rule that is next in rotation."""
        return self.turns[self.taken % len(self.turns)]


def _ways() -> list[_Way]:
    distance = _FLOOR // len(_OUT_OF_TURN)
    return [_Way(turns, _COLD + distance * n) for n, turns in enumerate(_OUT_OF_TURN)]


@define
class Turns:
    """Says by which rule the next request of a download slot is taken: mostly the most promising.

    >>> turns = Turns()
    >>> for _ in range(_COLD + 4):
    ...     turns.take(turns.current)
    >>> turns.current
    <Turn.BEST: 1>
    """

    taken: int = 0
    ways: list[_Way] = field(factory=_ways)
    best: float = 0.0
    """A moving average of what the most promising requests brought recently."""
    usual: Usual = field(factory=Usual)
    """How many words are usual on the site."""

    @property
    def current(self) -> Turn:
        """The rule for the next request."""
        if self.taken < _COLD:
            return Turn.SHAPES
        return next((way.turn for way in self.ways if self.taken >= way.next), Turn.BEST)

    def take(self, turn: Turn) -> None:
        """Note that a request was taken by this *turn*."""
        way = self._way(turn) if self.taken >= _COLD else None
        if way:
            way.next = self.taken + way.floor
            way.taken += 1
        self.taken += 1

    def came(self, turn: Turn, amount: float) -> None:
        """Note how much a request brought that was taken by this *turn*."""
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
