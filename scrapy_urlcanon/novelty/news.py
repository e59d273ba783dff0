"""How much of a page is new: the share of its words in lines that no page before had."""

from __future__ import annotations

from array import array
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_urlcanon.novelty.frames import LEAST
from scrapy_urlcanon.novelty.inner_loops import note_lines
from scrapy_urlcanon.novelty.inner_loops.in_python import place_of
from scrapy_urlcanon.pages.signature import hash64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_urlcanon.pages.signature import Lines

_SHARE_OF_PAGE, _MOST_OF_PAGE = 0.1, 0.5
_LEAST_WORDS: Final = 30
_USUAL: Final = 300
"""What is usual is made of about so many numbers."""
_HALF: Final = 4.0
"""So many times what is usual is half of the most. With less, pages with three times the words of
others were worth little more than these, and were not asked for again where the first of them
brought nothing."""
_LITTLE: Final = 0.1
"""Less than this share of what is usual is little, once some numbers say what that is."""
_SOME: Final = 16


class News(NamedTuple):
    """What is new on a page."""

    words: int
    """How many words the page has."""
    new: int
    """How many of them stand in new lines."""
    worth: float
    """How many, where those in lines that are new by their numbers alone count less."""
    lines: Sequence[int] = ()
    """The numbers of the lines that are new, and not by their numbers alone."""
    own: Sequence[float] = ()
    """How many words count of each of these, where some do not: what it has in common with lines of
    other pages. Else all do."""

    @property
    def share(self) -> float:
        """The share of the page that is new, from 0 to 1."""
        return self.worth / self.words if self.words else 0.0

    @property
    def is_some(self) -> bool:
        """Whether it is enough to be news: a tenth of the page, or 30 words."""
        return self.share >= _SHARE_OF_PAGE or self.worth >= _LEAST_WORDS

    def without_common(
        self,
        own_shares: Callable[[Sequence[bytes]], list[float]],
        texts: Sequence[bytes],
        words: Sequence[int],
    ) -> News:
        """Return these without the words that lines have in common with those of other pages.

        :param own_shares: returns the share of its words that each line has for itself.
        :param texts: all lines of the page; those past the last one are no text.
        :param words: how many words each has.
        """
        before = self.own or [words[line] for line in self.lines]
        found = [line for line in self.lines if line < len(texts)]
        shares = dict(zip(found, own_shares([texts[line] for line in found]), strict=True))
        own = [
            min(left, words[line] * shares.get(line, 1.0))
            for line, left in zip(self.lines, before, strict=True)
        ]
        return self._replace(worth=self.worth - sum(before) + sum(own), own=own)

    @property
    def is_unread(self) -> bool:
        """Whether it has no text, and no other had its bytes: nobody knows what is in it."""
        return not self.new and self.worth > 0


class SeenLines:
    r"""Remembers the lines of all pages, in memory that does not grow.

    Each line has one place, by its hash, and whichever line comes there later takes it: what is
    forgotten is old.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> lines = lines_of(b"one two\npage 7")
    >>> seen = SeenLines(1000)
    >>> seen.news(lines), seen.news(lines).new
    (News(words=4, new=4, worth=4.0, lines=[0, 1], own=()), 0)
    >>> seen.news(lines_of(b"page 8"))
    News(words=2, new=2, worth=0.4, lines=[], own=())

    :param places: how many lines it can remember, of 5 bytes each.
    """

    def __init__(self, places: int) -> None:
        self.places = array("I", [0]) * max(1, places)
        self.counts = bytearray(len(self.places))
        """With how many other numbers the line at each place was seen, up to a bound."""

    def news(self, lines: Lines) -> News:
        """Return what is new in *lines*, which are old from now on."""
        return News(*note_lines(self.places, self.counts, *lines.columns))

    def is_known(self, line: int) -> bool:
        """Tell whether a line of this hash was seen, with these numbers."""
        place, tag = place_of(line, len(self.places))
        return self.places[place] == tag

    def news_of_bytes(self, body: bytes) -> News:
        """Return what is new of a page that has no text: half of it, if no other was the same."""
        place, tag = place_of(hash64(body), len(self.places))
        is_new = self.places[place] != tag
        self.places[place] = tag
        return News(1, 0, 0.5 if is_new else 0.0)


class Usual:
    """Says how much a number is, measured by what is usual of late: from 0 to 1.

    A fetch costs the same whatever it brings, so that a long page with some old lines is worth more
    than a short one without; but not in proportion, or a few very long ones were all that counts.

    Numbers below it count in it the less, the smaller they are: a thousand pages with three new
    words each, as those of a trap have, do not make three words usual. All count by their roots,
    and none as more than what is half of the most: beside an index of 38,000 words, which a
    reference has among its first pages, all others would look as if they said next to nothing.

    >>> usual = Usual()
    >>> round([usual.amount(number) for number in [100.0] * 50][-1], 3), usual.amount(0.0)
    (0.2, 0.0)
    >>> [usual.amount(1.0) for _ in range(500)][-1] < 0.02
    True
    """

    def __init__(self) -> None:
        self.mean = 0.0
        self.weight = 0.0

    def amount(self, number: float) -> float:
        """Return how much *number* is, which is 0 or more; a fifth is what is usual."""
        if not number:
            return 0.0
        weight = min(1.0, number / self.mean) if self.weight >= _SOME else 1.0
        self.weight = min(self.weight + weight, _USUAL)
        root = sqrt(self.mean)
        counted = min(number, _HALF * self.mean) if self.mean else number
        self.mean = (root + (sqrt(counted) - root) * weight / self.weight) ** 2
        return number / (number + _HALF * self.mean)

    def is_little(self, number: float) -> bool:
        """Return whether *number* is little, by what is usual."""
        return self.weight >= _SOME and number < _LITTLE * self.mean

    def may_be_little(self, number: float) -> bool:
        """Return whether the least that *number* may come down to is little.

        That is where all of it is of lines that others have in common with it.
        """
        return self.is_little(LEAST * number)

    def is_much(self, news: News) -> bool:
        """Return whether a page has news: a tenth of it, or 30 words.

        Where that is little, both half of the page and 30 words have to be new: a form that repeats
        what it was asked for, in its title and in a sentence or two, has no news.
        """
        if self.is_little(news.worth):
            return news.share >= _MOST_OF_PAGE and news.worth >= _LEAST_WORDS
        return news.is_some
