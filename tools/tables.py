"""Writes the tables of settings and stats into ``docs/configuration.md`` and ``docs/stats.md``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.settings import attributes, name_of
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[1] / "docs"


def pages() -> dict[Path, str]:
    """Return the text of each page as it is to be."""
    return {
        DOCS / "configuration.md": with_table(
            DOCS / "configuration.md", ("setting", "default", "meaning"), settings()
        ),
        DOCS / "stats.md": with_table(DOCS / "stats.md", ("stat", "meaning"), stats()),
    }


def settings() -> Iterator[tuple[str, ...]]:
    """Yield name, default and meaning of each setting."""
    for attribute in attributes():
        shown = attribute.metadata["shown"] or f"`{as_python(attribute.default)}`"
        yield f"`{name_of(attribute.name)}`", shown, attribute.metadata["meaning"]


def stats() -> Iterator[tuple[str, ...]]:
    """Yield name and meaning of each stat."""
    for stat in Stat:
        yield f"`urlcanon/{stat.template}`", stat.meaning


def as_python(value: object) -> str:
    """Return *value* as a settings file has it."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:_}" if type(value) is int else repr(value)


def with_table(path: Path, head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """Return the page at *path* with the table that begins with *head* made of *rows*."""
    first = f"| {' | '.join(head)} |\n|{' --- |' * len(head)}\n"
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    pattern = re.escape(first) + r"(\|.*\n)*"
    text, count = re.subn(pattern, lambda _: first + table, path.read_text(encoding="utf-8"))
    assert count == 1, f"{path} has {count} tables {head}"  # noqa: S101
    return text


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(page)
