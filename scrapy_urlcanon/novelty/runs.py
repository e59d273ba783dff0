"""Finds runs of words that lines have in common with other pages."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.novelty.inner_loops import own_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES: Final = 1 << 19


class Runs:
    """Remembers the runs of words on pages, in constant memory.

    Reordered sentences, two versions of a text side by side, extracts in search results, quotes and
    sentences filled from lists of words are all new lines, without end. But their runs of a few
    words are soon known, while most runs of a text that somebody wrote are new.

    >>> runs = Runs()
    >>> for line in (b"once a fox met a hen", b"so once a fox met a cat"):
    ...     print([round(share, 2) for share in runs.own_shares([line])])
    [1.0]
    [0.29]
    """

    def __init__(self) -> None:
        self._places = array("H", [0]) * _PLACES

    def own_shares(self, lines: Sequence[bytes]) -> list[float]:
        """Return the share of words of each of the *lines* that are in no known run.

        All runs in them are remembered.
        """
        return own_shares(self._places, lines)
