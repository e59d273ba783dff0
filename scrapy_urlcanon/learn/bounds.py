"""How sure a handful of trials makes one of a proportion."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log


@lru_cache(maxsize=65536)
def lower_bound(successes: int, failures: int, confidence: float = 0.95) -> float:
    """Return the one-sided Clopper-Pearson lower bound of a proportion (Clopper and Pearson 1934).

    It is exact for small numbers, where learning lives: a normal approximation, and Wilson's
    score to a lesser degree, promises more than three or four trials can hold.

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
    """Return the probability of at most ``count`` events in ``trials``.

    Each of them with ``probability``.

    >>> round(at_most(0, 10, 0.5), 4)
    0.001
    """
    if probability <= 0.0:
        return 1.0
    if probability >= 1.0:
        return 0.0
    yes, no = log(probability), log(1.0 - probability)
    logs = [
        lgamma(trials + 1) - lgamma(i + 1) - lgamma(trials - i + 1) + i * yes + (trials - i) * no
        for i in range(count + 1)
    ]
    largest = max(logs)
    return exp(largest) * sum(exp(value - largest) for value in logs)
