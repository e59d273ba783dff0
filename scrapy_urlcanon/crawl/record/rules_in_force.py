"""The rules of the rule files of a crawl, and which of them merged two URLs."""

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
    """The rules of the files of a configuration.

    Those of settings and spiders stay where they are whatever is learned, and so do the lists of
    other projects: only a file of ours may be the one that learning writes.

    :param configuration: that the crawl begins with.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._canonicalizer = Canonicalizer.from_configuration(configuration)
        self._rules: dict[tuple[Layer, str], list[RuleInForce]] = {}
        for layer, rule in _with_layers(configuration):
            self._rules.setdefault((layer, rule.option), []).append(rule)
        self.rules = effective(rule for _, rule in _with_layers(configuration))
        """In the order of the files."""

    def behind(self, entry: RuleEntry, url: str, other: str) -> tuple[RuleInForce, ...]:
        r"""Return the rules in which *entry*, which had a part in the form of either URL, stands.

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
    """Yield each rule of the files with the layer that explanations name for it."""
    for file, _ in files_of(configuration):
        if not file.is_foreign and isinstance(file.rules, dict):
            for rule in rules_in_force(file.rules):
                yield Layer(file.name, rule.pattern), rule
