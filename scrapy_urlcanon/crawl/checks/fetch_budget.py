"""Limits how many fetches of a crawl are made only for audits."""

from __future__ import annotations

import enum
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST_SHARE, _FIRST_FETCHES = 0.06, 6
_FURTHER_SHARE, _FURTHER_FETCHES = 0.03, 6
_SUSPECT_SHARE, _SUSPECT_FETCHES = 0.08, 9
_EXPECTED = 3
"""How many fetches an audit is expected to take until the first one has ended."""


class Need(enum.IntEnum):
    """Why a variant should be audited, the most urgent reason first."""

    SUSPECTED = 0
    """An entry that merged it has wrongly merged pages before."""
    UNKNOWN = 1
    """Nothing is known about an entry that merged it."""
    LITTLE_KNOWN = 2
    """An entry that merged it has had fewer audits than each entry is to have."""
    SAMPLED = 3
    """It belongs to the audited share."""


class FetchBudget:
    """Limits the fetches of audits to a share of the pages.

    Fetches whose response the spider is given do not count. The less urgent the need, the smaller
    the share, so that urgent audits need not wait for others. An audit that has begun is completed
    whatever it takes; the next one then waits until there are more pages.

    >>> budget = FetchBudget(0.01)
    >>> for _ in range(3):
    ...     budget.begin()
    >>> budget.has_room(Need.UNKNOWN, ["sid"]), budget.has_room(Need.SUSPECTED, ["sid"])
    (False, True)
    >>> budget.pages = 1100
    >>> budget.has_room(Need.UNKNOWN), budget.has_room(Need.SAMPLED)
    (True, True)
    >>> for _ in range(3):
    ...     budget.end(4)
    >>> budget.has_room(Need.SAMPLED)
    False

    :param share: the value of ``URLCANON_AUDIT``; with 1 there is no limit.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.pages = 0
        """How many pages were fetched for the spider."""
        self._fetches = 0
        self.under_way = 0
        """How many audits have begun and not ended."""
        self._audits = 1
        self._taken = _EXPECTED

    def has_room(self, need: Need, suspects: Iterable[object] = ()) -> bool:
        """Tell whether there is room for one more audit.

        :param suspects: the suspected entries, including suspended ones. Each enlarges the budget.
            No more of them are consumed than needed.
        """
        if self._share >= 1:
            return True
        expected = self._taken / self._audits
        begun = self._fetches + self.under_way * expected
        if need is Need.SAMPLED:
            return begun < self._share * self.pages
        if need is Need.LITTLE_KNOWN:
            room = max(_FURTHER_FETCHES, _FURTHER_SHARE * self.pages)
        else:
            room = max(_FIRST_FETCHES, _FIRST_SHARE * self.pages)
        if begun + expected <= max(room, self._share * self.pages):
            return True
        if need is not Need.SUSPECTED:
            return False
        of_each = max(_SUSPECT_FETCHES, _SUSPECT_SHARE * self.pages)
        needed = ceil((begun + expected - room) / of_each)
        return len([*islice(suspects, needed)]) == needed

    def begin(self) -> None:
        """Note that an audit begins."""
        self.under_way += 1

    def end(self, fetches: int) -> None:
        """Note that an audit ended.

        :param fetches: how many fetches it took, not counting responses that the spider was given.
        """
        self.under_way -= 1
        self._fetches += fetches
        self._audits += 1
        self._taken += fetches
