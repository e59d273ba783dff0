"""Blocks of a site's pages that are others at each visit, such as a quotation of the day."""

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
"""Stands for a line before the first one, and after the last."""
_MEDIA = 1
"""Stands for a line between the text and the addresses of what the page embeds."""
_OTHER = -1
"""Stands for a line that the page has farther on, too, so that it tells no place."""

_MAX_BYTES = 2 + 2 * 8 * (MAX_LINES + 3)

_NEIGHBOURS = 6
"""Lines on each side of a block, at most, that may tell where it is."""

_LEAST_VISITS = 3
"""Of several pages, at which a block stood between two lines; once and again a page was edited."""

_LEAST_SHARE = 0.5
"""Of all visits."""

_LEAST_VISITS_OF_ONE_SIDE = 8
"""At which a block stood beside one line. Nothing but that tells that a page has it, and a page
that has not would lose lines of its own."""

_LEAST_VISITS_OF_EACH = 2
"""At which it stood beside one of several lines that tell it together."""

_LEAST_SHARE_OF_ONE_SIDE = 0.75
"""Of the visits of pages that have the line. At the others it may have been the same by chance, as
where there are but 20 texts for it: then a line is one of these if several pages have it there."""


class _Block(NamedTuple):
    """Some lines of a page instead of which another visit showed others."""

    before: tuple[int, ...]
    """The masked hashes of lines before it, the nearest first."""
    after: tuple[int, ...]
    """Those of lines after it."""
    lines: int
    """How many there were."""
    is_embedded: bool
    """Whether they are addresses of what the page embeds."""


Outline: TypeAlias = "Sequence[int]"
"""What stands on a page, from its first line to its last."""


