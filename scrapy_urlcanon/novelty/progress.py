"""The progress of a crawl: its curve of news, predicted against observed news, and its end."""

from __future__ import annotations

from functools import lru_cache
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
"""Of more sites those without a fetch for the longest time are forgotten, and begin anew."""


class Curve:
    """The cumulative number of new words by fetches, in a bounded number of points.

    >>> curve = Curve()
    >>> for _ in range(1000):
    ...     curve.add(2)
    >>> 100 <= len(curve.points) <= 200, curve.points[-1]
    (True, (1000, 2000))
    """

    def __init__(self) -> None:
        self._points: list[tuple[int, int]] = []
        self._step = 1
        self.fetches = self.words = 0

    def add(self, words: int) -> None:
        """Count a fetch that brought this many new words."""
        self.fetches += 1
        self.words += words
        if self.fetches % self._step == 0:
            self._points.append((self.fetches, self.words))
            if len(self._points) >= _MOST_POINTS:
                self._points = self._points[1::2]
                self._step *= 2

    @property
    def points(self) -> list[tuple[int, int]]:
        """Pairs of fetches and new words; the last is that of the last fetch."""
        last = (self.fetches, self.words)
        return self._points if self._points[-1:] == [last] else [*self._points, last]


def words_after(share: int, points: Sequence[tuple[int, int]]) -> int:
    """Return the number of new words after a share of the fetches.

    :param share: the share in percent.
    :param points: the value of :attr:`Curve.points`.

    >>> words_after(50, [(1, 7), (5, 20), (10, 22)])
    20
    """
    last, _ = points[-1]
    return max((words for fetches, words in points if 100 * fetches <= share * last), default=0)


