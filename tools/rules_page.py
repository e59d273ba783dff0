"""Writes ``docs/rules.md``, the page of the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.rules import ALWAYS_ON, CATALOGUE
from scrapy_urlcanon.canonicalizer.rules.documentation import arrow, code, rule_page, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.rules import Catalogue, Classical, Option

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"

SECTIONS = ("What it does", "Why it is safe", "When it is wrong")
"""How the paragraphs of an option's page begin."""

_INTRODUCTION = f"""\
# Rules

All options, with examples. `make docs` writes this page from the docstrings of the options, and
a test applies the examples.

Set an option for a host, a path or everywhere in `URLCANON_RULES`; until then it has the value of
the preset. `scrapy urlcanon explain URL` shows which options changed a URL, and which layer of
the configuration turned each of them on.

## Presets

- `scrapy` merges only what Scrapy's own fingerprint merges. All else is up to your rules.
- `{DEFAULT_PRESET}`, the default, also merges what we know of no site to tell apart: different
  spellings of one URL, and tracking parameters.
- `aggressive` also merges what is right on most sites and wrong on some: `http` and `https`,
  `www`, duplicate and trailing slashes, index files, session ids, empty parameters.

An empty cell is as in `{DEFAULT_PRESET}`.

"""


_FIELD = """\
The normalizations that the literature and other tools know, with the option for each and the value
that makes the example, in the order in which they apply here. The others are always on.

"""


def document(catalogue: Catalogue = CATALOGUE) -> str:
    """Return ``docs/rules.md``."""
    pages = "\n".join(map(rule_page, catalogue))
    for section in SECTIONS:
        pages = pages.replace(f"\n{section}:", f"\n**{section}:**")
    return (
        f"{_INTRODUCTION}{_overview(catalogue)}\n\n"
        f"## The normalizations of the field\n\n{_FIELD}{_classical(catalogue)}\n\n"
        f"## Always on\n\n{_always_on(catalogue)}\n\n"
        f"{pages}"
    )


def _overview(catalogue: Catalogue) -> str:
    """Return a table of all options, their value in each preset and what they do."""
    head = ("option", *(f"`{preset}`" for preset in catalogue.presets), "what it does")
    return _table(head, map(_row_of_overview, catalogue))


def _row_of_overview(option: type[Option]) -> tuple[str, ...]:
    values = option.in_presets()
    default = values[DEFAULT_PRESET]
    return (
        f"[`{option.name}`](#{option.name})",
        *(code(v) if p == DEFAULT_PRESET or v != default else "" for p, v in values.items()),
        title(option),
    )


def _always_on(catalogue: Catalogue) -> str:
    """Return a table of the normalizations that no option turns off, with the field's examples."""
    rows = (
        (
            f"`{n.name}`",
            title(n),
            "<br>".join(
                f"{row.normalization}: {_example_of(row, {}, catalogue)}" for row in n.classical
            ),
        )
        for n in ALWAYS_ON
    )
    return _table(("normalization", "what it does", "examples"), rows)


def _classical(catalogue: Catalogue) -> str:
    """Return a table of the normalizations that the field knows, with our option for each."""
    return _table(("normalization", "option", "value", "example"), _rows_of_classical(catalogue))


def _rows_of_classical(catalogue: Catalogue) -> Iterator[tuple[str, ...]]:
    for option in catalogue:
        for row in option.classical:
            example = _example_of(row, {option.name: row.value}, catalogue)
            link = f"[`{option.name}`](#{option.name})"
            yield row.normalization, link, code(row.value), example


def _example_of(row: Classical, options: Mapping[str, Any], catalogue: Catalogue) -> str:
    configuration = Configuration.load(
        DEFAULT_PRESET, [Source("example", {ANY_HOST: options})], catalogue=catalogue
    )
    canonical = Canonicalizer.from_configuration(configuration).canonicalize(row.url)
    # A control character would not be seen.
    url = f"`{row.url}`" if row.url.isprintable() else code(row.url)
    return url if canonical == row.url else arrow(url, f"`{canonical}`")


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(c.replace('|', chr(92) + '|') for c in line)} |" for line in lines
    )


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
    print(PAGE)
