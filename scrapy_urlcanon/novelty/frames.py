"""What a line has in common with lines of other pages: how it begins, and how it ends."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.novelty.inner_loops.in_python import OTHER_NUMBERS, place_of
from scrapy_urlcanon.pages.signature import hash64

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACES: Final = 1 << 16
_SHORTEST: Final = 2
"""The first so many words of a line are looked at, twice as many and so on, and the last ones. Of
single words soon all are known, and a list of names would say nothing."""
LEAST: Final = OTHER_NUMBERS
"""That share of what a line is worth it is worth in any case, as where it is new by its numbers."""
_NUMBER = re.compile(rb"[0-9]+")


class Frames:
    """Remembers how lines of pages began and ended, in memory that does not grow.

    A search without results, or a page that is missing, says one sentence with other words in it
    each time, and a comparison puts together what others said: such lines are new, but not what
    stands in them, and URLs that have them have no end.

    >>> frames = Frames()
    >>> for line in (b"did you mean shoes", b"did you mean hats", b"six old hats"):
    ...     print(frames.own_shares([line]))
    [1.0]
    [0.5]
    [1.0]
    """

    def __init__(self) -> None:
        self._places = array("I", [0]) * _PLACES

    def own_shares(self, lines: Sequence[bytes]) -> list[float]:
        """Return the share of its words that each of the *lines* of a page has for itself.

        How they begin and end is known from now on.
        """
        found: list[tuple[int, int]] = []
        shares = []
        for line in lines:
            words = _NUMBER.sub(b"0", line).split()
            begin = end = 0
            count = _SHORTEST
            while count < len(words):
                first, last = b" ".join(words[:count]), b" ".join(words[-count:])
                # So that the end of a line is not taken for the beginning of another one.
                first_place, last_place = self._place(first), self._place(b"\n" + last)
                begin = count if self._is_known(first_place) else begin
                end = count if self._is_known(last_place) else end
                found += (first_place, last_place)
                count *= 2
            own = len(words) - begin - end
            shares.append(max(own / len(words), LEAST) if words else 1.0)
        for place, tag in found:
            self._places[place] = tag
        return shares

    def _is_known(self, place: tuple[int, int]) -> bool:
        return self._places[place[0]] == place[1]

    @staticmethod
    def _place(text: bytes) -> tuple[int, int]:
        return place_of(hash64(text), _PLACES)
