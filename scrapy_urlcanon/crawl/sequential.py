"""A test that ends as soon as it knows enough: so few pages are fetched to judge a rule."""

from __future__ import annotations

import enum
from math import log

HOLDS_AT, FAILS_AT = 0.95, 0.7
"""The shares of right merges that the test tells apart: some pages change between two visits."""
ERROR = 0.05
"""The probability of calling a rule of the one share by the name of the other."""

_BOUND = log((1 - ERROR) / ERROR)
_RIGHT = log(FAILS_AT / HOLDS_AT)
_WRONG = log((1 - FAILS_AT) / (1 - HOLDS_AT))


class Outcome(enum.Enum):
    """What the pairs that were fetched say about a rule."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"
    """Not enough of them to tell."""


def outcome_of(right: int, wrong: int) -> Outcome:
    """Return what so many *right* and *wrong* merges say.

    Wald's sequential probability ratio test (A. Wald, "Sequential tests of statistical
    hypotheses", Annals of Mathematical Statistics 16, 1945), which DustBuster validates its
    rules with in spirit: a wrong rule is refuted by a pair or two.

    >>> outcome_of(10, 0), outcome_of(9, 0), outcome_of(0, 2)
    (<Outcome.HOLDS: 'holds'>, <Outcome.OPEN: 'open'>, <Outcome.FAILS: 'fails'>)
    """
    ratio = right * _RIGHT + wrong * _WRONG
    if ratio >= _BOUND:
        return Outcome.FAILS
    return Outcome.HOLDS if ratio <= -_BOUND else Outcome.OPEN
