"""How a crawl goes: its curve of news, expected news against observed, and when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import define, field

from scrapy_urlcanon.confidence import at_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONFIDENCE: Final = 0.95
_MOST_POINTS: Final = 200
_DECILES: Final = 10
_RARE_NEWS: Final = 3
_MAX_SITES: Final = 100_000
"""Of more sites, those that were fetched from longest ago are forgotten, and begin anew."""


class Curve:
    """The words of news after so many fetches, in a bounded number of points.

    >>> curve = Curve()
    >>> for _ in range(1000):
    ...     curve.add(2)
    >>> len(curve.points) <= 200, curve.points[-1]
    (True, (1000, 2000))
    """

    def __init__(self) -> None:
        self._points: list[tuple[int, int]] = []
        self._step = 1
        self.fetches = self.words = 0

    def add(self, words: int) -> None:
        """Note a fetch that brought so many *words* of news."""
        self.fetches += 1
        self.words += words
        if self.fetches % self._step == 0:
            self._points.append((self.fetches, self.words))
            if len(self._points) >= _MOST_POINTS:
                self._points = self._points[1::2]
                self._step *= 2

    @property
    def points(self) -> list[tuple[int, int]]:
        """Fetches and words of news, to the last fetch."""
        last = (self.fetches, self.words)
        return self._points if self._points[-1:] == [last] else [*self._points, last]


class Deciles:
    """What was expected against what came, by tenths of what was expected.

    The expectation is from before the page was learned from: progressive validation.

    >>> deciles = Deciles()
    >>> deciles.add(0.95, 1.0); deciles.add(0.91, 0.9)
    >>> [(number, count, round(expected, 2), round(came, 2)) for number, count, expected, came
    ...     in deciles.rows()]
    [(9, 2, 0.93, 0.95)]
    """

    def __init__(self) -> None:
        self._sums = [[0, 0.0, 0.0] for _ in range(_DECILES)]

    def add(self, expected: float, came: float) -> None:
        """Note a fetch."""
        row = self._sums[min(int(expected * _DECILES), _DECILES - 1)]
        row[0] += 1
        row[1] += expected
        row[2] += came

    def rows(self) -> Iterator[tuple[int, int, float, float]]:
        """Yield number of the decile, fetches, mean expected and mean observed share."""
        for number, (count, expected, came) in enumerate(self._sums):
            if count:
                yield number, int(count), expected / count, came / count


@define
class _Evidence:
    """What speaks for the end of one site.

    Each number is there once for the last fetch with news, once for the second last and once for
    the third last: it is of what was fetched since.
    """

    of_priority: dict[int, list[int]] = field(factory=dict)
    """How many fetches, by priority."""
    priorities: list[int] = field(factory=lambda: [0] * _RARE_NEWS)
    """How many priorities these were of."""

    def note(self, priority: int, *, has_news: bool) -> None:
        counts = self.of_priority.setdefault(priority, [0] * _RARE_NEWS)
        for number, count in enumerate(counts):
            counts[number] += 1
            self.priorities[number] += not count
        if has_news:
            self.priorities = [0, *self.priorities[:-1]]
            shifted = {of: [0, *counts[:-1]] for of, counts in self.of_priority.items()}
            # Else as many would be shifted each time as there ever were.
            self.of_priority = {of: counts for of, counts in shifted.items() if any(counts)}

    def enough(self, priority: int, needed: Sequence[int]) -> bool:
        counts = self.of_priority.get(priority, self.priorities)
        return any(
            max(one, other) >= least
            for one, other, least in zip(counts, self.priorities, needed, strict=True)
        )


class Ending:
    """Tells when what is left is expected to bring news on too small a share of its fetches.

    What is fetched last is what most is expected of, beside a share of what waits longest. So where
    even of these too few have news, fewer of the rest have. The bound is that of Clopper and
    Pearson (1934) for the fetches since the last, second last or third last page with news.

    Nothing of that holds for requests of another priority, which were never compared with these: so
    each ends for itself, and news of any of them has all begin again. But where a spider gives each
    page a priority of its own no two would ever speak for the same; then the priorities are counted
    as fetches are.

    It is that sure at each look. One that looks for ever is wrong some day, but the later the more
    news there is: with twice the share after some 20,000 fetches.

    >>> ending = Ending(0.01)
    >>> ending.fetches_needed
    (299, 473, 628)
    >>> for _ in range(299):
    ...     ending.note("a.example", 0, has_news=False)
    >>> ending.is_done("a.example", 0), ending.is_done("a.example", -1)
    (True, False)
    >>> ending.is_done("b.example", 0)
    False

    :param share: of the fetches; 0 where a crawl never ends so.
    """

    def __init__(self, share: float) -> None:
        self.fetches_needed = tuple(_needed(count, share) for count in range(_RARE_NEWS))
        self.sites: dict[str, _Evidence] = {}
        """That which was fetched from last stands last."""

    def note(self, site: str, priority: int, *, has_news: bool) -> None:
        """Note a fetch."""
        evidence = self.sites.pop(site, None) or _Evidence()
        self.sites[site] = evidence
        if len(self.sites) > _MAX_SITES:
            del self.sites[next(iter(self.sites))]
        evidence.note(priority, has_news=has_news)

    def is_done(self, site: str, priority: int) -> bool:
        """Tell whether what is left of *site*, of this *priority*, is not worth it."""
        evidence = self.sites.get(site)
        return evidence is not None and evidence.enough(priority, self.fetches_needed)


def _needed(count: int, share: float) -> int:
    """Return of how many fetches *count* may have news, for the share to be below *share*."""
    low, high = count + 1, max(10, int((10 + 5 * count) / share))
    while low < high:
        middle = (low + high) // 2
        if at_most(count, middle, share) <= 1 - CONFIDENCE:
            high = middle
        else:
            low = middle + 1
    return low
