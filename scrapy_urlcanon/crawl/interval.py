"""How sure one is of a rate after so many trials."""

from __future__ import annotations

from math import sqrt


def wilson_interval(count: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of the rate that *count* of *trials* shows.

    It holds for few trials and for rates near 0 and 1 (E. B. Wilson, "Probable inference,
    the law of succession, and statistical inference", JASA 22, 1927).

    >>> low, high = wilson_interval(3, 3)
    >>> f"{low:.2f} {high:.2f}"
    '0.44 1.00'
    >>> wilson_interval(0, 0)
    (0.0, 1.0)

    :param z: the quantile of the normal distribution; 1.96 for 95 %.
    """
    if not trials:
        return 0.0, 1.0
    rate = count / trials
    square = z * z / trials
    center = (rate + square / 2) / (1 + square)
    margin = z * sqrt(rate * (1 - rate) / trials + square / (4 * trials)) / (1 + square)
    return max(0.0, center - margin), min(1.0, center + margin)
