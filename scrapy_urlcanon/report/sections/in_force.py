"""The rules that held in the crawl, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - decode() reads the annotations
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.configuration import INHERIT, OVERRIDE
from scrapy_urlcanon.canonicalizer.layers import preset_layer
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST
from scrapy_urlcanon.canonicalizer.place_patterns import PlacePattern
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.crawl.checks.entries.shown_rules import shown_value
from scrapy_urlcanon.redaction import redact
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.report.sections.options import Option, is_neutral
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.configuration import RuleSet
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Cell, Screen

_REMEMBERED_DOMAINS = 5_000
_LISTED = 100
_PRINTED = 10

CLEAN_PARAM = "Clean-param of robots.txt"
"""The name for all ``Clean-param`` lines of sites."""


@frozen
class PatternOptions:
    """What one pattern of an origin sets."""

    pattern: str
    """Without secrets; empty if it holds for all URLs."""
    options: Mapping[str, str]
    """The values of options as Python source, without secrets, by name."""


@frozen
class Origin:
    """A source of rules: a preset, a file, a setting, a profile, or a robots.txt."""

    name: str
    patterns: int
    """How many patterns it has."""
    rules: tuple[PatternOptions, ...]
    """At most 100 of them, those for domains that the crawl met first."""


class RulesInForce(Section):
    """The rules of the crawl by where they were written, the weakest first."""

    place = 65
    name = "in_force"
    label = "Rules in force"
    heading = label
    key = "in_force"
    row = Origin
    since = 2

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._domains = {ANY_HOST}

    def note_drop(self, drop: Drop) -> None:
        self._note_domain(drop.domain)

    def note_page(self, canonical: str, domain: str) -> None:
        del canonical
        self._note_domain(domain)

    def rows(self) -> tuple[Origin, ...]:
        # Suspended entries are shown with the results of the audit.
        configuration = self._canonicalizer.configuration.as_written()
        preset = configuration.preset
        values = PRESETS[preset].items()
        options = {
            name: shown_value(value) for name, value in values if not is_neutral(name, value)
        }
        declared: dict[str, list[RuleSet]] = {}
        for _, sets in sorted(self._canonicalizer.declared.items()):
            for rule_set in sets:
                # For a robots.txt the layer names the line, so all share one name.
                is_named = isinstance(rule_set.pattern, PlacePattern)
                name = rule_set.layer.origin if is_named else CLEAN_PARAM
                declared.setdefault(name, []).append(rule_set)
        written = [(sets[0].layer.origin, sets) for sets in configuration.origins if sets]
        # A pattern whose options all stand under "override" sets nothing else.
        origins = [
            (name, [one for one in sets if one.options or not one.inherit])
            for name, sets in (*declared.items(), *written)
        ]
        return (
            Origin(str(preset_layer(preset)), 1, (PatternOptions("", options),)),
            *(self._origin(name, rule_sets) for name, rule_sets in origins if rule_sets),
        )

    def _note_domain(self, domain: str) -> None:
        if len(self._domains) < _REMEMBERED_DOMAINS:
            self._domains.add(domain)

    def _origin(self, name: str, rule_sets: list[RuleSet]) -> Origin:
        patterns = {rule_set.pattern for rule_set in rule_sets}
        ranked = sorted(rule_sets, key=lambda rule_set: not self._is_met(rule_set))
        listed = {id(rule_set) for rule_set in ranked[:_LISTED]}
        shown = (_shown(rule_set) for rule_set in rule_sets if id(rule_set) in listed)
        return Origin(name, len(patterns), tuple(shown))

    def _is_met(self, rule_set: RuleSet) -> bool:
        return domain_or_host(rule_set.pattern.host) in self._domains

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        known = {option.name for option in report.rows(Option)}
        origins = report.rows(Origin)
        return {"origins": origins, "known": known} if origins else None

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        rows: list[tuple[Cell, ...]] = []
        for origin in report.rows(Origin):
            rows += [
                (
                    origin.name if number == 0 else "",
                    rules.pattern,
                    (", ".join(map(" = ".join, rules.options.items())), "dim"),
                )
                for number, rules in enumerate(origin.rules[:_PRINTED])
            ]
            others = origin.patterns - len(origin.rules[:_PRINTED])
            if others:
                rows.append(("", (f"and {count_of(others, 'other pattern')}", "dim"), ""))
        screen.table(rows, numbers=0)


def _shown(rule_set: RuleSet) -> PatternOptions:
    options = {name: shown_value(value) for name, value in rule_set.options.items()}
    if not rule_set.inherit:
        options = {INHERIT: shown_value(rule_set.inherit), **options}
    if rule_set.overrides:
        options = {OVERRIDE: shown_value(rule_set.options)}
    return PatternOptions(redact(rule_set.layer.pattern or rule_set.pattern.text), options)
