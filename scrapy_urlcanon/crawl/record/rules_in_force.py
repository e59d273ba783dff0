"""Finds which rules of the rule files were in force, and which of them merged two URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.learn.results.in_force import (
    RuleInForce,
    effective,
    rules_in_force,
    subject_of,
)
from scrapy_urlcanon.rule_files.loading import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry


class RulesInForce:
    """The rules of our own rule files in a configuration.

    Rules in settings, in spiders and in lists of other projects are left out: ``learn`` cannot
    change them, since it only writes files of our format.

    :param configuration: the configuration with which the crawl begins.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._canonicalizer = Canonicalizer.from_configuration(configuration)
        self._rules: dict[tuple[Layer, str], list[RuleInForce]] = {}
        for layer, rule in _with_layers(configuration):
            self._rules.setdefault((layer, rule.option), []).append(rule)
        self.rules = effective(rule for _, rule in _with_layers(configuration))
        """The rules in the order of the files."""

    def behind(self, entry: RuleEntry, url: str, other: str) -> tuple[RuleInForce, ...]:
        r"""Return the rules with *entry* that took part in changing *url* or *other*.

        >>> import tempfile
        >>> from scrapy_urlcanon import Canonicalizer
        >>> from scrapy_urlcanon.canonicalizer.entries import RuleEntry
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = Path(directory, "rules.toml")
        ...     _ = path.write_text('["a.example"]\ndrop_params = ["sid", "ref"]')
        ...     rules = RulesInForce(Canonicalizer(rules_files=[path]).configuration)
        >>> url, other = "http://a.example/?sid=1&ref=2", "http://a.example/?ref=2"
        >>> found = rules.behind(RuleEntry("drop_params", "sid"), url, other)
        >>> [rule.setting for rule in found]
        [['sid']]
        """
        layers = {
            cause.layer
            for one in (url, other)
            for step in self._canonicalizer.explain(one).steps
            if step.option == entry.option
            for cause in step.causes
            if cause.entry == entry.entry
        }
        return tuple(
            rule
            for layer in sorted(layers, key=str)
            for rule in self._rules.get((layer, entry.option), ())
            if subject_of(rule.option, rule.setting) in {None, entry.entry}
        )


def _with_layers(configuration: Configuration) -> Iterator[tuple[Layer, RuleInForce]]:
    """Yield each rule of the files with its layer, as explanations name it."""
    for file, _ in files_of(configuration):
        if not file.is_foreign and isinstance(file.rules, dict):
            for rule in rules_in_force(file.rules):
                yield Layer(file.name, rule.pattern), rule
