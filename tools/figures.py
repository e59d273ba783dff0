"""Writes measured figures into the docs: each comes from a file of results.

``benchmarks/results/*.json`` are what ``make bench`` and its like write. Tables are found by their
first line, figures in sentences by the words around them.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import cost_figures
import learning_figures
import order_figures
from tables import with_table

if TYPE_CHECKING:
    from pathlib import Path


def with_figures(text: str, words: str, figures: tuple[str, ...]) -> str:
    r"""Return *text* with *figures* in the sentence that has these *words*.

    >>> with_figures("It takes 4 s and\n2 MB.", "takes {} s and {} MB", ("5", "1.5"))
    'It takes 5 s and\n1.5 MB.'
    """
    pieces = [r"\s+".join(map(re.escape, piece.split(" "))) for piece in words.split("{}")]
    found = list(re.finditer(r"([\d.,]*\d)".join(f"({piece})" for piece in pieces), text))
    assert len(found) == 1, f"{len(found)} sentences: {words}"  # noqa: S101
    (match,) = found
    parts = list(match.groups())
    parts[1::2] = figures
    return text[: match.start()] + "".join(parts) + text[match.end() :]


def pages() -> dict[Path, str]:
    """Return the text of each page with its present figures."""
    texts: dict[Path, str] = {}
    for path, head, rows in chain.from_iterable(
        page.tables() for page in (cost_figures, learning_figures, order_figures)
    ):
        texts[path] = with_table(texts.get(path) or read(path), head, rows)
    for path, words, figures in chain(cost_figures.sentences(), learning_figures.sentences()):
        texts[path] = with_figures(texts.get(path) or read(path), words, figures)
    return texts


def read(path: Path) -> str:
    """Return the page at *path*."""
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(page)
