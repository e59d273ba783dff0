"""Learns again now and then what was learned of each shape of URLs, so that it is not forgotten."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrapy_urlcanon.novelty.features import Features
    from scrapy_urlcanon.novelty.model import OnlineModel

_SHAPES: Final = 256
_EXAMPLES: Final = 4
"""The last so many of each of so many shapes are kept."""
_YOUNG: Final = 300
_WHILE_YOUNG: Final = 3
"""Of the first so many examples each has so many earlier ones learned again, and later one: in the
beginning each moves far what is expected of all others."""


class Rehearsal:
    """Teaches a model, and has it learn one earlier example again for each new one, by turns.

    What many URLs have in common is learned from all of them. Without this a thousand filtered
    views of a listing would lower what is expected of its second page too, which was fetched once:
    then it was as good as expected, so there was nothing to learn of what is its own. That is
    experience replay (L.-J. Lin, "Self-improving reactive agents based on reinforcement learning,
    planning and teaching", Machine Learning 8, 1992), with as much of a rare shape as of a
    frequent one.

    :param model: learns.
    """

    def __init__(self, model: OnlineModel) -> None:
        self._model = model
        # Two crawls of the same pages go alike.
        self._random = Random(1)  # noqa: S311
        self._learned = 0
        self.examples: dict[bytes, deque[tuple[bytes, float]]] = {}
        """By coarse features; those that were rehearsed longest ago stand first."""

    def learn(self, features: Features, share: float, renewed: bytes = b"") -> None:
        """Have the model learn that *features* brought *share*, and something earlier again.

        :param renewed: what all of them are by now, if they are others. It is the same example, so
            that it makes nothing surer.
        """
        self._model.learn(features.all, share)
        if renewed:
            self._model.learn(renewed, share, again=True)
        for _ in range(_WHILE_YOUNG if self._learned < _YOUNG else 1):
            self._rehearse()
        self._learned += 1
        kept = self.examples.setdefault(features.coarse, deque(maxlen=_EXAMPLES))
        kept.append((features.all, share))
        if len(self.examples) > _SHAPES:
            del self.examples[next(iter(self.examples))]

    def _rehearse(self) -> None:
        if not self.examples:
            return
        shape = next(iter(self.examples))
        examples = self.examples[shape] = self.examples.pop(shape)
        again, share = self._random.choice(examples)
        self._model.learn(again, share, again=True)
