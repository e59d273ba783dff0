"""Finds the text in the fields of forms, which counts less than other text of a page."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.reading import page_of, tree_of
from scrapy_urlcanon.novelty.inner_loops.in_python import MAX_LINES, OTHER_NUMBERS
from scrapy_urlcanon.pages.page import Page
from scrapy_urlcanon.pages.signature import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.http import Response

    from scrapy_urlcanon.novelty.news import News

_APART: Final = 0x9E3779B97F4A7C15
"""A line in a field gets another hash than the line itself: the hash with these bits flipped."""
_WORTH: Final = OTHER_NUMBERS
"""What a new line in a field is worth, as a share of another line."""
_MOST_ENDS: Final = 32


class Fields:
    """The lines of a page that stand in text areas.

    A form to edit an article contains its whole text. If that counted as text of the page, such
    forms would be worth as much as articles, and an article would bring nothing new once its form
    was fetched. So a line in a field is worth a fifth, the first time it is seen, and the article
    still counts as new afterwards. In a form that is fetched after its article, nothing is new.
    """

    def __init__(self, response: Response) -> None:
        self._hashes: dict[int, int] = {}
        body = response.body
        # Most pages have none, and this check is fast.
        if b"</textarea" not in body and b"</TEXTAREA" not in body:
            return
        document = tree_of(response)
        fields = [] if document is None else [*document.iter("textarea")]
        if fields:
            said = "\n".join("".join(field.itertext()) for field in fields)
            self._find(page_of(response), Page("", b"", f"<textarea>{escape(said)}</textarea>"))

    def _find(self, page: Page, said: Page) -> None:
        """Find the lines of *page* that are the text *said* in fields, with their hashes."""
        inside = said.lower.split(b"\n")
        hashes = dict(zip(inside, said.lines.columns[1], strict=False))
        # A short field may stand in one line with its label.
        ends = [line for line in hashes if line][:_MOST_ENDS]
        lines = page.lower.split(b"\n")
        # A line that the page also shows outside of fields counts as shown.
        beside = Counter(lines)
        shown = {*lines}
        beside.subtract(inside)
        for number, line in enumerate(lines[:MAX_LINES]):
            if line in hashes and beside[line] <= 0:
                self._hashes[number] = hashes[line]
            elif line not in hashes:
                for end in ends:
                    if len(end) < len(line) < 2 * len(end) and end in line and end not in shown:
                        self._hashes[number] = hashes[end]

    def apart(self, lines: Lines, is_known: Callable[[int], bool]) -> Lines:
        """Return *lines*, those of the page, with new lines in fields under other hashes.

        :param is_known: tells whether a line with this hash was seen before.
        """
        if not self._hashes:
            return lines
        masked, exact, words = ([*column] for column in lines.columns)
        for number, line in self._hashes.items():
            masked[number] = exact[number] = line if is_known(line) else line ^ _APART
        return Lines(masked, exact, words)

    def weighed(self, news: News, words: Sequence[int]) -> News:
        """Return *news* with less weight for lines in fields.

        :param words: the number of words in each line of the page.
        """
        if not self._hashes:
            return news
        every = [words[line] for line in news.lines]
        own = [
            count * (_WORTH if line in self._hashes else 1.0)
            for line, count in zip(news.lines, every, strict=True)
        ]
        return news._replace(worth=news.worth - sum(every) + sum(own), own=own)
