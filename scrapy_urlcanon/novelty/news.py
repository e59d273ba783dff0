"""Measures how much of a page is new: its words in lines that no earlier page had."""

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
"""The usual number is a mean over about this many pages."""
_HALF: Final = 4.0
"""The multiple of the usual number that counts one half, of at most 1. If it is lower, pages with
three times the words of others count little more, and their kind is not tried again after a first
page without news."""
_LITTLE: Final = 0.1
"""Less than this share of the usual number is little, once that is known."""
_SOME: Final = 16


class News(NamedTuple):
    """What is new on a page."""

    words: int
    """How many words the page has."""
    new: int
    """How many of them are in new lines."""
    worth: float
    """How many, with words in lines that are new only by their numbers counted less."""
    lines: Sequence[int] = ()
    """The indices of the new lines that are not new only by their numbers."""
    own: Sequence[float] = ()
    """How many words of each of these lines count, if not all do: without those that it has in
    common with lines of other pages."""

    @property
    def share(self) -> float:
        """The share of the page that is new, from 0 to 1."""
        return self.worth / self.words if self.words else 0.0

    @property
    def is_some(self) -> bool:
        """Whether a tenth of the page or 30 words are new."""
        return self.share >= _SHARE_OF_PAGE or self.worth >= _LEAST_WORDS

    def without_common(
        self,
        own_shares: Callable[[Sequence[bytes]], list[float]],
        texts: Sequence[bytes],
        words: Sequence[int],
    ) -> News:
        """Return the news without words that its lines have in common with those of other pages.

        :param own_shares: returns for each line the share of words that no other line has.
        :param texts: the text of the lines of the page; further lines have no text.
        :param words: the number of words of each line.
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
        """Whether the page has no text, and no earlier page had the same bytes."""
        return not self.new and self.worth > 0


class SeenLines:
    r"""Remembers the lines of all pages, in constant memory.

    It is a hash table of which a later line overwrites an earlier one. A line that was overwritten
    counts as new again.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> lines = lines_of(b"one two\npage 7")
    >>> seen = SeenLines(1000)
    >>> seen.news(lines), seen.news(lines).new
    (News(words=4, new=4, worth=4.0, lines=[0, 1], own=()), 0)
    >>> seen.news(lines_of(b"page 8"))
    News(words=2, new=2, worth=0.4, lines=[], own=())

    :param places: how many lines it can remember, 5 bytes each.
    """

    def __init__(self, places: int) -> None:
        self.places = array("I", [0]) * max(1, places)
        self.counts = bytearray(len(self.places))
        """With how many other numbers the line in each slot was seen, up to a bound."""

    def news(self, lines: Lines) -> News:
        """Return what is new in *lines*, and remember them."""
        return News(*note_lines(self.places, self.counts, *lines.columns))

    def is_known(self, line: int) -> bool:
        """Tell whether a line with this hash was seen with these numbers."""
        place, tag = place_of(line, len(self.places))
        return self.places[place] == tag

    def news_of_bytes(self, body: bytes) -> News:
        """Return the news of a page without text: half of it is new if its bytes are."""
        place, tag = place_of(hash64(body), len(self.places))
        is_new = self.places[place] != tag
        self.places[place] = tag
        return News(1, 0, 0.5 if is_new else 0.0)


class Usual:
    """Scales a number of words to a share from 0 to 1, relative to what is usual of late.

    A fetch costs the same whatever it brings, so a long page with some old lines is worth more than
    a short new one; but not in proportion, or a few very long ones would decide everything.

    What is usual is a weighted mean of square roots. Numbers below it have a lower weight, so that
    a thousand pages of a trap with three new words each do not make three words usual. Large
    numbers are capped at the number that counts one half: beside an index of 38,000 words among the
    first pages all others would seem to have nearly nothing.

    >>> usual = Usual()
    >>> round([usual.amount(number) for number in [100.0] * 50][-1], 3), usual.amount(0.0)
    (0.2, 0.0)
    >>> [usual.amount(1.0) for _ in range(500)][-1] < 0.02
    True
    """

    __slots__ = ("mean", "weight")

    def __init__(self) -> None:
        self.mean = 0.0
        self.weight = 0.0

    def amount(self, number: float) -> float:
        """Return the share for *number*, at least 0, and count it; what is usual gives a fifth."""
        if not number:
            return 0.0
        weight = min(1.0, number / self.mean) if self.weight >= _SOME else 1.0
        self.weight = min(self.weight + weight, _USUAL)
        root = sqrt(self.mean)
        counted = min(number, _HALF * self.mean) if self.mean else number
        self.mean = (root + (sqrt(counted) - root) * weight / self.weight) ** 2
        return number / (number + _HALF * self.mean)

    def is_little(self, number: float) -> bool:
        """Tell whether *number* is little compared with what is usual."""
        return self.weight >= _SOME and number < _LITTLE * self.mean

    def may_be_little(self, number: float) -> bool:
        """Tell whether *number* would be little if all of its lines had parts in common."""
        return self.is_little(LEAST * number)

    def is_much(self, news: News) -> bool:
        """Tell whether a page has news: a tenth of it, or 30 words.

        If that is little, both half of the page and 30 words must be new: a form that repeats what
        it was asked for, in its title and a sentence or two, has no news.
        """
        if self.is_little(news.worth):
            return news.share >= _MOST_OF_PAGE and news.worth >= _LEAST_WORDS
        return news.is_some