class Deciles:
    """Predicted and observed shares, by tenths of what was predicted.

    Each prediction is made before the page is learned from: progressive validation.

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
class _SinceNews:
    """The fetches of one site since it brought news, the first evidence for its end.

    Each number is kept three times: since the last, the second last and the third last fetch with
    news.
    """

    of_priority: dict[int, list[int]] = field(factory=dict)
    """The number of fetches, by priority."""
    priorities: list[int] = field(factory=lambda: [0] * _RARE_NEWS)
    """The number of different priorities."""

    def note(self, priority: int, *, has_news: bool) -> None:
        counts = self.of_priority.setdefault(priority, [0] * _RARE_NEWS)
        for number, count in enumerate(counts):
            counts[number] += 1
            self.priorities[number] += not count
        if has_news:
            self.priorities = [0, *self.priorities[:-1]]
            shifted = {of: [0, *counts[:-1]] for of, counts in self.of_priority.items()}
            # Else the dict would grow with every priority that ever was.
            self.of_priority = {of: counts for of, counts in shifted.items() if any(counts)}

    def enough(self, priority: int, needed: Sequence[int]) -> bool:
        counts = self.of_priority.get(priority, self.priorities)
        return any(
            max(one, other) >= least
            for one, other, least in zip(counts, self.priorities, needed, strict=True)
        )


@define
class _Proof:
    """The fetches of one site that were drawn at random from those that wait."""

    attempt: int = 1
    draws: dict[int, int] = field(factory=dict)
    """The number of draws in this attempt, by priority."""
    with_news: int = 0

    def note(self, priority: int, *, has_news: bool) -> None:
        self.draws[priority] = self.draws.get(priority, 0) + 1
        self.with_news += has_news

    def begin_again(self) -> None:
        if self.draws:
            self.attempt += 1
        self.draws.clear()
        self.with_news = 0

    def holds(self, priority: int, share: float) -> bool:
        drawn = max(self.draws.get(priority, 0), len(self.draws))
        return drawn >= self.needed(share)

    def needed(self, share: float) -> int:
        """Return how many draws prove the end, given how many of them have had news."""
        # The error probability is divided among all attempts, and in each among all counts of news,
        # for each of which there is one test: 1/2 + 1/6 + 1/12 and so on is 1.
        doubt = (1 - CONFIDENCE) * _part(self.attempt) * _part(self.with_news + 1)
        return _needed(self.with_news, share, doubt)

    def fails(self, share: float) -> bool:
        """Tell whether too many of the draws have news for the proof to succeed."""
        drawn = sum(self.draws.values())
        return self.with_news >= _RARE_NEWS and self.with_news > share * drawn


class Ending:
    """Decides when too small a share of the remaining fetches would bring news.

    It works in two steps. The crawl fetches the requests first of which it expects most, and some
    that have waited longest. When too few of these bring news, still less is expected of the rest.
    But predictions may be wrong about URLs unlike any that were fetched. So the second step, the
    proof, fetches requests drawn at random from all that wait, until they show that too few of them
    bring news. It fails once three draws have news and they are a larger share than asked for. Then
    the first step begins again.

    Both steps use the bounds of Clopper and Pearson (1934). In the first step the bound is that of
    a single test, for the fetches since the last, second last or third last page with news. In the
    second the error probability is divided among all tests of all attempts, so that even with
    endless attempts one crawl of twenty ends wrongly.

    Requests of different priorities are not compared with each other by the order, so each priority
    ends separately, and news of any one has all begin again. If a spider gives each page a priority
    of its own, priorities are counted in place of fetches.

    >>> ending = Ending(0.01)
    >>> ending.fetches_needed
    (299, 473, 628)
    >>> for _ in range(299):
    ...     ending.note("a.example", 0, has_news=False)
    >>> ending.draws("a.example", 0), ending.draws("a.example", -1), ending.draws("b.example", 0)
    (437, 0, 0)
    >>> draws = 0
    >>> while not ending.is_done("a.example", 0):
    ...     ending.note("a.example", 0, has_news=False, is_drawn=True)
    ...     draws += 1
    >>> draws
    437

    :param share: the least share of fetches that must bring news, above 0.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        doubt = 1 - CONFIDENCE
        self.fetches_needed = tuple(_needed(count, share, doubt) for count in range(_RARE_NEWS))
        self.sites: dict[str, tuple[_SinceNews, _Proof]] = {}
        """By site; the one with the last fetch comes last."""

    def note(self, site: str, priority: int, *, has_news: bool, is_drawn: bool = False) -> None:
        """Count a fetch.

        :param is_drawn: whether it was drawn at random from all requests that waited.
        """
        known = self.sites.pop(site, None)
        since_news, proof = known or (_SinceNews(), _Proof())
        if is_drawn:
            proof.note(priority, has_news=has_news)
            if proof.fails(self._share):
                since_news = _SinceNews()
                proof.begin_again()
        else:
            since_news.note(priority, has_news=has_news)
            if has_news:
                proof.begin_again()
        self.sites[site] = since_news, proof
        if len(self.sites) > _MAX_SITES:
            del self.sites[next(iter(self.sites))]

    def draws(self, site: str, priority: int) -> int:
        """Return how many requests of *site* with this *priority* are to be drawn at random.

        :returns: 0 unless the end is being proved.
        """
        proof = self._proof(site, priority)
        if proof is None or proof.holds(priority, self._share):
            return 0
        return proof.needed(self._share)

    def is_done(self, site: str, priority: int) -> bool:
        """Tell whether the rest of *site* with this *priority* need not be fetched."""
        proof = self._proof(site, priority)
        return proof is not None and proof.holds(priority, self._share)

    def _proof(self, site: str, priority: int) -> _Proof | None:
        """Return the proof if the first step is done, else None."""
        known = self.sites.get(site)
        if known is None:
            return None
        since_news, proof = known
        return proof if since_news.enough(priority, self.fetches_needed) else None


def _part(number: int) -> float:
    """Return the *number*-th term of 1/2 + 1/6 + 1/12 and so on, which sum to 1."""
    return 1 / (number * (number + 1))


@lru_cache
def _needed(count: int, share: float, doubt: float) -> int:
    """Return how many fetches, *count* of them with news, show that the rate is below *share*.

    :param doubt: the error probability.
    """
    low = high = count + 1
    while at_most(count, high, share) > doubt:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if at_most(count, middle, share) <= doubt:
            high = middle
        else:
            low = middle + 1
    return low
