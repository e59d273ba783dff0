"""Blocks of a site's pages that are others at each visit, such as a quotation of the day."""

from __future__ import annotations

import struct
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.signature import Lines, kept_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

EDGE = 0
"""Stands for a line before the first one, and after the last."""

_NEIGHBOURS = 3
"""Lines on each side of a block that may tell where it is."""

_LEAST_VISITS = 3
"""Of several pages, at which a block stood between two lines; once and again a page was edited."""

_LEAST_SHARE = 0.5
"""Of all visits."""

_LEAST_VISITS_OF_ONE_SIDE = 8
"""All of which showed a block beside one line. A page without it would lose lines of its own, and
nothing but that each visit showed one tells that there is no such page."""


class Block(NamedTuple):
    """Some lines of a page instead of which another visit showed others."""

    before: tuple[int, ...]
    """The masked hashes of lines before it, the nearest first, that the page has but once."""
    after: tuple[int, ...]
    """Those of lines after it."""
    lines: int
    """How many there were."""


def blocks_of(masked: Sequence[int], others: Collection[int]) -> Iterator[Block]:
    """Yield the runs of lines of one visit that *others* are not among, those of another visit.

    >>> [*blocks_of([1, 7, 8, 2], {1, 2})]
    [Block(before=(1, 0), after=(2, 0), lines=2)]
    """
    lines = [EDGE, *masked, EDGE]
    counts = Counter(masked)
    is_other = [False, *(line not in others for line in masked), False]
    start = 0
    while True in is_other[start:]:
        start = is_other.index(True, start)
        end = is_other.index(False, start)

        def neighbours(numbers: Iterable[int]) -> tuple[int, ...]:
            known = takewhile(lambda n: not is_other[n] and counts[lines[n]] <= 1, numbers)
            return tuple([lines[number] for number in known])

        before = neighbours(range(start - 1, max(start - 1 - _NEIGHBOURS, -1), -1))
        after = neighbours(range(end, min(end + _NEIGHBOURS, len(lines))))
        yield Block(before, after, end - start)
        start = end


_FIELDS = struct.Struct(f"<BBH{2 * _NEIGHBOURS}Q")


def pack_blocks(blocks: Iterable[Block]) -> bytes:
    """Return *blocks* as bytes.

    >>> unpack_blocks(pack_blocks([Block((1 << 50 | 1, EDGE), (), 2)]))
    [Block(before=(1, 0), after=(), lines=2)]
    """
    packed = []
    for before, after, count in blocks:
        around = [*before, *after, *[EDGE] * (2 * _NEIGHBOURS - len(before) - len(after))]
        packed.append(_FIELDS.pack(len(before), len(after), count, *map(kept_of, around)))
    return b"".join(packed)


def unpack_blocks(data: object) -> list[Block]:
    """Return the blocks that :func:`pack_blocks` made bytes of.

    :raises ValueError: where they were cut short, or are something else.
    """
    if not isinstance(data, bytes) or len(data) % _FIELDS.size:
        raise ValueError(f"expected blocks, got {data!r:.40}")
    return [
        Block(tuple(around[:before]), tuple(around[before : before + after]), count)
        for before, after, count, *around in _FIELDS.iter_unpack(data)
    ]


class _Distance(NamedTuple):
    """Where a block is that is known by one line."""

    skipped: int
    """Lines between that one and the block."""
    lines: int


class Blocks:
    """Where other text stands at each visit of a site, and so is no content of a page.

    A quotation of the day is another one on a page that was not visited twice, too: it is known by
    what stands around it. Between two lines that most pages have it may be of fewer lines than were
    seen there. Where it has but one such neighbour, as between the text of an article and the foot
    of the page, it is on all pages, and always of as many lines.

    >>> lines = Lines([1, 7, 2, 8, 9, 3], [1, 7, 2, 8, 9, 3], [5] * 6)
    >>> Blocks([[Block((1,), (2,), 1), Block((2,), (3,), 1)]] * 3).left_of(lines).columns[0]
    [1, 2, 8, 9, 3]
    >>> visited = [[Block((p,), (3,), 1), Block((p, 1), (p,), 1)] for p in range(10, 18)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [1, 7, 8, 3]
    """

    def __init__(self, visited: Sequence[Iterable[Block]]) -> None:
        """Take the blocks of each of several pages of one site, of which each was visited twice."""
        seen = Counter(place for blocks in visited for place in {*map(_place, blocks)})
        beside = Counter(
            known for blocks in visited for known in {one for b in blocks for one in _beside(b)}
        )
        least = max(_LEAST_VISITS, _LEAST_SHARE * len(visited))
        least_beside = max(_LEAST_VISITS_OF_ONE_SIDE, len(visited))
        self._ends: dict[int, dict[int, int]] = {}
        self._beside: dict[tuple[int, bool], set[_Distance]] = {}
        for block in (block for blocks in visited for block in blocks):
            place = _place(block)
            if place and seen[place] >= least:
                ends = self._ends.setdefault(place[0], {})
                ends[place[1]] = max(block.lines, ends.get(place[1], 0))
                continue
            for known in _beside(block):
                if beside[known] >= least_beside:
                    line, is_before, distance = known
                    self._beside.setdefault((line, is_before), set()).add(distance)
                    break

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self._ends or self._beside)

    def left_of(self, lines: Lines) -> Lines:
        """Return *lines* without those that stand where other text stands at each visit."""
        masked = [EDGE, *lines.columns[0], EDGE]
        counts = Counter(lines.columns[0])
        is_left = bytearray(b"\1" * len(masked))

        def leave_out(start: int, end: int) -> None:
            start, end = max(start, 1), min(end, len(masked) - 1)
            is_left[start:end] = bytes(max(end - start, 0))

        for number, line in enumerate(masked):
            if counts[line] > 1:
                continue
            for after, most in self._ends.get(line, {}).items():
                if after in masked[number + 1 : number + most + 2]:
                    leave_out(number + 1, masked.index(after, number + 1))
            for skipped, count in self._beside.get((line, True), ()):
                leave_out(number + 1 + skipped, number + 1 + skipped + count)
            for skipped, count in self._beside.get((line, False), ()):
                leave_out(number - skipped - count, number - skipped)
        kept = [index for index in range(len(lines)) if is_left[index + 1]]
        return Lines(*([column[index] for index in kept] for column in lines.columns))


def _place(block: Block) -> tuple[int, int] | None:
    """Return the lines between which *block* stands, if the page has each but once."""
    return (block.before[0], block.after[0]) if block.before and block.after else None


def _beside(block: Block) -> Iterator[tuple[int, bool, _Distance]]:
    """Yield the lines by which *block* is known, nearest first; and if they are before it."""
    for skipped in range(_NEIGHBOURS):
        for is_before, lines in ((True, block.before), (False, block.after)):
            if skipped < len(lines):
                yield lines[skipped], is_before, _Distance(skipped, block.lines)
