"""What two visits of one URL tell of its site: what is another one at each visit."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.signature import Lines, kept_of

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator, Mapping, Sequence
    from typing import Literal

_LEAST_IN_COMMON = 0.5
"""Of the lines of both; less have a page and an error, a captcha, or a page that is random."""

_LEAST_VISITS = 3
"""Of several pages, at which other text stood in a place; once and again a page was edited."""

_LEAST_SHARE = 0.5
"""Of all visits."""

_LEAST_OF_ALL = 6
"""Visits, where other text is to have stood in a place at each of them."""

_BLOCK = struct.Struct("<QQH")

EDGE = 0
"""Stands for a line before the first one, and after the last."""


class Place(NamedTuple):
    """Where on a page something stands: between two lines, by their masked hashes."""

    before: int
    after: int


class Visits(NamedTuple):
    """What two visits tell, by the masked hashes of lines."""

    steady: frozenset[int]
    """Lines with numbers, all of which were the same again: such a number is content."""
    noise: frozenset[int]
    """Lines that were not there again as they were, such as a counter or an advertisement."""
    blocks: Mapping[Place, int]
    """Where other text stood, such as a quotation of the day, and of how many lines at most."""


def compare_visits(first: Lines, again: Lines) -> Visits | None:
    r"""Return what two visits of one URL say; None where the second showed something else.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> first, again = lines_of(b"price 12\nread 7 times"), lines_of(b"price 12\nread 8 times")
    >>> visits = compare_visits(first, again)
    >>> visits == (frozenset({first[0].masked}), frozenset({first[1].masked}), {})
    True
    >>> compare_visits(first, lines_of(b"please log in")) is None
    True

    Where all but the numbers is the same, nothing else stands in a place. Here something does:

    >>> first, again = lines_of(b"advice\nrest well\nend"), lines_of(b"advice\nrise early\nend")
    >>> compare_visits(first, again).blocks == {(first[0].masked, first[2].masked): 1}
    True
    """
    one, other = ({exact: masked for masked, exact, _ in lines} for lines in (first, again))
    common = one.keys() & other.keys()
    if len(common) < _LEAST_IN_COMMON * max(len(one), len(other)):
        return None
    both = one | other
    noise = frozenset([both[line] for line in one.keys() ^ other.keys()])
    numbered = frozenset([masked for line in common if (masked := both[line]) != line])
    blocks: dict[Place, int] = {}
    shapes = [*map(frozenset, (one.values(), other.values()))]
    for lines, known in zip((first, again), reversed(shapes), strict=True):
        for place, count in _others(lines.columns[0], known):
            blocks[place] = max(count, blocks.get(place, 0))
    return Visits(numbered - noise, noise, blocks)


def _others(masked: Sequence[int], known: Collection[int]) -> Iterator[tuple[Place, int]]:
    """Yield where lines that are not *known* stand, and how many."""
    before, count = EDGE, 0
    for line in masked:
        if line not in known:
            count += 1
            continue
        if count:
            yield Place(before, line), count
        before, count = line, 0
    if count:
        yield Place(before, EDGE), count


def pack_blocks(blocks: Mapping[Place, int]) -> bytes:
    """Return :attr:`Visits.blocks` as bytes.

    >>> unpack_blocks(pack_blocks({Place(1, EDGE): 2, Place(1 << 50 | 3, 4): 5}))
    {Place(before=1, after=0): 2, Place(before=3, after=4): 5}
    """
    return b"".join([_BLOCK.pack(*map(kept_of, place), lines) for place, lines in blocks.items()])


def unpack_blocks(data: object) -> dict[Place, int]:
    """Return the blocks that :func:`pack_blocks` made bytes of.

    :raises ValueError: where they were cut short, or are something else.
    """
    if not isinstance(data, bytes) or len(data) % _BLOCK.size:
        raise ValueError(f"expected blocks, got {data!r:.40}")
    return {Place(*place): lines for *place, lines in _BLOCK.iter_unpack(data)}


class Blocks:
    """Where other text stands at each visit of a site, and so is no content of a page.

    A quotation of the day is another one on a page that was not visited twice, too: it is known by
    what stands around it. Where that is between two lines that most pages have, it may be of fewer
    lines than were seen there. Where it has but one such neighbour, as between the text of an
    article and the foot of the page, it is there at every visit, and always of as many lines.

    >>> lines = Lines([1, 7, 2, 8, 9, 3], [1, 7, 2, 8, 9, 3], [5] * 6)
    >>> Blocks([{Place(1, 2): 1, Place(2, 3): 1}] * 3).left_of(lines).columns[0]
    [1, 2, 8, 9, 3]
    >>> visited = [{Place(1, 2): 1, Place(page, 3): 1} for page in range(10, 16)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [1, 2, 8, 3]
    """

    def __init__(self, visited: Sequence[Mapping[Place, int]]) -> None:
        """Take what :attr:`Visits.blocks` is of visits of several pages of one site."""
        sizes: dict[Place, list[int]] = {}
        for blocks in visited:
            for place, count in blocks.items():
                sizes.setdefault(place, []).append(count)
        least = max(_LEAST_VISITS, _LEAST_SHARE * len(visited))
        self._ends: dict[int, list[tuple[int, int]]] = {}
        for place, counts in sizes.items():
            if len(counts) >= least:
                self._ends.setdefault(place.before, []).append((place.after, max(counts)))
        ends = {after for known in self._ends.values() for after, _ in known}
        self._behind = _one_sided(visited, "before", self._ends)
        self._ahead_of = _one_sided(visited, "after", ends)

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self._ends or self._behind or self._ahead_of)

    def left_of(self, lines: Lines) -> Lines:
        """Return *lines* without those that stand where other text stands at each visit."""
        masked = [*lines.columns[0], EDGE]
        kept: list[int] = []
        number = self._end(masked, EDGE, 0)
        while True:
            line = masked[number]
            if line in self._ahead_of:
                del kept[-self._ahead_of[line] :]
            if number == len(lines):
                return Lines(*([column[index] for index in kept] for column in lines.columns))
            kept.append(number)
            number = self._end(masked, line, number + 1)

    def _end(self, masked: Sequence[int], before: int, number: int) -> int:
        """Return where the block ends that begins behind the line *before*, or *number*."""
        for after, most in self._ends.get(before, ()):
            if after in masked[number : number + most + 1]:
                return masked.index(after, number)
        return min(number + self._behind.get(before, 0), len(masked) - 1)


def _one_sided(
    visited: Sequence[Mapping[Place, int]], side: Literal["before", "after"], known: Container[int]
) -> dict[int, int]:
    """Return behind or ahead of which lines so many others stood at every visit."""
    if len(visited) < _LEAST_OF_ALL:
        return {}
    at_all: set[tuple[int, int]] | None = None
    for blocks in visited:
        found = {(getattr(place, side), count) for place, count in blocks.items()}
        at_all = found if at_all is None else at_all & found
    return {line: count for line, count in at_all or () if line not in known}
