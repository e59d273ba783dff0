"""Lines of which a part is another at each visit, and what the rest of them says of two pages.

Line by line all of such a line is noise: it never comes again. But most of its words may, as where
an advertisement stands within a paragraph, or a number of visits in each row of a table.
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
"""Of so many such lines of a page each is looked for among all lines of the other one."""


class MovingLine(NamedTuple):
    """A line that is another in part at each visit."""

    text: str
    """As it was at the first of them."""
    words: frozenset[str]
    """Those of it that stay, which are most."""

    @property
    def key(self) -> LineKey:
        """What stays of it, as lines are compared."""
        hashed = hash64(" ".join(sorted(self.words)).encode("utf-8", "surrogatepass"))
        return key_of(hashed, hashed)


class MovingLines(NamedTuple):
    """The moving lines that two pages have each of its own."""

    of_variant: list[MovingLine]
    of_kept: list[MovingLine]

    def is_most(self, shared: Iterable[str]) -> bool:
        """Tell whether each page has more of its own in these than both have in *shared* lines."""
        both = sum(len(set(words_of(text))) for text in shared)
        return all(sum(len(line.words) for line in lines) > both for lines in self)


def moving_lines(one: Shown, other: Shown) -> list[MovingLine]:
    """Return the lines that are others in part at two visits of one URL, most of which stays.

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
    # Most of them begin or end as they did, or are the same in number: all with all takes too long.
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
            # Words are compared only where there are enough: many may begin as a very long one.
            if 2 * fewer > more and 2 * len(mine & theirs) > more:
                taken.add(number)
                found.append(MovingLine(text, mine & theirs))
                break
    return found


def own_of(lines: Iterable[MovingLine], others: Iterable[Shown]) -> list[MovingLine]:
    """Return those of *lines*, some of them, that none of the *others* has in most of its words."""
    own = dict(enumerate(islice(lines, _LOOKED_AT)))
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in own.items():
        for word in line.words:
            by_word[word].append(number)
    # Each line of a large table with each of the other one would take seconds.
    for shown in others:
        for text in shown.texts.values():
            known = by_word.keys() & words_of(text)
            common = Counter(number for word in known for number in by_word[word])
            for number, count in common.items():
                if number in own and 2 * count > len(own[number].words):
                    del own[number]
    return [*own.values()]


def words_of(text: str) -> list[str]:
    """Return the words of a line, in lower case."""
    return _WORD.findall(text.lower())


def _first_of(
    by_end: dict[tuple[int, str], deque[int]], words: Sequence[str], taken: set[int]
) -> Iterator[int]:
    """Yield the first line that begins as *words* do, and the first that ends so."""
    for end in (0, -1) if words else ():
        numbers = by_end.get((end, words[end]))
        while numbers and numbers[0] in taken:
            numbers.popleft()
        if numbers:
            yield numbers[0]
