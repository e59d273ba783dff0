"""Finds lines that begin or end like lines of other pages."""

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
"""Beginnings and ends of 2, 4, 8 and so on words are compared. Single words are all known soon, so
that a list of names would count as nothing new."""
LEAST: Final = OTHER_NUMBERS
"""The least share that a line keeps, as for a line that is new only by its numbers."""
_NUMBER = re.compile(rb"[0-9]+")


class Frames:
    """Remembers how lines of pages began and ended, in constant memory.

    A search without results and an error page repeat one sentence with other words in it, and a
    comparison combines lines of other pages. Each such line is new, but says nothing new, and the
    number of such URLs is unlimited.

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
        """Return the share of words of each of the *lines* outside known beginnings and ends.

        The beginnings and ends are remembered.
        """
        found: list[tuple[int, int]] = []
        shares = []
        for line in lines:
            words = _NUMBER.sub(b"0", line).split()
            begin = end = 0
            count = _SHORTEST
            while count < len(words):
                first, last = b" ".join(words[:count]), b" ".join(words[-count:])
                # The newline keeps ends apart from beginnings.
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
