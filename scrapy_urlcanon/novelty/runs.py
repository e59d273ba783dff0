"""What lines of a page have in common with other pages: runs of words."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.novelty.inner_loops import own_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES: Final = 1 << 19


class Runs:
    """Remembers which words stood one after the other on pages, in memory that does not grow.

    The sentences of other pages in another order, two versions of a text side by side, the first
    words of what a search has found, quotes, and sentences that are filled from lists of words are
    lines that no page had, and there is no end of them. But all runs of a few words in them are
    soon known, while those of a text that somebody wrote are new but for a few.

    >>> runs = Runs()
    >>> for line in (b"once a fox met a hen", b"so once a fox met a cat"):
    ...     print([round(share, 2) for share in runs.own_shares([line])])
    [1.0]
    [0.29]
    """

    def __init__(self) -> None:
        self._places = array("H", [0]) * _PLACES

    def own_shares(self, lines: Sequence[bytes]) -> list[float]:
        """Return the share of its words that each of the *lines* of a page has for itself.

        All runs in them are known from now on.
        """
        return own_shares(self._places, lines)
