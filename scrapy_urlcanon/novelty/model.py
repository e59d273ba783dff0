"""Learns online what to expect: Bayesian logistic regression over hashed features."""

from __future__ import annotations

from array import array
from math import log
from typing import TYPE_CHECKING

from scrapy_urlcanon.novelty.inner_loops import count_on, doubts, expect, learn
from scrapy_urlcanon.novelty.packing import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable


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

    >>> from scrapy_urlcanon.novelty.packing import packed
    >>> model = OnlineModel(prior=0.5)
    >>> for _ in range(20):
    ...     model.learn(packed([1, 2]), 1.0)
    ...     model.learn(packed([1, 3]), 0.0)
    >>> model.expect(packed([1, 2])) > 0.8, model.expect(packed([1, 3])) < 0.2
    (True, True)

    :param prior: what is expected where nothing is known.
    """

    def __init__(self, prior: float) -> None:
        self._prior = log(prior / (1 - prior))
        # Lists would have each full garbage collection look at a million numbers.
        self.weights = array("d", [0.0]) * (1 << BITS)
        self.known = array("d", [0.0]) * (1 << BITS)
        """How much of the doubt of each feature is gone, from 0 to a bound below 1."""

    def expect(self, features: bytes) -> float:
        """Return the share that is expected of packed *features*."""
        return expect(self.weights, features, self._prior)

    def count_on(self, kinds: Iterable[bytes]) -> list[float]:
        """Return the share that can be counted on of each of *kinds*, which are packed features.

        The less is known of one, the less. Where nothing is known the mean of all is expected, so
        of many kinds that were never tried some are always expected to be better than the best that
        is known.
        """
        return count_on(self.weights, self.known, kinds, self._prior)

    def doubts(self, kinds: Iterable[bytes]) -> list[float]:
        """Return how little is known of each of *kinds*, from 0 to 1.

        The last feature has no say: each kind that was never fetched would be doubted alike.
        """
        return doubts(self.known, kinds)

    def learn(self, features: bytes, share: float, *, again: bool = False) -> None:
        """Learn that packed *features* brought *share*.

        :param again: it was learned before: that makes nothing surer.
        """
        learn(self.weights, self.known, features, self._prior, share, again=again)
