"""Prints at the terminal, without interpreting text from web sites as markup or controls."""

from __future__ import annotations

import os
from errno import EPIPE
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.report.url_difference import Side, difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from typing_extensions import Self

    Cell = str | tuple[str, str] | Text

_STYLES = {Side.BOTH: "", Side.FIRST: "red strike", Side.SECOND: "green underline"}
_BRACKETS = {Side.BOTH: ("", ""), Side.FIRST: ("[-", "-]"), Side.SECOND: ("{+", "+}")}
_UNLIMITED = 10_000
"""The width of a pipe or a file."""
_UNKNOWN = 80
"""The width of a terminal that does not report its own."""


class _ConsoleOfCommand(Console):
    """A console that lets the command end if the reader of a pipe goes away."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(EPIPE, os.strerror(EPIPE))


def console_of_process(*, stderr: bool) -> Console:
    """Return a console for the current standard output, or standard error."""
    console = _ConsoleOfCommand(stderr=stderr, highlight=False)
    if not console.width:
        # If COLUMNS is 0, as in some containers, rich would print nothing at all.
        console.width = _UNKNOWN
    return console


def marked(first: str, second: str, *, colour: bool) -> Text:
    """Return both URLs in one, with the parts marked that only one of them has.

    >>> print(marked("http://example.com/a?x=1", "http://example.com/b", colour=False))
    http://example.com/[-a?x=1-]{+b+}

    :param colour: whether to mark by styles, instead of brackets as in ``git diff --word-diff``.
    """
    text = Text(overflow="fold")
    for piece in difference(visible(first), visible(second)):
        if colour:
            text.append(piece.text, _STYLES[piece.side])
        else:
            text.append(piece.text.join(_BRACKETS[piece.side]))
    return text


class Screen:
    """Prints lines and tables without markup. A cell is a text, or a text and its style.

    Lines are wrapped at the width of a terminal, and never in a pipe or a file.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    @classmethod
    def of_process(cls, *, stderr: bool = False) -> Self:
        """Return a screen on the current standard output, or standard error."""
        return cls(console_of_process(stderr=stderr))

    @property
    def has_colour(self) -> bool:
        """Whether styles are visible."""
        return self._console.color_system is not None

    def heading(self, text: str) -> None:
        """Print the heading of a part."""
        self._print(Padding(Text(text, "bold cyan"), (1, 0, 0, 0), expand=False))

    def line(self, *pieces: Cell, indent: int = 0) -> None:
        """Print *pieces* one after the other, or an empty line."""
        line = Text(overflow="fold").join(map(_text, pieces))
        if indent:
            self._print(Padding(line, (0, 0, 0, indent), expand=False))
        else:
            # Wrapped by the terminal, which copies it as one line.
            self._console.print(line, soft_wrap=True)

    def table(self, rows: Iterable[Sequence[Cell]], *, numbers: int = 1, indent: int = 0) -> None:
        """Print *rows* of the same length, the first *numbers* columns aligned to the right."""
        table = Table.grid(padding=(0, 2, 0, 0))
        for row in rows:
            while len(table.columns) < len(row):
                is_number = len(table.columns) < numbers
                table.add_column(justify="right" if is_number else "left", overflow="fold")
            table.add_row(*map(_text, row))
        # Only if needed: Padding underestimates the width of an empty column.
        self._print(Padding(table, (0, 0, 0, indent), expand=False) if indent else table)

    def bar(self, length: float) -> str:
        """Return a bar of *length* characters, with at least a thin line if *length* is not 0."""
        # In a file on Windows block characters would be written as escapes of six characters.
        whole, least = ("#", "|") if self._console.options.ascii_only else ("█", "▏")
        return whole * round(length) or (least if length else "")

    def marked(self, first: str, second: str) -> Text:
        """Return both URLs in one, as :func:`marked`."""
        return marked(first, second, colour=self.has_colour)

    def _print(self, part: RenderableType) -> None:
        if self._console.is_terminal:
            self._console.print(part)
            return
        options = self._console.options.update(width=_UNLIMITED)
        for line in self._console.render_lines(part, options, pad=False):
            text = "".join(segment.text for segment in line).rstrip()
            self._console.print(Text(text), soft_wrap=True)


def _text(cell: Cell) -> Text:
    if isinstance(cell, Text):
        return cell
    text, style = (cell, "") if isinstance(cell, str) else cell
    return Text(visible(text), style, overflow="fold")
