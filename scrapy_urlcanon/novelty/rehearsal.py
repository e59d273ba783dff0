"""Experience replay: repeats earlier examples so that the model does not forget rare shapes."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrapy_urlcanon.novelty.features import Features
    from scrapy_urlcanon.novelty.model import OnlineModel

_SHAPES: Final = 256
_EXAMPLES: Final = 4
"""How many examples of each shape are kept."""
_YOUNG: Final = 300
_WHILE_YOUNG: Final = 3
"""How many earlier examples are repeated for each new one while there are few; later it is one. In
the beginning each example changes the predictions for all others much."""


class Rehearsal:
    """Trains a model, and for each new example repeats an earlier one, of each shape in turn.

    Features are shared by many URLs. Without repetition a thousand filtered views of a listing
    would lower the prediction for its second page, which was fetched once: its result was as
    predicted then, so its own features learned nothing. This is experience replay (L.-J. Lin,
    "Self-improving reactive agents based on reinforcement learning, planning and teaching", Machine
    Learning 8, 1992), with rare and frequent shapes in equal parts.

    :param model: the model to train.
    """

    def __init__(self, model: OnlineModel) -> None:
        self._model = model
        # A fixed seed, so that crawls are reproducible.
        self._random = Random(1)  # noqa: S311
        self._learned = 0
        self.examples: dict[bytes, deque[tuple[bytes, float]]] = {}
        """By coarse features; those that were repeated longest ago come first."""

    def learn(self, features: Features, share: float, renewed: bytes = b"") -> None:
        """Train the model with a new example and with earlier ones.

        :param renewed: :attr:`Features.all` of the same URL as it is now, if it has changed. It is
            learned as the same example again.
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
