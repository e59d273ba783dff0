"""Bounds and tests for proportions from few trials, among them a sequential test of rules."""

from __future__ import annotations

import enum
from array import array
from functools import lru_cache
from math import exp, lgamma, log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FALSE = 0.1
"""The rate of false merges above which a rule is wrong. It is not 0, since some pages change
between two visits."""
ERROR = 0.05
"""The probability of rejecting a right rule, and of accepting a wrong one."""


@lru_cache(maxsize=65536)
def lower_bound(successes: int, failures: int, confidence: float = 0.95) -> float:
    """Return the one-sided Clopper-Pearson lower bound of a proportion (Clopper and Pearson 1934).

    It is exact for small numbers, which are usual in learning. A normal approximation promises more
    than three or four trials can show, and so does Wilson's score, to a lesser degree.

    >>> round(lower_bound(5, 0), 3), round(lower_bound(59, 0), 3), round(lower_bound(99, 1), 3)
    (0.549, 0.95, 0.953)
    >>> lower_bound(0, 3)
    0.0
    """
    if successes <= 0:
        return 0.0
    alpha = 1.0 - confidence
    trials = successes + failures
    if failures == 0:
        return exp(log(alpha) / trials)
    low, high = 0.0, successes / trials
    for _ in range(40):
        middle = (low + high) / 2
        if at_most(failures, trials, 1.0 - middle) < alpha:
            low = middle
        else:
            high = middle
    return low


def at_most(count: int, trials: int, probability: float) -> float:
    """Return the probability of at most *count* events in *trials*, each with *probability*.

    >>> round(at_most(0, 10, 0.5), 4)
    0.001
    """
    if probability <= 0.0:
        return 1.0
    if probability >= 1.0:
        return 0.0
    yes, no = log(probability), log(1.0 - probability)
    ways = _ways_up_to(count, trials)
    logs = [way + i * yes + (trials - i) * no for i, way in enumerate(ways)]
    largest = max(logs)
    return exp(largest) * sum(exp(value - largest) for value in logs)


@lru_cache(1)
def _ways_up_to(count: int, of: int) -> array[float]:
    """Return the results of :func:`_ways` for all numbers up to *count*.

    Cached, since a bound needs them for forty probabilities in a row.
    """
    return array("d", (_ways(chosen, of) for chosen in range(count + 1)))


def _ways(chosen: int, of: int) -> float:
    """Return the logarithm of the binomial coefficient *of* over *chosen*."""
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)


def binomial(count: int, trials: int, probability: float) -> float:
    """Return the probability of exactly *count* events in *trials*, each with *probability*.

    The probability must be neither 0 nor 1.

    >>> round(binomial(1, 2, 0.5), 4), round(binomial(3, 1000, 0.003), 4)
    (0.5, 0.2244)
    """
    return exp(
        _ways(count, trials) + count * log(probability) + (trials - count) * log(1.0 - probability)
    )


def at_most_drawn(count: int, drawn: int, marked: int, of: int) -> float:
    """Return the probability that at most *count* of those drawn are marked (hypergeometric).

    :param drawn: how many are drawn, without replacement.
    :param marked: how many are marked in all.
    :param of: how many there are in all.

    >>> round(at_most_drawn(0, 7, 4, 16), 4)
    0.0692
    """
    least = max(0, drawn + marked - of)
    return sum(
        exp(_ways(n, drawn) + _ways(marked - n, of - drawn) - _ways(marked, of))
        for n in range(least, count + 1)
    )


class Outcome(enum.Enum):
    """What the pairs that were fetched show about a rule."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"
    """There are too few of them to decide."""


class SequentialTest(NamedTuple):
    """Wald's sequential probability ratio test of a rule, which takes one verdict after the other.

    A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16,
    1945. Once it has decided for the rule it goes on from the bound (E. S. Page, "Continuous
    inspection schemes", Biometrika 41, 1954). So a rule that was right for a thousand pages and is
    wrong for the next ones is detected as fast as one that was wrong from the start.

    >>> test = SequentialTest.of_max_false(0.1)
    >>> test.outcome([True] * 10), test.outcome([True] * 9)
    (<Outcome.HOLDS: 'holds'>, <Outcome.OPEN: 'open'>)
    >>> test.outcome([False] * 2), test.outcome([True] * 1000 + [False] * 4)
    (<Outcome.FAILS: 'fails'>, <Outcome.FAILS: 'fails'>)
    >>> test.outcome(([True] * 20 + [False]) * 10)
    <Outcome.OPEN: 'open'>
    """

    right: float
    """What a right merge adds to the log-likelihood ratio; negative."""
    wrong: float
    """What a wrong merge adds to it; positive."""
    bound: float
    """The absolute value of the ratio at which the test decides."""

    @classmethod
    def of_max_false(cls, max_false: float, error: float = ERROR) -> SequentialTest:
        """Return the test of half of a rate of false merges against three times that rate.

        :param error: the probability of either error.
        """
        little = min(max(max_false / 2, 0.001), 0.5)
        much = min(3 * max_false, (1 + max_false) / 2, 0.99) if max_false else 0.01
        return cls(log((1 - much) / (1 - little)), log(much / little), log((1 - error) / error))

    def outcome(self, verdicts: Iterable[bool]) -> Outcome:
        """Return the outcome of *verdicts* in their order; each tells whether a merge was right."""
        ratio = 0.0
        for is_right in verdicts:
            ratio = max(ratio + (self.right if is_right else self.wrong), -self.bound)
            if ratio >= self.bound:
                return Outcome.FAILS
        return Outcome.HOLDS if ratio <= -self.bound else Outcome.OPEN
