"""The options that are on, and what each of them did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.canonicalizer.layers import ALWAYS, preset_layer
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.crawl.checks.entries.shown_rules import shown_layer
from scrapy_urlcanon.crawl.dropped.summary import title_of
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL, DECLARED_CANONICAL_SETTING
from scrapy_urlcanon.crawl.stats import figures_under
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Cell, Screen

_LISTED_LAYERS = 5
_LISTED_ENTRIES = 10

_RULE = "dropped/rule/"
_ENTRY = "dropped/entry/"
_PRINTED_ENTRIES = 5


@frozen
class Entry:
    """One element of an option's list or mapping, and what it did."""

    name: str
    """Such as ``sid`` of ``drop_params``; without secrets."""
    dropped: int
    """How many dropped variants are due to it, perhaps together with others."""


@frozen
class Option:
    """An option, or a normalization that is always on, and what it did."""

    name: str
    dropped: int
    """How many dropped variants are due to it, perhaps together with others; for ``skip``, how many
    requests it skipped."""
    layers: tuple[str, ...]
    """Some of the layers that turn it on, in the order in which they apply."""
    more_layers: int = 0
    """How many more there are."""
    entries: tuple[Entry, ...] = ()
    """Those that dropped something, the most first; at most 100 over all options."""


class Options(Section):
    """The options that dropped something, and those that the user turned on; the most first."""

    place = 30
    name = "options"
    label = "Options"
    heading = "By option"
    key = "options"
    row = Option

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        # Taken now, before an audit suspends anything.
        self._configuration = canonicalizer.configuration
        self._figures: Mapping[str, int] = {}

    def note_figures(self, figures: Mapping[str, int]) -> None:
        self._figures = figures

    def rows(self) -> tuple[Option, ...]:
        dropped = figures_under(_RULE, self._figures)
        skipped = figures_under("skipped/", self._figures)
        if skipped:
            dropped[SKIP] = sum(skipped.values())
        layers: dict[str, dict[str, None]] = {}
        for name, layer in _turned_on(self._configuration):
            layers.setdefault(name, {})[layer] = None
        entries = _entries(figures_under(_ENTRY, self._figures))
        found = []
        for name, count in by_count({**dict.fromkeys(layers, 0), **dropped}):
            on = _layers(name, self._configuration.preset, list(layers.get(name, ())))
            listed, more = tuple(on[:_LISTED_LAYERS]), max(len(on) - _LISTED_LAYERS, 0)
            found.append(Option(name, count, listed, more, entries.get(name, ())))
        return tuple(found)

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        options = report.rows(Option)
        most = max((option.dropped for option in options), default=0)
        return {"options": options, "most_dropped": most, "listed": _LISTED_ENTRIES}

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        rows: list[tuple[Cell, Cell, Cell]] = []
        for option in report.rows(Option):
            style = "" if option.dropped else "dim"
            cells = f"{option.dropped:,}", title_of(option.name)
            rows.append(((cells[0], style), (option.name, style or "cyan"), (cells[1], style)))
            rows += [
                ((f"{entry.dropped:,}", "dim"), f"  {entry.name}", "")
                for entry in option.entries[:_PRINTED_ENTRIES]
            ]
            others = len(option.entries[_PRINTED_ENTRIES:])
            if others:
                rows.append(("", (f"  and {count_of(others, 'other')}", "dim"), ""))
        screen.table(rows)


def _entries(dropped: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
    """Return the entries of each option, those with most drops first."""
    entries: dict[str, list[Entry]] = {}
    for name, count in by_count(dropped):
        option, colon, entry = name.partition(":")
        if colon:
            entries.setdefault(option, []).append(Entry(entry, count))
    return {option: tuple(found) for option, found in entries.items()}


def _turned_on(configuration: Configuration) -> Iterator[tuple[str, str]]:
    for rule_sets in configuration.origins:
        for rule_set in rule_sets:
            for name, value in rule_set.options.items():
                if not is_neutral(name, value):
                    yield name, shown_layer(rule_set.layer)


def _layers(name: str, preset: str, written: list[str]) -> list[str]:
    """Return what turns the option *name* on: the *preset*, and the layers in *written*."""
    if name == DECLARED_CANONICAL:
        return [DECLARED_CANONICAL_SETTING]
    if name not in BY_NAME:
        return [str(ALWAYS)]
    is_preset = not is_neutral(name, PRESETS[preset].get(name))
    return [str(preset_layer(preset)), *written] if is_preset else written


def is_neutral(name: str, value: Any) -> bool:
    """Tell whether the option does nothing with *value*. An empty list may be a tuple too."""
    neutral = BY_NAME[name].neutral
    return bool(value == neutral or (neutral is not None and not neutral and not value))
