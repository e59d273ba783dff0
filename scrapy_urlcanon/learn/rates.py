"""How often captures of a site differ that should agree: its rate of change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import lower_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_urlcanon.learn.operations.base import Operation

#: URLs that agree, and tell how often a capture differs that should agree.
MIN_AGREEING = 20

#: How often captures differ at most where nothing but a candidate itself shows any that do.
_USUAL = 0.02

#: What is added to the captures that differ, of those that were looked at and one more: where other
#: candidates tell too by Jeffreys' prior; elsewhere captures that differ are rare.
_PRIOR, _PRIOR_ALONE = 0.5, 0.1


class Rate(NamedTuple):
    """How often captures differ that should agree."""

    mean: float = 0.0
    """What is expected; 0 where nothing tells."""
    most: float = _USUAL
    """What the URLs that other candidates make one leave possible."""
    is_alone: bool = False
    """Whether no other candidate tells."""


NO_RATE = Rate()

#: Where the rate is not known yet.
ANY_RATE = Rate(1.0, 1.0)


class Seen(NamedTuple):
    """What the URLs that a candidate makes one show of the rate."""

    trials: int
    """URLs that agree and tell without bias."""
    agreeing: int
    """All that agree."""
    moved: int
    """Those that should."""


class Rates:
    """The rate of a site, as each candidate is to see it.

    A parameter that selects something on one page of ten looks like captures that change. So what
    differs by a candidate is held against what differs by others: these show what captures do, and
    no more than that if they are right.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._seen: dict[frozenset[str], Seen] = {}

    def add(self, candidate: Sequence[Operation], seen: Seen) -> None:
        """Add what a candidate shows."""
        about = _about(candidate)
        self._seen[about] = max(self._seen.get(about, seen), seen)

    def beside(self, candidate: Sequence[Operation]) -> Rate:
        """Return the rate, bounded by the candidates that are about something else, or more.

        The one that bounds it best is right: content adds to what captures do.
        """
        about = _about(candidate)
        others = _clear(seen for to, seen in self._seen.items() if to != about)
        bounds = [1.0 - lower_bound(*counts, self._confidence) for counts in others]
        most = min(bounds, default=_USUAL)
        agreeing, moved = max(_clear(self._seen.values()), default=(0, 0))
        if not agreeing:
            return Rate(0.0, most, is_alone=True)
        mean = (moved + (_PRIOR if bounds else _PRIOR_ALONE)) / (agreeing + moved + 1)
        return Rate(min(mean, most), most, is_alone=not bounds)


def _about(candidate: Sequence[Operation]) -> frozenset[str]:
    return frozenset[str]().union(*(step.subjects for step in candidate))


def _clear(seen: Iterable[Seen]) -> list[tuple[int, int]]:
    """Return the URLs that agree, and those that should, where enough do.

    They are those that tell without bias, where there are any.
    """
    found = list(seen)
    unbiased = [(one.trials, one.moved) for one in found if one.trials >= MIN_AGREEING]
    return unbiased or [(one.agreeing, one.moved) for one in found if one.agreeing >= MIN_AGREEING]
