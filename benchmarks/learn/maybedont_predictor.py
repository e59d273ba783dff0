"""MaybeDont itself (TeamHG-Memex, 2016), if it is installed, as one more contestant.

``pip install -r benchmarks/requirements-maybedont.txt``. It is no canonicalizer: for a new URL it
predicts how probably its page was seen before. It gets the URLs of the learning half with their
pages, and predicts for those of the judging half. A URL counts as not fetched at the probability at
which its own Scrapy middleware drops requests.

It compares texts by the Jaccard coefficient of their shingles. The corpus has digests and no
texts, so each page is given as a text of one word, the name of its cluster: texts are equal if
the pages are one for the judge, and have nothing in common otherwise. No texts could be better.
"""

from __future__ import annotations

from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.learn.judge import pages_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from benchmarks.learn.methods import Halves

THRESHOLD = 0.98
"""``AVOID_DUP_CONTENT_THRESHOLD`` of its middleware."""


class _Draw:
    """``random.sample`` of a set, as Python had it until 3.10, with a fixed seed."""

    def __init__(self) -> None:
        self._random = Random(0)

    def sample(self, population: Collection[str], k: int) -> list[str]:
        return self._random.sample(sorted(population), k)


def is_installed() -> bool:
    return find_spec("maybedont") is not None


def maybe_dont(halves: Halves) -> Callable[[str], str | None]:
    """Return a function that maps a URL to itself, or to None if MaybeDont would not fetch it."""
    from maybedont import DupePredictor, predict  # type: ignore[import-not-found]  # noqa: PLC0415

    # MaybeDont 0.1.1 draws 200 URLs from larger sets, which Python 3.11 refuses; this is all that
    # is changed of it.
    vars(predict)["random"] = _Draw()
    predictor: Any = DupePredictor()
    for page in pages_of(halves.learn):
        predictor.update_model(page.url, f"page{page.cluster}")
    return lambda url: None if predictor.get_dupe_prob(url) > THRESHOLD else url
