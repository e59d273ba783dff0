"""Which options a configuration turns on, and what each of them did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import ALWAYS, BY_NAME
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING
from scrapy_urlcanon.report.document import Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.configuration import Configuration

_LISTED_LAYERS = 5


def options_of(configuration: Configuration, dropped: Mapping[str, int]) -> tuple[Option, ...]:
    """Return the options that dropped something or that the user turned on.

    :param dropped: how many dropped variants are due to each, by name.
    """
    layers: dict[str, dict[str, None]] = {}
    for name, layer in _turned_on(configuration):
        layers.setdefault(name, {})[layer] = None
    ranked = sorted(layers.keys() | dropped.keys(), key=lambda name: (-dropped.get(name, 0), name))
    return tuple(
        _option(name, dropped.get(name, 0), configuration.preset, list(layers.get(name, ())))
        for name in ranked
    )


def _turned_on(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for rule_sets in configuration.origins:
        for rule_set in rule_sets:
            for name, value in rule_set.options.items():
                if not _is_neutral(name, value):
                    yield name, rule_set.layer


def _option(name: str, dropped: int, preset: str, layers: list[str]) -> Option:
    if name == DECLARED_CANONICAL:
        layers = [DECLARED_CANONICAL_SETTING]
    elif name not in BY_NAME:
        layers = [ALWAYS]
    elif not _is_neutral(name, PRESETS[preset].get(name)):
        layers = [f"preset {preset}", *layers]
    more = max(len(layers) - _LISTED_LAYERS, 0)
    return Option(name, dropped, tuple(layers[:_LISTED_LAYERS]), more)


def _is_neutral(name: str, value: Any) -> bool:
    """Tell whether the option does nothing with *value*; an empty list may be a tuple too."""
    neutral = BY_NAME[name].neutral
    return bool(value == neutral or (neutral is not None and not neutral and not value))
