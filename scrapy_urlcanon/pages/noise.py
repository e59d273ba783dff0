"""Learns what changes from visit to visit on the pages of a site: noise."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.pages.same_page import UNBOUNDED, LineKey, PageDigest, same_page, sampled_lines

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

_CHANGED_PAGES, _CHANGED_SHARE = 2, 0.2
"""A line is noise on the whole site if it changed on this many pages, and on this share of the
pages that have it and were fetched twice. A line that changed on one page may have been edited
there."""
_SOME_PAGES, _SOME_SHARE = 3, 0.5
"""A line is on *some* pages if at least this many have it, but less than this share of all."""
_ROTATED, _ROTATED_SHARE = 6, 0.9
"""Lines on some pages are noise on a site if this many of them came or went between two fetches of
a page, and if these are this share of such lines on pages that were fetched twice."""
_REMEMBERED_LINES = 20_000


class Noise:
    """Learns from pages that are fetched twice which lines of a site change from visit to visit.

    Lines are known by their hash without numbers, so that a counter is one line whatever it shows.

    >>> noise = Noise()
    >>> noise.note({1: {10}, 2: {20}}, {1: {11}, 2: {20}}), noise.holds(1)
    ({1}, False)
    >>> noise.note({1: {12}, 3: {30}}, {1: {13}, 3: {30}}), noise.holds(1), noise.holds(3)
    ({1}, True, False)
    """

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._changed: Counter[int] = Counter()
        # For lines without a number: the first page that had each, and those that several pages
        # had.
        self._pages: dict[int, Hashable] = {}
        self._common: set[int] = set()
        # How many pages had each such line. For lines of some pages: how many came or went between
        # two fetches, how many stayed, and how many came or went at most at once.
        self._uses: Counter[int] = Counter()
        self._known: set[Hashable] = set()
        self._rotated = self._stayed = self._most_rotated = 0

    def saw(self, page: Hashable, lines: Mapping[int, set[int]]) -> None:
        """Record the *lines* that *page* shows. The page may be given by any key."""
        if len(self._pages) > _REMEMBERED_LINES:
            self.forget_pages()
        is_new = page not in self._known
        self._known.add(page)
        for shape, exact in lines.items():
            if exact == {shape}:
                self._uses[shape] += is_new
                if self._pages.setdefault(shape, page) != page:
                    self._common.add(shape)

    def forget(self, pages: AbstractSet[Hashable]) -> None:
        """Forget what *pages* showed, since their keys have changed."""
        if not self._known.isdisjoint(pages):
            self._known -= pages
            self._pages = {line: page for line, page in self._pages.items() if page not in pages}

    @property
    def size(self) -> int:
        """How many lines and pages are remembered."""
        return len(self._pages) + len(self._known)

    def forget_pages(self) -> None:
        """Forget what pages showed, but not which lines have changed."""
        for each in (self._pages, self._common, self._uses, self._known):
            each.clear()

    def note(
        self, one: Mapping[int, set[int]], other: Mapping[int, set[int]], limit: int = UNBOUNDED
    ) -> set[int]:
        """Record two fetches of one URL; return the lines that changed.

        :param limit: below this hash, all lines of both fetches are known.
        """
        shapes = {shape for shape in (*one, *other) if shape < limit}
        changed = {shape for shape in shapes if one.get(shape) != other.get(shape)}
        if len(self._seen) > _REMEMBERED_LINES:
            self._seen.clear()
            self._changed.clear()
        self._seen.update(shapes)
        self._changed.update(changed)
        of_some = {shape for shape in shapes if self._is_of_some(shape)}
        rotated = of_some & changed
        self._rotated += len(rotated)
        self._stayed += len(of_some - rotated)
        most = max(len(rotated & one.keys()), len(rotated & other.keys()))
        self._most_rotated = max(self._most_rotated, most)
        return changed

    def _is_of_some(self, shape: int) -> bool:
        return _SOME_PAGES <= self._uses[shape] < _SOME_SHARE * len(self._known)

    def rotates(self, shapes: set[int]) -> bool:
        """Tell whether rotating lines explain *shapes*, which only one of two pages has."""
        return not shapes or (
            self._rotated >= _ROTATED
            and self._rotated >= _ROTATED_SHARE * (self._rotated + self._stayed)
            and len(shapes) <= self._most_rotated
            and all(map(self._is_of_some, shapes))
        )

    @property
    def count(self) -> int:
        """How many lines are noise on the whole site."""
        return sum(map(self.holds, tuple(self._changed)))

    def holds(self, shape: int) -> bool:
        """Tell whether a line is noise on the whole site."""
        changed = self._changed[shape]
        # If several pages have the line, one change is enough: the line is not about any of them.
        least = 1 if shape in self._common else _CHANGED_PAGES
        return changed >= least and changed >= _CHANGED_SHARE * self._seen[shape]

    def is_common(self, line: LineKey) -> bool:
        """Tell whether several pages have the *line*; False if it has a number.

        That several pages have "Part 1" says nothing about "Part 5", which has the same hash
        without numbers.
        """
        shape, exact = line
        return shape == exact and shape in self._common

    def of_one_page(self, lines: Iterable[LineKey], changed: Container[int]) -> frozenset[LineKey]:
        """Return those of *lines* that are not noise, not in *changed*, and not common."""
        return frozenset(
            line
            for line in lines
            if line[0] not in changed and not self.holds(line[0]) and not self.is_common(line)
        )

    def explains(
        self, one: PageDigest, other: PageDigest, changed: Container[int] = frozenset()
    ) -> bool:
        """Tell whether all lines in which two pages differ are noise or in *changed*.

        False if not all of their lines are known: among those may be the only ones that differ.
        """
        if one.lines is None or other.lines is None or hide_what_differs(one, other):
            return False
        mine, my_limit = sampled_lines(one)
        theirs, their_limit = sampled_lines(other)
        if not my_limit == their_limit == UNBOUNDED:
            return False
        shapes = {*mine, *theirs}
        known = {shape for shape in shapes if shape not in changed and not self.holds(shape)}
        differ = {shape for shape in known if mine.get(shape) != theirs.get(shape)}
        if not self.rotates(differ - theirs.keys()) or not self.rotates(differ & theirs.keys()):
            return False
        return len(known) > len(differ)

    def same_page(self, one: PageDigest, other: PageDigest) -> bool | None:
        """Tell whether two pages are the same apart from noise, or None if unclear."""
        is_same = same_page(one, other)
        return is_same or self.explains(one, other) or is_same


def hide_what_differs(one: PageDigest, other: PageDigest) -> bool:
    """Tell whether two pages have no text, but different scripts to make it."""
    return bool(one.unread and other.unread) and one.unread != other.unread
