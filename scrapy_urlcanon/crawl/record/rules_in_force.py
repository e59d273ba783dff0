"""The rules of the rule files of a crawl, and which of them merged two URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.learn.results.in_force import RuleInForce, effective, rules_in_force
from scrapy_urlcanon.rule_files.loading import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.layers import Layer


class RulesInForce:
    """The rules of the files of a configuration.

    Those of settings and spiders stay where they are whatever is learned, and so do the lists of
    other projects: only a file of ours may be the one that learning writes.

    :param configuration: that the crawl begins with.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._canonicalizer = Canonicalizer.from_configuration(configuration)
        self.has_files = bool(files_of(configuration))
        """Whether there are rule files at all, of whatever format."""
        self._by_option: dict[str, list[tuple[Layer, RuleInForce]]] = {}
        for layer, rule in _with_layers(configuration):
            self._by_option.setdefault(rule.option, []).append((layer, rule))
        self.rules = effective(rule for _, rule in _with_layers(configuration))
        """In the order of the files."""

    def behind(self, option: str, url: str, other: str) -> tuple[RuleInForce, ...]:
        r"""Return the rules of *option* without which the two URLs would be two pages.

        Where several do the same, all that had a part in it.

        >>> import tempfile
        >>> from scrapy_urlcanon import Canonicalizer
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = Path(directory, "rules.toml")
        ...     _ = path.write_text('["a.example"]\ndrop_params = ["sid", "ref"]')
        ...     rules = RulesInForce(Canonicalizer(rules_files=[path]).configuration)
        >>> url, other = "http://a.example/?sid=1&ref=2", "http://a.example/?ref=2"
        >>> found = rules.behind("drop_params", url, other)
        >>> [rule.setting for rule in found]
        [['sid']]
        """
        layers = {
            layer
            for one in (url, other)
            for step in self._canonicalizer.explain(one).steps
            if step.option == option
            for layer in step.layers
        }
        fired = [rule for layer, rule in self._by_option.get(option, ()) if layer in layers]
        necessary = [rule for rule in fired if self._tells_apart(rule, url, other)]
        return tuple(necessary or fired)

    def _tells_apart(self, rule: RuleInForce, url: str, other: str) -> bool:
        """Tell whether the two URLs are two pages once *rule* is taken back."""
        without = _taken_back(rule)
        if without is None:
            # Its option has one value: without that it does nothing.
            forms = [
                self._canonicalizer.explain(one, options=_off(rule.option)).canonical
                for one in (url, other)
            ]
        else:
            forms = [
                self._canonicalizer.explain(one, options={rule.option: without}).canonical
                for one in (url, other)
            ]
        return forms[0] != forms[1]


def _off(option: str) -> dict[str, Any]:
    """Return the options with which *option*, which has one value, does nothing."""
    return BY_NAME[option].taken_back("")


def _with_layers(configuration: Configuration) -> Iterator[tuple[Layer, RuleInForce]]:
    """Yield each rule of the files with the layer that explanations name for it."""
    for file, origin in files_of(configuration):
        if file.is_foreign or not isinstance(file.rules, dict):
            continue
        for (pattern, options), rule_set in zip(file.rules.items(), origin, strict=True):
            for rule in rules_in_force({pattern: options}):
                yield rule_set.layer, rule


def _taken_back(rule: RuleInForce) -> Any:
    """Return the value of the option that takes the one entry of *rule* back, or None."""
    setting = rule.setting
    if rule.option == "keep_params" or not isinstance(setting, (list, dict)) or not setting:
        return None
    if isinstance(setting, dict):
        return dict.fromkeys(setting)
    entry = setting[0][0] if isinstance(setting[0], list) else setting[0]
    return None if entry.startswith("!") else [f"!{entry}"]
