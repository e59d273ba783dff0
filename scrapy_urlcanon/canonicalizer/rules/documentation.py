"""The catalogue as text: one page for each option, from its class alone."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET, PRESETS
from scrapy_urlcanon.canonicalizer.rules import ALWAYS_ON, BY_NAME, CATALOGUE
from scrapy_urlcanon.canonicalizer.rules.classical import CLASSICAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.rules import (
        Example,
        Normalization,
        Option,
        TextNormalization,
    )
    from scrapy_urlcanon.canonicalizer.rules.classical import Classical

SECTIONS = ("What it does", "Why it is safe", "When it is wrong")
"""How the paragraphs of a page begin."""

_INTRODUCTION = f"""\
# Rules

Every option of the catalogue, from its own docstring and examples. A test applies the
examples and fails when this page is stale; `make docs` writes it.

An option is set for a host, a path or everywhere in `URLCANON_RULES`; the preset says what
it is until then. `scrapy urlcanon explain URL` shows which of them changed a URL, and which
layer of the configuration turned it on.

## Presets

- `scrapy` merges what Scrapy's own fingerprint merges and nothing more, until a rule of
  yours says so.
- `{DEFAULT_PRESET}`, the default, merges beyond that what is wrong nowhere that we know of: other
  spellings of the same URL, and tracking parameters.
- `aggressive` merges beyond that what is right on most sites and wrong on some: `http` and
  `https`, `www`, duplicate and trailing slashes, index files, session ids, empty parameters.

"""


def title(option: type[Option] | Normalization | TextNormalization) -> str:
    """Return what *option* does, in one sentence without a full stop.

    >>> from scrapy_urlcanon.canonicalizer.rules import BY_NAME
    >>> title(BY_NAME["sort_query"])
    'Sort the parameters'
    """
    return cleandoc(option.__doc__ or "").partition("\n")[0].removesuffix(".")


def title_of(name: str) -> str:
    """Return what the option or normalization *name* does, as plain text, or "" for other names.

    >>> title_of("case")
    'The scheme and the host in lower case (RFC 3986, 6.2.2.1)'
    """
    known = {**BY_NAME, **{normalization.name: normalization for normalization in ALWAYS_ON}}
    return title(known[name]).replace("``", "") if name in known else ""


def rule_page(option: type[Option]) -> str:
    """Return the page of one option, in Markdown."""
    return "\n".join(_rule_page(option))


def overview() -> str:
    """Return a table of all options, their default in each preset and what they do."""
    presets = list(PRESETS)
    rows = (
        (
            f"[`{option.name}`](#{option.name})",
            *(_code(PRESETS[preset][option.name]) for preset in presets),
            title(option),
        )
        for option in CATALOGUE
    )
    return _table(("option", *(f"`{preset}`" for preset in presets), "what it does"), rows)


def always_on() -> str:
    """Return a table of the normalizations that no option turns off."""
    rows = (
        (f"`{n.name}`", title(n), _arrow(_code(n.changes[0][0]), f"`{n.changes[0][1]}`"))
        for n in ALWAYS_ON
    )
    return _table(("normalization", "what it does", "example"), rows)


def classical() -> str:
    """Return a table of the normalizations that the field knows, with our option for each."""
    rows = ((row.normalization, *_ours(row), _classical_example(row)) for row in CLASSICAL)
    return _table(("normalization", "option", f"default in `{DEFAULT_PRESET}`", "example"), rows)


def document() -> str:
    """Return ``docs/rules.md``."""
    pages = "\n".join(map(rule_page, CATALOGUE))
    for section in SECTIONS:
        pages = pages.replace(f"\n{section}:", f"\n**{section}:**")
    return (
        f"{_INTRODUCTION}{overview()}\n\n"
        f"## The normalizations of the field\n\n{classical()}\n\n"
        f"## Always on\n\n{always_on()}\n\n"
        f"{pages}"
    )


def _rule_page(option: type[Option]) -> Iterator[str]:
    yield f"## {option.name}"
    yield ""
    yield cleandoc(option.__doc__ or "")
    yield ""
    yield f"Values: {option.values}."
    yield ""
    defaults = (f"`{values[option.name]!r}` in `{preset}`" for preset, values in PRESETS.items())
    yield f"Default: {', '.join(defaults)}."
    yield ""
    yield option.acts
    yield ""
    yield from map(_example, option.changes)
    yield ""
    yield "It leaves alone"
    yield ""
    yield from map(_example, option.keeps)
    yield ""


def _example(example: Example) -> str:
    arrow = f" → `{example.canonical}`" if example.canonical != example.url else ""
    return f"- `{example.value!r}`: `{example.url}`{arrow}"


def _ours(row: Classical) -> tuple[str, str]:
    if row.name in BY_NAME:
        return f"[`{row.name}`](#{row.name})", _code(PRESETS[DEFAULT_PRESET][row.name])
    return f"`{row.name}`", "always on"


def _classical_example(row: Classical) -> str:
    options = {} if row.value is None else {row.name: row.value}
    canonical = Canonicalizer({"*": options}).canonicalize(row.url)
    # A control character would not be seen.
    url = f"`{row.url}`" if row.url.isprintable() else _code(row.url)
    example = url if canonical == row.url else _arrow(url, f"`{canonical}`")
    return f"{_code(row.value)}: {example}" if options else example


def _code(value: object) -> str:
    return f"`{value!r}`"


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(c.replace('|', chr(92) + '|') for c in line)} |" for line in lines
    )
