"""Writes tables and a diagram into ``docs/`` from the code: settings, stats, the life of a page."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.recovery.page_states import DROPPED, TRANSITIONS, Event, State
from scrapy_urlcanon.crawl.settings import CrawlSettings, attributes, name_of
from scrapy_urlcanon.crawl.stats import PREFIX, Stat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCS = Path(__file__).parents[1] / "docs"
SETTINGS = DOCS / "configuration.md", ("setting", "default", "meaning")
STATS = DOCS / "stats.md", ("stat", "meaning")
LIFE = (
    DOCS / "how-nothing-is-lost.md",
    ("what the callback knows of the page", "a variant is dropped"),
)
DIAGRAM = re.compile("```mermaid\nstateDiagram.*?```\n", re.DOTALL)


def pages() -> dict[Path, str]:
    """Return the text of each page with its present tables."""
    tables = {SETTINGS: settings(), STATS: stats(), LIFE: fates()}
    texts = {
        path: with_table(path.read_text(encoding="utf-8"), head, rows)
        for (path, head), rows in tables.items()
    }
    path, _ = LIFE
    texts[path] = DIAGRAM.sub(lambda _: diagram(), texts[path])
    return texts


def settings() -> Iterator[tuple[str, ...]]:
    """Yield name, default and meaning of each setting."""
    meanings = docstrings(CrawlSettings)
    for attribute in attributes():
        default = as_python(attribute.default)
        yield f"`{name_of(attribute.name)}`", default, meanings[attribute.name]


def stats() -> Iterator[tuple[str, ...]]:
    """Yield name and meaning of each stat."""
    meanings = docstrings(Stat)
    for stat in Stat:
        yield f"`{PREFIX}{stat.value}`", meanings[stat.name]


def fates() -> Iterator[tuple[str, ...]]:
    """Yield what is done with a dropped variant in each state of its page."""
    meanings = docstrings(State)
    for state, fate in DROPPED.items():
        yield f"{state.name}: {meanings[state.name]}", f"it is {fate.value}"


def diagram() -> str:
    """Return the states and events of a page as a Mermaid diagram."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> UNKNOWN"]
    for state, row in TRANSITIONS.items():
        by_target: dict[State, list[Event]] = {}
        for event, target in row.items():
            by_target.setdefault(target, []).append(event)
        for target, events in by_target.items():
            names = ", ".join(event.value for event in events)
            lines.append(f"    {state.name} --> {target.name}: {names}")
    return "\n".join([*lines, "```\n"])


def docstrings(kind: type) -> dict[str, str]:
    """Return the docstrings below the attributes of *kind*, as cells of a table."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101
    found = {}
    for statement, after in pairwise(definition.body):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(after, ast.Expr):
            name = ast.unparse(statement).partition(" ")[0].rstrip(":")
            text = " ".join(ast.literal_eval(after.value).split()).removesuffix(".")
            # A word in capitals is no word with a capital.
            found[name] = text if text[1].isupper() else text[0].lower() + text[1:]
    return found


def as_python(value: object) -> str:
    """Return *value* as it is written in a settings file."""
    if isinstance(value, str):
        return f'`"{value}"`'
    if value is None:
        return "none"
    if value == ():
        return "`[]`"
    return f"`{value:_}`" if type(value) is int else f"`{value!r}`"


def with_table(text: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return the page *text* with the table that begins with *head* made of *rows*.

    The line between them, which says how columns are aligned, stays as it is.
    """
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    cells = [f" {re.escape(cell)} " if cell else " " for cell in head]
    between = r"\|"
    pattern = rf"(\|{between.join(cells)}\|\n\|[ :|-]+\|\n)(?:\|.*\n)*"
    text, count = re.subn(pattern, lambda match: match[1] + table, text)
    assert count == 1, f"{count} tables {head}"  # noqa: S101
    return text


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
        print(page)
