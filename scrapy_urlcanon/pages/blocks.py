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
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence


EDGE = 0
"""Stands for a line before the first one, and after the last."""
_MEDIA = 1
"""Stands for a line between the text and the addresses of what the page embeds."""
_OTHER = -1
"""Stands for a line that a page has several times, so that it tells no place."""

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

_LEAST_SHARE_OF_ONE_SIDE = 0.75
"""Of all visits. At the others it may have been the same by chance, as where there are but 20 texts
for it: then a line is one of these if several pages have it there."""


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
    return zlib.compress(struct.pack(f"<H{len(kept)}Q", len(first), *kept))


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
    """Yield the runs of lines of one visit that the *others* of another have not, or are noise."""
    counts = Counter(outline)
    is_other = [line > _MEDIA and (line not in others or line in noise) for line in outline]
    start = 0
    while True in is_other[start:]:
        start = is_other.index(True, start)
        end = is_other.index(False, start)

        def neighbours(numbers: Iterable[int]) -> tuple[int, ...]:
            known = [outline[number] for number in takewhile(lambda n: not is_other[n], numbers)]
            return tuple([line if counts[line] == 1 or line == EDGE else _OTHER for line in known])

        before = neighbours(range(start - 1, max(start - 1 - _NEIGHBOURS, -1), -1))
        after = neighbours(range(end, min(end + _NEIGHBOURS, len(outline))))
        yield _Block(before, after, end - start, _MEDIA in outline[:start])
        start = end


class Blocks:
    """Where other text stands at each visit of a site, and so is no content of a page.

    A quotation of the day is another one on a page that was not visited twice, too: it is known by
    what stands around it. Between two lines that most pages have it may be of fewer lines than were
    seen there. Where it has but one such neighbour, as between the text of an article and the foot
    of the page, it is on all pages, and of as many lines as there were at most visits. Pictures
    have no places of their own: one more among them is that of the page, and no advertisement.

    >>> lines = Lines([10, 17, 20, 28, 30], [10, 17, 20, 28, 30], [5] * 5)
    >>> visited = [([0, 10, n, 20, 0], [0, 10, n + 1, 20, 0]) for n in range(50, 56, 2)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 20, 28, 30]
    >>> visited = [([0, page, 50, 30, 0], [0, page, 51, 30, 0]) for page in range(70, 78)]
    >>> Blocks(visited).left_of(lines).columns[0]
    [10, 17, 20, 30]

    :param visited: what two visits showed of each of several pages of one site; nothing where the
        second showed the same.
    :param noise: lines that were others at another visit.
    :param texts: returns the distinct texts of the site, or a sample of them.
    """

    def __init__(
        self,
        visited: Sequence[tuple[Outline, Outline]],
        noise: Container[int] = (),
        texts: Callable[[], Iterable[Lines]] = tuple,
    ) -> None:
        found = [
            [*_blocks_of(first, {*again}, noise), *_blocks_of(again, {*first}, noise)]
            for first, again in visited
        ]
        between = Counter(
            chain.from_iterable({_between(block) for block in blocks} for blocks in found)
        )
        beside: dict[_Side, list[int]] = {}
        for blocks in found:
            for one, count in _fewest(blocks).items():
                beside.setdefault(one, []).append(count)
        least = max(_LEAST_VISITS, _LEAST_SHARE * len(visited))
        least_beside = max(_LEAST_VISITS_OF_ONE_SIDE, ceil(_LEAST_SHARE_OF_ONE_SIDE * len(visited)))
        sides = {
            one: sorted(counts, reverse=True)
            for one, counts in beside.items()
            if len(counts) >= least_beside
        }
        self._between: dict[int, dict[int, set[int]]] = {}
        self._beside: dict[int, dict[_Side, int]] = {}
        self._at_all: set[_Side] = set()
        for block in chain.from_iterable(found):
            place = _between(block)
            if place and between[place] >= least:
                sizes = self._between.setdefault(place[0], {}).setdefault(place[1], set())
                sizes.update([block.lines] if block.is_embedded else range(1, block.lines + 1))
            elif side := next(filter(sides.__contains__, _beside(block)), None):
                # So many lines had the block at that many visits, at least.
                count = sides[side][least_beside - 1]
                self._beside.setdefault(side.line, {})[side] = count
                if len(sides[side]) == len(visited) and sides[side][-1] == count:
                    self._at_all.add(side)
        self._known: Container[int] = ()
        if len(self._at_all) < sum(map(len, self._beside.values())):
            self._known = self._on_several_pages(texts(), noise)

    def __bool__(self) -> bool:
        """Tell whether there is any."""
        return bool(self._between or self._beside)

    def left_of(self, lines: Lines) -> Lines:
        """Return *lines* without those that stand where other text stands at each visit."""
        places = outline_of(lines)
        is_kept = bytearray(b"\1") * len(places)
        for start, end, side in self._found(places):
            for number in range(start, end):
                is_sure = side is None or side in self._at_all
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
            for start, end, side in found:
                if side and side not in self._at_all:
                    for line in places[start:end]:
                        pages.setdefault(line, set()).add(page)
        return {line for line, of in pages.items() if len(of) > 1}

    def _found(self, places: Sequence[int]) -> Iterator[tuple[int, int, _Side | None]]:
        """Yield where blocks begin and end, and by which side those that are beside one line."""
        counts = Counter(places)
        for number, line in enumerate(places):
            if counts[line] > 1 and line != EDGE:
                continue
            for after, sizes in self._between.get(line, {}).items():
                if after in places[number + 2 : number + max(sizes) + 2]:
                    end = places.index(after, number + 2)
                    if end - number - 1 in sizes:
                        yield number + 1, end, None
            for side, count in self._beside.get(line, {}).items():
                start = number + side.distance - (side.distance < 0) * (count - 1)
                end = start + count
                if start > 0 and end < len(places) and min(places[start:end]) > _MEDIA:
                    yield start, end, side


class _Side(NamedTuple):
    """By which line a block is known, and how far from it the next line of the block is."""

    line: int
    distance: int
    """In lines; negative where the block is before the line."""


def _between(block: _Block) -> tuple[int, ...] | None:
    """Return the lines between which *block* stands, where both tell a place."""
    if not block.before or not block.after or _OTHER in {block.before[0], block.after[0]}:
        return None
    place = block.before[0], block.after[0]
    return (*place, block.lines) if block.is_embedded else place


def _beside(block: _Block) -> Iterator[_Side]:
    """Yield by what *block* is known on each of its sides, the nearest first."""
    for skipped in range(0 if block.is_embedded else _NEIGHBOURS):
        for lines, direction in ((block.before, 1), (block.after, -1)):
            if skipped < len(lines) and lines[skipped] != _OTHER:
                yield _Side(lines[skipped], direction * (1 + skipped))


def _fewest(blocks: Iterable[_Block]) -> dict[_Side, int]:
    """Return how many lines the blocks of a visit have at least, by what they are known by."""
    found: dict[_Side, int] = {}
    for block in blocks:
        for side in _beside(block):
            found[side] = min(block.lines, found.get(side, block.lines))
    return found
