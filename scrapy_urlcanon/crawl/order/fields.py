"""What stands in the fields of forms: it is there to be changed, and other pages are to show it."""

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
"""A line in a field has another hash than the line itself, by these bits."""
_WORTH: Final = OTHER_NUMBERS
"""What a new line in a field is worth."""
_MOST_ENDS: Final = 32


class Fields:
    """The lines of a page that stand in its fields, if any do.

    A form to edit an article has all of its text. If that counted as the text of a page, forms
    would be as good as articles, and an article without news once its form was fetched. So it is
    worth a fifth, once, and the article is new all the same; after the article its form is not.
    """

    def __init__(self, response: Response) -> None:
        self._hashes: dict[int, int] = {}
        body = response.body
        # Of most pages there is no more to ask.
        if b"</textarea" not in body and b"</TEXTAREA" not in body:
            return
        document = tree_of(response)
        fields = [] if document is None else [*document.iter("textarea")]
        if fields:
            said = "\n".join("".join(field.itertext()) for field in fields)
            self._find(page_of(response), Page("", b"", f"<textarea>{escape(said)}</textarea>"))

    def _find(self, page: Page, said: Page) -> None:
        """Find the lines of *page* that are those which are *said* in fields, and their hashes."""
        inside = said.lower.split(b"\n")
        hashes = dict(zip(inside, said.lines.columns[1], strict=False))
        # A field stands in a line with its label.
        ends = [line for line in hashes if line][:_MOST_ENDS]
        lines = page.lower.split(b"\n")
        # What the page says beside that too is no more than what it says.
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
        """Return *lines* of the page with other hashes for those in fields, if they are new.

        :param is_known: tells whether a line of this hash was seen.
        """
        if not self._hashes:
            return lines
        masked, exact, words = ([*column] for column in lines.columns)
        for number, line in self._hashes.items():
            masked[number] = exact[number] = line if is_known(line) else line ^ _APART
        return Lines(masked, exact, words)

    def weighed(self, news: News, words: Sequence[int]) -> News:
        """Return *news* where the lines in fields count less.

        :param words: how many words each line of the page has.
        """
        if not self._hashes:
            return news
        every = [words[line] for line in news.lines]
        own = [
            count * (_WORTH if line in self._hashes else 1.0)
            for line, count in zip(news.lines, every, strict=True)
        ]
        return news._replace(worth=news.worth - sum(every) + sum(own), own=own)
