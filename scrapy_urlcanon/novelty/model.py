"""Learns online what to expect: Bayesian logistic regression over hashed features."""

from __future__ import annotations

from array import array
from math import exp, log
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.novelty.features import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_UNSURE: Final = 8.0
"""The variance, in logits, of what is expected where all features are new."""
_OF_ITS_OWN: Final = 1.0
"""That of what is expected of a kind of which nothing is known but all of its features."""
_LEAST_DOUBT: Final = 0.05
"""This share of it no number of examples takes away: what a site brings changes."""
_LEAST_SLOPE: Final = 0.02
"""Of the logistic function, near its ends: an example counts there too."""
_MOST: Final = 30.0


class OnlineModel:
    """Expects of features a share from 0 to 1; each example that it learns counts at once.

    Logistic regression that knows how unsure it is of each feature (D. Spiegelhalter,
    S. Lauritzen, "Sequential updating of conditional probabilities on directed graphical
    structures", Networks 20, 1990). An example moves those the most that are known the least,
    all together as far as one variable would move that is as unsure as they are, and makes all of
    them surer by one factor. So what is expected after some examples is about their mean, and not
    what the last few brought: a usual page of a kind whose pages differ much would else look bad
    after three short ones. Some doubt stays, so that it follows a site which changes.

    The last feature is the kind itself, all of them together: what a kind brings differs from what
    its features say. Two kinds that have most features in common would else rise and fall
    together, whichever of them was fetched.

    >>> model = OnlineModel(prior=0.5)
    >>> for _ in range(20):
    ...     model.learn([1, 2], 1.0)
    ...     model.learn([1, 3], 0.0)
    >>> model.expect([1, 2]) > 0.8, model.expect([1, 3]) < 0.2
    (True, True)

    :param prior: what is expected where nothing is known.
    """

    def __init__(self, prior: float) -> None:
        self._prior = log(prior / (1 - prior))
        # Lists would have each full garbage collection look at a million numbers.
        self.weights = array("d", bytes(8 << BITS))
        self.known = array("d", bytes(8 << BITS))
        """How much of the doubt of each feature is gone, from 0 to a bound below 1."""

    def expect(self, features: Iterable[int]) -> float:
        """Return the expected share."""
        logit = self._prior + sum(map(self.weights.__getitem__, features))
        return 1.0 / (1.0 + exp(-max(-_MOST, min(_MOST, logit))))

    def learn(self, features: Sequence[int], share: float, *, again: bool = False) -> None:
        """Learn that *features* brought *share*.

        :param again: it was learned before: that makes nothing surer.
        """
        expected = self.expect(features)
        weights, known = self.weights, self.known
        doubts = [1.0 - known[feature] for feature in features]
        of_each, of_its_own = _UNSURE / len(features), _OF_ITS_OWN * doubts[-1]
        unsure = of_each * sum(doubts) + of_its_own
        surer = 1.0 + unsure * max(expected * (1.0 - expected), _LEAST_SLOPE)
        move = (share - expected) / surer
        for feature, doubt in zip(features, doubts, strict=True):
            weights[feature] += move * of_each * doubt
        weights[features[-1]] += move * of_its_own
        if not again:
            for feature, doubt in zip(features, doubts, strict=True):
                left = doubt / surer
                known[feature] = 1.0 - left if left > _LEAST_DOUBT else 1.0 - _LEAST_DOUBT