def outline_of(lines: Lines) -> Outline:
    """Return the masked hashes, and what stands for the edges and before what is embedded.

    That is told by its look: it has no numbers that are masked, and is of one word.

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
    # What does not repeat the first one is hashes, of which no level makes less.
    return zlib.compress(struct.pack(f"<H{len(kept)}Q", len(first), *kept), 1)


def unpack_outlines(data: object) -> tuple[Outline, Outline]:
    """Return what :func:`pack_outlines` made bytes of.

    :raises ValueError: where it was cut short, or is something else.
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
    """Yield the runs of lines of one visit that the *others* of another have not, or are noise.

    What a page has several times, such as the label of a link, is no text that was chosen anew.
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
    """Return where each line is for the first time, and where for the last.

    A block may stand before the first "more" of a page, or behind the last one. It stands behind
    no edge but the beginning, and before none but the end.
    """
    last = {line: number for number, line in enumerate(outline)}
    first = {outline[number]: number for number in range(len(outline) - 1, -1, -1)}
    first[EDGE], last[EDGE] = len(outline) - 1, 0
    return first, last


class Blocks:
    """Where other text stands at each visit of a site, and so is no content of a page.

    A quotation of the day is another one on a page that was not visited twice, too: it is known by
    what stands around it. Between two lines that most pages have it may be of fewer lines than were
    seen there. Where it has but one such neighbour, as between the text of an article and the foot
    of the page, it is on all pages that have this line, and of as many lines as there were at most
    visits. Pictures have no places of their own: one more among them is that of the page, and no
    advertisement.

    >>> lines = Lines([10, 17, 20, 28, 30], [10, 17, 20, 28, 30], [5] * 5)
    >>> visited = [([0, 10, n, 20, 0], [0, 10, n + 1, 20, 0]) for n in range(50, 56, 2)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 20, 28, 30]
    >>> visited = [([0, page, 50, 30, 0], [0, page, 51, 30, 0]) for page in range(70, 78)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 17, 20, 30]

    :param visited: what two visits showed of each of several pages of one site; nothing where the
        second showed the same, and it was not kept.
    :param noise: lines that were others at another visit.
    :param counters: those of them that were there again with another number: they tell a place.
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
        """Tell whether there is any."""
        return bool(self._between or self._beside)

    def left_of(self, lines: Lines) -> Lines:
        """Return *lines* without those that stand where other text stands at each visit."""
        places = outline_of(lines)
        is_kept = bytearray(b"\1") * len(places)
        for start, end, is_sure in self._found(places):
            for number in range(start, end):
                is_kept[number] &= not (is_sure or places[number] in self._known)
        kept = [chosen for line, chosen in zip(places, is_kept, strict=True) if line > _MEDIA]
        return Lines(*([*compress(column, kept)] for column in lines.columns))

    def _on_several_pages(self, texts: Iterable[Lines], noise: Container[int]) -> set[int]:
        """Return lines where the same ones stood at some visits, if they are on several pages.

        Texts that differ in nothing but blocks and noise are of one page.
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
        """Yield where blocks begin and end, and whether other text was there at all visits."""
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
    """A block that is known by one line beside it."""

    lines: frozenset[int]
    """Any of these: the first one on the page where the block is before it, else the last one."""
    distance: int
    """How far from it the next line of the block is; negative where the block is before it."""
    size: int
    """How many lines the block has."""
    is_at_all: bool
    """Whether it was of so many at all visits of pages that have the line.

    What was there at some only, such as half of an A/B test, leaves its place to the page else.
    """

    def place(self, first: Mapping[int, int], last: Mapping[int, int]) -> int | None:
        """Return where the line is, of a page where lines are *first* and *last*; None of none."""
        ends, nearest = (last, max) if self.distance > 0 else (first, min)
        return nearest(map(ends.__getitem__, self.lines & ends.keys()), default=None)


def _between(block: _Block) -> tuple[int, ...] | None:
    """Return the lines between which *block* stands, where both tell a place."""
    if not block.before or not block.after or _OTHER in {block.before[0], block.after[0]}:
        return None
    place = block.before[0], block.after[0]
    return (*place, block.lines) if block.is_embedded else place


def _beside(block: _Block) -> Iterator[tuple[int, int]]:
    """Yield by what line *block* is known on each of its sides, and how far, the nearest first."""
    for skipped in range(0 if block.is_embedded else _NEIGHBOURS):
        for lines, direction in ((block.before, 1), (block.after, -1)):
            if skipped < len(lines) and lines[skipped] != _OTHER:
                yield lines[skipped], direction * (1 + skipped)


_Sizes: TypeAlias = "Mapping[tuple[int, int], Mapping[int, int]]"
"""How many lines the blocks of each outline have at least, by what line they are known, and how far
from it."""


def _sides(
    outlines: Sequence[Outline], found: Iterable[Iterable[_Block]], left: Iterable[_Block]
) -> set[_Side]:
    """Return by which single lines blocks are known.

    :param outlines: those of two visits of a page, one after the other.
    :param found: the blocks of each.
    :param left: those that are not known by the lines on both sides.
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
        # One line is on more pages than any of a few that were seen.
        of_block.sort(key=lambda side: (not side.is_at_all, len(side.lines)))
        known.update(of_block[:1])
    return known


def _by_one_line(outlines: Sequence[Outline], sizes: _Sizes) -> dict[tuple[int, int], _Side]:
    """Return what blocks are beside a certain line at most visits of pages that have it."""
    having = Counter(chain.from_iterable(map(frozenset, outlines)))
    # Where it was not kept what a page showed it may have any line.
    unknown = outlines.count(())
    return {
        (line, distance): side
        for (line, distance), of in sizes.items()
        if (side := _side({line}, distance, of.values(), having[line] + unknown))
    }


def _by_any_line(outlines: Sequence[Outline], sizes: _Sizes, direction: int) -> _Side | None:
    """Return what block is beside any of some lines at most visits of pages that have one.

    Such lines are the labels of links: which is the first one behind an article is another one on
    each page.
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
    """Return a block beside some lines, if it is there at enough of the visits that show these.

    :param sizes: how many lines it had at each visit at which it was there.
    :param times: how many visits show them.
    """
    least = max(2 * _LEAST_VISITS_OF_ONE_SIDE, ceil(_LEAST_SHARE_OF_ONE_SIDE * times))
    if len(sizes) < least:
        return None
    # So many lines had the block at that many visits, at least.
    size = sorted(sizes, reverse=True)[least - 1]
    is_at_all = len(sizes) == times and min(sizes) == size
    return _Side(frozenset(lines), distance, size, is_at_all)
