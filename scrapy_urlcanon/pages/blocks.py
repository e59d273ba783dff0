"""Finds blocks of pages that change at each visit, such as a quotation of the day."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from itertools import chain, compress, takewhile
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.pages.signature import MAX_LINES, Lines, kept_of

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from collections.abc import Set as AbstractSet


EDGE = 0
"""Marks the place before the first line and after the last."""
_MEDIA = 1
"""Stands for the border between the text and the addresses of embedded media."""
_OTHER = -1
"""Stands for a line that occurs again later on the page, so that it marks no place."""

_MAX_BYTES = 2 + 2 * 8 * (MAX_LINES + 3)

_NEIGHBOURS = 6
"""How many lines on each side of a block are considered as marks of its place."""

_LEAST_VISITS = 3
"""At how many visits, of several pages, a block must have been between two lines. Fewer may be
pages that were edited."""

_LEAST_SHARE = 0.5
"""At what share of all visits it must have been there."""

_LEAST_VISITS_OF_ONE_SIDE = 8
"""At how many visits a block must have been next to one line, if only that line marks its place. A
page without the block would lose lines of its own."""

_LEAST_VISITS_OF_EACH = 2
"""At how many visits it must have been next to each of several lines that mark its place together.
"""

_LEAST_SHARE_OF_ONE_SIDE = 0.75
"""At what share of the visits of pages with that line. At the others the block may have been the
same by chance, for example if there are 20 texts to choose from; such a text is known if several
pages have it there."""


class _Block(NamedTuple):
    """Lines of a page in place of which another visit showed other lines."""

    before: tuple[int, ...]
    """The masked hashes of the lines before it, the nearest first."""
    after: tuple[int, ...]
    """The masked hashes of the lines after it, the nearest first."""
    lines: int
    """The number of lines."""
    is_embedded: bool
    """Whether they are addresses of embedded media."""


Outline: TypeAlias = "Sequence[int]"
"""The masked hashes of the lines of a page, in order, with marks for its edges."""


def outline_of(lines: Lines) -> Outline:
    """Return the masked hashes, with marks for the edges and before embedded media.

    Addresses of media are recognised by having no masked numbers and one word.

    >>> outline_of(Lines([50, 70, 80], [50, 71, 80], [9, 1, 1]))
    [0, 50, 70, 1, 80, 0]
    """
    masked, exact, words = lines.columns
    count = len(masked)
    while count and words[count - 1] == 1 and masked[count - 1] == exact[count - 1]:
        count -= 1
    return [EDGE, *masked[:count], _MEDIA, *masked[count:], EDGE]


def pack_outlines(first: Outline, again: Outline) -> bytes:
    """Return two outlines as bytes.

    >>> unpack_outlines(pack_outlines([EDGE, 1 << 50 | 9, EDGE], [EDGE, 8, EDGE]))
    ([0, 9, 0], [0, 8, 0])
    """
    kept = [*map(kept_of, (*first, *again))]
    # Level 1: new hashes do not compress at any level.
    return zlib.compress(struct.pack(f"<H{len(kept)}Q", len(first), *kept), 1)


def unpack_outlines(data: object) -> tuple[Outline, Outline]:
    """Return the outlines that :func:`pack_outlines` packed.

    :raises ValueError: if the data are truncated or something else.
    """
    made = zlib.decompressobj()
    try:
        unpacked = made.decompress(data, _MAX_BYTES)  # type: ignore[arg-type]
        (count,) = struct.unpack_from("<H", unpacked)
        outlines = [*struct.unpack(f"<{len(unpacked) // 8}Q", unpacked[2:])]
    except (TypeError, zlib.error, struct.error) as error:
        raise ValueError(str(error)) from None
    if not made.eof or count > len(outlines):
        raise ValueError("expected two outlines")
    return outlines[:count], outlines[count:]


def _blocks_of(outline: Outline, others: Container[int], noise: Container[int]) -> Iterator[_Block]:
    """Yield the runs of lines of one visit that are not among *others*, those of another, or noise.

    Lines that a page has several times, such as the label of a link, are left out: they were not
    chosen at random.
    """
    first, last = _ends(outline)
    is_other = [
        line > _MEDIA and (line not in others or (line in noise and first[line] == last[line]))
        for line in outline
    ]
    start = 0
    while True in is_other[start:]:
        start = is_other.index(True, start)
        end = is_other.index(False, start)

        def neighbours(numbers: Iterable[int], nearest: Mapping[int, int]) -> tuple[int, ...]:
            known = takewhile(lambda number: not is_other[number], numbers)
            return tuple([outline[n] if n == nearest[outline[n]] else _OTHER for n in known])

        before = neighbours(range(start - 1, max(start - 1 - _NEIGHBOURS, -1), -1), last)
        after = neighbours(range(end, min(end + _NEIGHBOURS, len(outline))), first)
        yield _Block(before, after, end - start, _MEDIA in outline[:start])
        start = end


def _ends(outline: Outline) -> tuple[dict[int, int], dict[int, int]]:
    """Return the first and the last position of each line.

    A block may be before the first "more" of a page, or after the last one. The edges count only at
    their own end.
    """
    last = {line: number for number, line in enumerate(outline)}
    first = {outline[number]: number for number in range(len(outline) - 1, -1, -1)}
    first[EDGE], last[EDGE] = len(outline) - 1, 0
    return first, last


class Blocks:
    """The places on the pages of a site where each visit shows another text, which is not content.

    Places are found on pages that were visited twice, and recognised on all others by the lines
    around them. Between two lines that most pages have, a block may have up to as many lines as
    were seen there. If only one neighbour is common to many pages, as between an article and the
    footer, the block is on all pages with that line, with as many lines as at most visits. Media
    have no places: one more picture belongs to the page, and is no advertisement.

    >>> lines = Lines([10, 17, 20, 28, 30], [10, 17, 20, 28, 30], [5] * 5)
    >>> visited = [([0, 10, n, 20, 0], [0, 10, n + 1, 20, 0]) for n in range(50, 56, 2)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 20, 28, 30]
    >>> visited = [([0, page, 50, 30, 0], [0, page, 51, 30, 0]) for page in range(70, 78)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 17, 20, 30]

    :param visited: the outlines of two visits for each of several pages of a site; both empty if
        the second visit showed the same.
    :param noise: lines that changed at another visit.
    :param counters: those of *noise* that were there again with another number: they can mark a
        place.
    :param texts: returns the distinct texts of the site, or a sample of them.
    """

    def __init__(
        self,
        visited: Sequence[tuple[Outline, Outline]],
        noise: AbstractSet[int] = frozenset(),
        texts: Callable[[], Iterable[Lines]] = tuple,
        counters: AbstractSet[int] = frozenset(),
    ) -> None:
        moving = noise - counters
        found = [
            [*_blocks_of(outline, {*other}, moving)]
            for first, again in visited
            for outline, other in ((first, again), (again, first))
        ]
        between = Counter(
            chain.from_iterable(
                {_between(block) for block in one + two}
                for one, two in zip(found[::2], found[1::2], strict=True)
            )
        )
        least = max(_LEAST_VISITS, _LEAST_SHARE * len(visited))
        self._between: dict[int, dict[int, set[int]]] = {}
        left = []
        for block in chain.from_iterable(found):
            place = _between(block)
            if place and between[place] >= least:
                sizes = self._between.setdefault(place[0], {}).setdefault(place[1], set())
                sizes.update([block.lines] if block.is_embedded else range(1, block.lines + 1))
            else:
                left.append(block)
        self._beside = _sides([*chain.from_iterable(visited)], found, left)
        self._known: Container[int] = ()
        if not all(side.is_at_all for side in self._beside):
            self._known = self._on_several_pages(texts(), noise)

    def __bool__(self) -> bool:
        """Tell whether there are any such places."""
        return bool(self._between or self._beside)

    def left_of(self, lines: Lines) -> Lines:
        """Return *lines* without those in such places."""
        places = outline_of(lines)
        is_kept = bytearray(b"\1") * len(places)
        for start, end, is_sure in self._found(places):
            for number in range(start, end):
                is_kept[number] &= not (is_sure or places[number] in self._known)
        kept = [chosen for line, chosen in zip(places, is_kept, strict=True) if line > _MEDIA]
        return Lines(*([*compress(column, kept)] for column in lines.columns))

    def _on_several_pages(self, texts: Iterable[Lines], noise: Container[int]) -> set[int]:
        """Return lines in places that did not always change, if several pages have them there.

        Texts that differ only in blocks and noise count as one page.
        """
        pages: dict[int, set[int]] = {}
        for places in map(outline_of, texts):
            found = [*self._found(places)]
            inside = {number for start, end, _ in found for number in range(start, end)}
            own = (line for n, line in enumerate(places) if n not in inside and line not in noise)
            page = hash(frozenset(own))
            for start, end, is_sure in found:
                if not is_sure:
                    for line in places[start:end]:
                        pages.setdefault(line, set()).add(page)
        return {line for line, of in pages.items() if len(of) > 1}

    def _found(self, places: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
        """Yield the beginning and end of each block, and whether it changed at all visits."""
        first, last = _ends(places)
        for line in self._between.keys() & last.keys():
            for after, sizes in self._between[line].items():
                start, end = last[line] + 1, first.get(after, 0)
                if end - start in sizes:
                    yield start, end, True
        for side in self._beside:
            place = side.place(first, last)
            if place is None:
                continue
            start = place + side.distance - (side.distance < 0) * (side.size - 1)
            end = start + side.size
            if start > 0 and end < len(places) and min(places[start:end]) > _MEDIA:
                yield start, end, side.is_at_all


class _Side(NamedTuple):
    """A place that is marked by a line on one side."""

    lines: frozenset[int]
    """Any of these is the mark: its first occurrence if the block is before it, else its last."""
    distance: int
    """The distance from the mark to the nearest line of the block; negative if the block is before
    it."""
    size: int
    """The number of lines of the block."""
    is_at_all: bool
    """Whether the block had this size at all visits of pages with the mark.

    If it was there at some visits only, as one variant of an A/B test, other pages have content in
    its place.
    """

    def place(self, first: Mapping[int, int], last: Mapping[int, int]) -> int | None:
        """Return the position of the mark, given *first* and *last* positions, or None."""
        ends, nearest = (last, max) if self.distance > 0 else (first, min)
        return nearest(map(ends.__getitem__, self.lines & ends.keys()), default=None)


def _between(block: _Block) -> tuple[int, ...] | None:
    """Return the lines around *block*, if both mark a place."""
    if not block.before or not block.after or _OTHER in {block.before[0], block.after[0]}:
        return None
    place = block.before[0], block.after[0]
    return (*place, block.lines) if block.is_embedded else place


def _beside(block: _Block) -> Iterator[tuple[int, int]]:
    """Yield the marks of *block* on each side with their distances, the nearest first."""
    for skipped in range(0 if block.is_embedded else _NEIGHBOURS):
        for lines, direction in ((block.before, 1), (block.after, -1)):
            if skipped < len(lines) and lines[skipped] != _OTHER:
                yield lines[skipped], direction * (1 + skipped)


_Sizes: TypeAlias = "Mapping[tuple[int, int], Mapping[int, int]]"
"""By mark and distance: the least size of the blocks of each outline."""


def _sides(
    outlines: Sequence[Outline], found: Iterable[Iterable[_Block]], left: Iterable[_Block]
) -> set[_Side]:
    """Return the places that are marked by a line on one side.

    :param outlines: those of both visits of each page, one after the other.
    :param found: the blocks of each outline.
    :param left: the blocks that are not known by the lines on both sides.
    """
    sizes: dict[tuple[int, int], dict[int, int]] = {}
    for number, blocks in enumerate(found):
        for block in blocks:
            for place in _beside(block):
                of = sizes.setdefault(place, {})
                of[number] = min(block.lines, of.get(number, block.lines))
    sides = _by_one_line(outlines, sizes)
    for direction in (1, -1):
        if joint := _by_any_line(outlines, sizes, direction):
            for place in ((line, direction) for line in joint.lines):
                if place not in sides or not sides[place].is_at_all:
                    sides[place] = joint
    known = set()
    for block in left:
        of_block = [sides[place] for place in _beside(block) if place in sides]
        # A single line first: it is on more pages than any of a few lines.
        of_block.sort(key=lambda side: (not side.is_at_all, len(side.lines)))
        known.update(of_block[:1])
    return known


def _by_one_line(outlines: Sequence[Outline], sizes: _Sizes) -> dict[tuple[int, int], _Side]:
    """Return the blocks that are next to one line at most visits of pages with that line."""
    having = Counter(chain.from_iterable(map(frozenset, outlines)))
    # A page whose outlines were not kept may have any line.
    unknown = outlines.count(())
    return {
        (line, distance): side
        for (line, distance), of in sizes.items()
        if (side := _side({line}, distance, of.values(), having[line] + unknown))
    }


def _by_any_line(outlines: Sequence[Outline], sizes: _Sizes, direction: int) -> _Side | None:
    """Return the block that is next to any of several lines at most visits of pages with one.

    Such lines are labels of links: which of them comes first after an article differs by page.
    """
    lines = {
        line: of
        for (line, distance), of in sizes.items()
        if distance == direction and len(of) >= 2 * _LEAST_VISITS_OF_EACH
    }
    while True:
        side = _Side(frozenset(lines), direction, 0, is_at_all=False)
        at = ((n, side.place(*_ends(outline))) for n, outline in enumerate(outlines) if outline)
        beside = [(n, outlines[n][place]) for n, place in at if place is not None]
        times = Counter(line for _, line in beside)
        right = Counter(line for n, line in beside if n in lines[line])
        wrong = {line for line in times if right[line] < _LEAST_SHARE_OF_ONE_SIDE * times[line]}
        if not wrong:
            counts = [lines[line][n] for n, line in beside if n in lines[line]]
            return _side(lines, direction, counts, len(beside) + outlines.count(()))
        for line in wrong:
            del lines[line]


def _side(lines: Iterable[int], distance: int, sizes: Collection[int], times: int) -> _Side | None:
    """Return the place next to *lines*, if a block is there at enough visits that show these.

    :param sizes: the size of the block at each visit at which it was there.
    :param times: how many visits show any of the lines.
    """
    least = max(2 * _LEAST_VISITS_OF_ONE_SIDE, ceil(_LEAST_SHARE_OF_ONE_SIDE * times))
    if len(sizes) < least:
        return None
    # The block had at least this size at *least* visits.
    size = sorted(sizes, reverse=True)[least - 1]
    is_at_all = len(sizes) == times and min(sizes) == size
    return _Side(frozenset(lines), distance, size, is_at_all)
