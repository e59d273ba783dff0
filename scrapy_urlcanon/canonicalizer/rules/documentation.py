"""The catalogue as text: one page for each option, from its class alone."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.canonicalizer.rules import ALWAYS_ON, BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.rules import AlwaysOn, Example, Option


def title(option: type[Option] | AlwaysOn) -> str:
    """Return what *option* does, in one sentence without a full stop.

    >>> from scrapy_urlcanon.canonicalizer.rules import BY_NAME
    >>> title(BY_NAME["sort_query"])
    'Sort the parameters'
    """
    return cleandoc(option.__doc__ or "").partition("\n")[0].removesuffix(".")


def title_of(name: str) -> str:
    """Return what the option or normalization *name* does, as plain text, or "" for other names.

    >>> title_of("case")
    'Write the scheme and the host in lower case (RFC 3986, 6.2.2.1)'
    """
    known = {**BY_NAME, **{normalization.name: normalization for normalization in ALWAYS_ON}}
    return title(known[name]).replace("``", "") if name in known else ""


def rule_page(option: type[Option]) -> str:
    """Return the page of one option, in Markdown."""
    return "\n".join(_rule_page(option))


def normalization_page(normalization: AlwaysOn) -> str:
    """Return the page of a normalization that is always on, in Markdown."""
    lines = [f"## {normalization.name}", "", cleandoc(normalization.__doc__ or ""), ""]
    lines += ["Always on: there is no option for it. It changes", ""]
    lines += [f"- {arrow(code(before), f'`{after}`')}" for before, after in normalization.changes]
    if normalization.keeps:
        lines += ["", "It leaves alone", "", *(f"- {code(url)}" for url in normalization.keeps)]
    return "\n".join([*lines, ""])


def _rule_page(option: type[Option]) -> Iterator[str]:
    yield f"## {option.name}"
    yield ""
    yield cleandoc(option.__doc__ or "")
    yield ""
    values = option.in_presets()
    default = values[DEFAULT_PRESET]
    others = (f", {code(v)} in `{preset}`" for preset, v in values.items() if v != default)
    yield f"Values: {option.values}. Default: {code(default)}{''.join(others)}."
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


def code(value: object) -> str:
    """Return *value* as Python code, in Markdown."""
    return f"`{value!r}`"


def arrow(before: str, after: str) -> str:
    """Return what becomes of what."""
    return f"{before} → {after}"
