"""Online Bayesian logistic regression over hashed features."""

from __future__ import annotations

from array import array
from math import log
from typing import TYPE_CHECKING

from scrapy_urlcanon.novelty.inner_loops import count_on, doubts, expect, learn
from scrapy_urlcanon.novelty.packing import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable


class OnlineModel:
    """Predicts from features a share from 0 to 1, and learns from one example at a time.

    Each weight has a variance of its own (D. Spiegelhalter, S. Lauritzen, "Sequential updating of
    conditional probabilities on directed graphical structures", Networks 20, 1990). An example
    moves the weights with the largest variance most; together they move as far as one weight with
    the sum of their variances would, and all variances shrink by the same factor. So a prediction
    is about the mean of all examples, not of the last few: after three short pages a kind whose
    pages differ much does not look bad. Variances stay above a bound, so that the model follows a
    site that changes.

    The last feature is the combination of all. Without it the predictions for two kinds that share
    most features would rise and fall together, whichever of them was fetched.

    >>> from scrapy_urlcanon.novelty.packing import packed
    >>> model = OnlineModel(prior=0.5)
    >>> for _ in range(20):
    ...     model.learn(packed([1, 2]), 1.0)
    ...     model.learn(packed([1, 3]), 0.0)
    >>> model.expect(packed([1, 2])) > 0.8, model.expect(packed([1, 3])) < 0.2
    (True, True)

    :param prior: the prediction for features that are all new.
    """

    def __init__(self, prior: float) -> None:
        self._prior = log(prior / (1 - prior))
        # Arrays, as each full garbage collection would traverse lists.
        self.weights = array("d", [0.0]) * (1 << BITS)
        self.known = array("d", [0.0]) * (1 << BITS)
        """How much the variance of each weight has shrunk: from 0 to a bound below 1."""

    def expect(self, features: bytes) -> float:
        """Return the share predicted for packed *features*."""
        return expect(self.weights, features, self._prior)

    def count_on(self, kinds: Iterable[bytes]) -> list[float]:
        """Return for each of *kinds*, packed features, a prediction that is lower if less is known.

        For new features the prediction is the mean of all. So among many kinds that were never
        tried some would always be predicted to be better than the best known one.
        """
        return count_on(self.weights, self.known, kinds, self._prior)

    def doubts(self, kinds: Iterable[bytes]) -> list[float]:
        """Return the mean uncertainty of the features of each of *kinds*, from 0 to 1.

        The last feature is left out: it is new for every kind that was never fetched.
        """
        return doubts(self.known, kinds)

    def learn(self, features: bytes, share: float, *, again: bool = False) -> None:
        """Learn that packed *features* brought *share*.

        :param again: whether it is an earlier example, which does not reduce variances.
        """
        learn(self.weights, self.known, features, self._prior, share, again=again)
