"""How much of a page is new: the share of its words in lines that no page before had."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_urlcanon.pages.signature import hash64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.pages.signature import Line

_OTHER_NUMBERS: Final = 0.2
"""What a new line is worth that differs from an old one in its numbers alone."""
_CLOCK: Final = 32
"""A line that had so many other numbers is a clock, or a counter: more are worth nothing."""
_MAX_LINES: Final = 5000
_LITTLE: Final = 0.1
_LEAST_WORDS: Final = 30
_USUAL: Final = 300
"""What is usual is the mean of about so many pages."""


class News(NamedTuple):
    """What is new on a page."""

    words: int
    """How many words the page has."""
    new: int
    """How many of them stand in new lines."""
    worth: float
    """How many, where those in lines that are new by their numbers alone count less."""

    @property
    def share(self) -> float:
        """The share of the page that is new, from 0 to 1."""
        return self.worth / self.words if self.words else 0.0

    @property
    def is_much(self) -> bool:
        """Whether the page has news: a tenth of it is new, or so many words are."""
        return self.share >= _LITTLE or self.worth >= _LEAST_WORDS


class SeenLines:
    r"""Remembers the lines of all pages, in memory that does not grow.

    Each line has one place, by its hash, and whichever line comes there later takes it: what is
    forgotten is old.

    >>> from scrapy_urlcanon.pages.signature import lines_of
    >>> lines = lines_of(b"one two\npage 7")
    >>> seen = SeenLines(1000)
    >>> seen.news(lines), seen.news(lines).new, seen.news(lines_of(b"page 8"))
    (News(words=4, new=4, worth=4.0), 0, News(words=2, new=2, worth=0.4))

    :param places: how many lines it can remember, of 5 bytes each.
    """

    def __init__(self, places: int) -> None:
        self.places = array("I", bytes(4 * max(1, places)))
        self.counts = bytearray(len(self.places))
        """With how many other numbers the line at each place was seen, up to a bound."""

    def news(self, lines: Iterable[Line]) -> News:
        """Return what is new in *lines*, which are old from now on."""
        places = self.places
        size = len(places)
        words = new = 0
        worth = 0.0
        for number, line in enumerate(lines):
            if number >= _MAX_LINES:
                break
            length = line.words
            words += length
            tag, place = divmod(line.exact, size)
            tag = tag & 0xFFFFFFFF or 1
            if places[place] == tag:
                continue
            places[place] = tag
            self.counts[place] = 0
            new += length
            if line.masked != line.exact:
                tag, place = divmod(line.masked, size)
                tag = tag & 0xFFFFFFFF or 1
                if places[place] == tag:
                    if self.counts[place] < _CLOCK:
                        self.counts[place] += 1
                        worth += _OTHER_NUMBERS * length
                    continue
                places[place] = tag
                self.counts[place] = 0
            worth += length
        return News(words, new, worth)

    def news_of_bytes(self, body: bytes) -> News:
        """Return what is new of a page that has no text: half of it, if no other was the same."""
        size = len(self.places)
        tag, place = divmod(hash64(body), size)
        tag = tag & 0xFFFFFFFF or 1
        is_new = self.places[place] != tag
        self.places[place] = tag
        return News(1, 0, 0.5 if is_new else 0.0)


class UsualNews:
    """Says how much the news of a page are, measured by what is usual of late: from 0 to 1.

    A fetch costs the same whatever it brings, so that a long page with some old lines is worth more
    than a short one without; but not in proportion, or a few very long ones were all that counts.

    >>> usual = UsualNews()
    >>> usual.amount(News(100, 100, 100.0)), usual.amount(News(100, 0, 0.0))
    (0.5, 0.0)
    """

    def __init__(self) -> None:
        self.mean = 0.0
        self._count = 0

    def amount(self, news: News) -> float:
        """Return how much *news* are; a half is what is usual of pages with any."""
        if not news.worth:
            return 0.0
        self._count = min(self._count + 1, _USUAL)
        self.mean += (news.worth - self.mean) / self._count
        return news.worth / (news.worth + self.mean)
