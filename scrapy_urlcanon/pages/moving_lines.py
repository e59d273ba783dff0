"""Compares pages by lines of which a part changes at each visit.

As a whole such a line is noise: it never comes again. But most of its words may be content, as in a
paragraph with an advertisement in it, or a table row with a number of visits.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.same_page import LineKey, key_of
from scrapy_urlcanon.pages.signature import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.pages.shown import Shown

_WORD = re.compile(r"\w+")
_LOOKED_AT = 64
"""Up to how many such lines of a page are searched among all lines of the other page."""


class MovingLine(NamedTuple):
    """A line of which a part changes at each visit."""

    text: str
    """The line as it was at the first visit."""
    words: frozenset[str]
    """The words that stay the same, which are most of the line."""

    @property
    def key(self) -> LineKey:
        """The hashes of the words that stay, by which lines are compared."""
        hashed = hash64(" ".join(sorted(self.words)).encode("utf-8", "surrogatepass"))
        return key_of(hashed, hashed)


class MovingLines(NamedTuple):
    """The moving lines that each of two pages has and the other has not."""

    of_variant: list[MovingLine]
    of_kept: list[MovingLine]

    def is_most(self, shared: Iterable[str]) -> bool:
        """Tell whether each page has more words in these than both share in *shared* lines."""
        both = sum(len(set(words_of(text))) for text in shared)
        return all(sum(len(line.words) for line in lines) > both for lines in self)


def moving_lines(one: Shown, other: Shown) -> list[MovingLine]:
    """Return the lines that changed in part between two visits of one URL.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> from scrapy_urlcanon.pages.shown import Shown
    >>> pages = [
    ...     Page("", b"", f"<p>Blue shoes of leather, seen {n} times<p>Visit {n}") for n in (4, 7)
    ... ]
    >>> [line] = moving_lines(*(Shown(page, page.digest) for page in pages))
    >>> sorted(line.words)
    ['blue', 'leather', 'of', 'seen', 'shoes', 'times']
    """
    gone = [(text, words_of(text)) for key, text in one.texts.items() if key not in other.texts]
    came = [words_of(text) for key, text in other.texts.items() if key not in one.texts]
    # Candidates begin or end alike, or have the same position: comparing all pairs takes too long.
    by_end: defaultdict[tuple[int, str], deque[int]] = defaultdict(deque)
    for number, words in enumerate(came):
        for end in (0, -1) if words else ():
            by_end[end, words[end]].append(number)
    distinct = [*map(frozenset, came)]
    taken: set[int] = set()
    found = []
    for place, (text, words) in enumerate(gone):
        mine = frozenset(words)
        for number in (*_first_of(by_end, words, taken), place):
            if number in taken or number >= len(came):
                continue
            theirs = distinct[number]
            fewer, more = sorted((len(mine), len(theirs)))
            # The numbers of words are compared first: many short lines may begin like a very long
            # one.
            if 2 * fewer > more and 2 * len(mine & theirs) > more:
                taken.add(number)
                found.append(MovingLine(text, mine & theirs))
                break
    return found


def own_of(lines: Iterable[MovingLine], others: Iterable[Shown]) -> list[MovingLine]:
    """Return those of *lines*, or of a sample, of which no *other* page has most of the words."""
    own = dict(enumerate(islice(lines, _LOOKED_AT)))
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in own.items():
        for word in line.words:
            by_word[word].append(number)
    # Comparing all lines of two large tables would take seconds.
    for shown in others:
        for text in shown.texts.values():
            known = by_word.keys() & words_of(text)
            common = Counter(number for word in known for number in by_word[word])
            for number, count in common.items():
                if number in own and 2 * count > len(own[number].words):
                    del own[number]
    return [*own.values()]


def words_of(text: str) -> list[str]:
    """Return the words of a line in lower case."""
    return _WORD.findall(text.lower())


def _first_of(
    by_end: dict[tuple[int, str], deque[int]], words: Sequence[str], taken: set[int]
) -> Iterator[int]:
    """Yield the first line that begins like *words*, and the first that ends like them."""
    for end in (0, -1) if words else ():
        numbers = by_end.get((end, words[end]))
        while numbers and numbers[0] in taken:
            numbers.popleft()
        if numbers:
            yield numbers[0]
