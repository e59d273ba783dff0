"""Learns online what to expect: logistic regression over hashed features."""

from __future__ import annotations

from array import array
from math import exp, sqrt
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.novelty.features import BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_RATE: Final = 2.0
"""How far the first example moves the expectation, in logits, where all its features are new."""
_MEMORY: Final = 0.999
"""What is left of the weight of old evidence after another example."""
_MOST: Final = 30.0


class OnlineModel:
    """Expects of features a share from 0 to 1; each example that it learns counts at once.

    Logistic regression with a step size for each feature (J. Duchi, E. Hazan, Y. Singer, "Adaptive
    subgradient methods for online learning and stochastic optimization", JMLR 12, 2011): what
    is rare moves far, what is frequent is settled. Unlike there old evidence decays, so that
    it follows a site which changes.

    >>> model = OnlineModel(prior=0.5)
    >>> for _ in range(20):
    ...     model.learn([1, 2], 1.0)
    ...     model.learn([1, 3], 0.0)
    >>> model.expect([1, 2]) > 0.8, model.expect([1, 3]) < 0.2
    (True, True)

    :param prior: what is expected where nothing is known.
    """

    def __init__(self, prior: float) -> None:
        from math import log  # noqa: PLC0415

        self._prior = log(prior / (1 - prior))
        # Lists would have each full garbage collection look at a million numbers.
        self.weights = array("d", bytes(8 << BITS))
        self.evidence = array("d", bytes(8 << BITS))

    def expect(self, features: Iterable[int]) -> float:
        """Return the expected share."""
        logit = self._prior + sum(map(self.weights.__getitem__, features))
        return 1.0 / (1.0 + exp(-max(-_MOST, min(_MOST, logit))))

    def learn(self, features: Collection[int], share: float) -> None:
        """Learn that *features* brought *share*."""
        error = self.expect(features) - share
        square = error * error
        rate = _RATE * 2 / len(features) * error
        weights, evidence = self.weights, self.evidence
        for feature in features:
            seen = evidence[feature] * _MEMORY + square
            evidence[feature] = seen
            weights[feature] -= rate / sqrt(0.1 + seen)
