"""The catalogue as text: one page for each rule, from its class alone."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import ALWAYS_ON, CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.rules import Example, Normalization, Rule, TextNormalization


def title(rule: type[Rule] | Normalization | TextNormalization) -> str:
    """Return what *rule* does, in one sentence without a full stop.

    >>> from scrapy_urlcanon.canonicalizer.rules import BY_NAME
    >>> title(BY_NAME["sort_query"])
    'Sort the parameters'
    """
    return cleandoc(rule.__doc__ or "").partition("\n")[0].removesuffix(".")


def rule_page(rule: type[Rule]) -> str:
    """Return the page of one option, in Markdown."""
    return "\n".join(_rule_page(rule))


def overview() -> str:
    """Return a table of all options, their default in each preset and what they do."""
    return "\n".join(_overview())


def _overview() -> Iterator[str]:
    presets = list(PRESETS)
    yield f"| option | {' | '.join(f'`{preset}`' for preset in presets)} | what it does |"
    yield "| --- " * (len(presets) + 2) + "|"
    for rule in CATALOGUE:
        values = " | ".join(f"`{PRESETS[preset][rule.name]!r}`" for preset in presets)
        yield f"| [`{rule.name}`](#{rule.name}) | {values} | {title(rule)} |"


def _rule_page(rule: type[Rule]) -> Iterator[str]:
    yield f"## {rule.name}"
    yield ""
    yield cleandoc(rule.__doc__ or "")
    yield ""
    yield f"Values: {rule.values}."
    yield ""
    defaults = (f"`{values[rule.name]!r}` in `{preset}`" for preset, values in PRESETS.items())
    yield f"Default: {', '.join(defaults)}."
    yield ""
    yield "It changes"
    yield ""
    yield from map(_example, rule.changes)
    yield ""
    yield "It leaves alone"
    yield ""
    yield from map(_example, rule.keeps)
    yield ""


def _example(example: Example) -> str:
    arrow = f" → `{example.canonical}`" if example.canonical != example.url else ""
    return f"- `{example.value!r}`: `{example.url}`{arrow}"


def always_on() -> str:
    """Return a table of the normalizations that no option turns off."""
    return "\n".join(_always_on())


def _always_on() -> Iterator[str]:
    yield "| normalization | what it does | example |"
    yield "| --- | --- | --- |"
    for normalization in ALWAYS_ON:
        before, after = normalization.changes[0]
        yield f"| `{normalization.name}` | {title(normalization)} | `{before!r}` → `{after}` |"
