"""The configuration: rules of several origins, validated and with their layers.

Later origins win over earlier ones, and within one origin the more specific pattern wins
(:attr:`~scrapy_urlcanon.canonicalizer.patterns.Pattern.specificity`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from scrapy_urlcanon.canonicalizer.patterns import Pattern, parse_pattern
from scrapy_urlcanon.canonicalizer.presets import PRESETS
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.rule_files.reading import RulesFile, read_rules_files

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.declared import DeclaredPattern

INHERIT = "inherit"
"""The key that, where False, discards the layers below."""


@frozen(eq=False)
class RuleSet:
    """The options that one pattern of one origin sets."""

    pattern: Pattern | DeclaredPattern
    options: Mapping[str, Any]
    layer: str
    """Origin and pattern, as in ``URLCANON_RULES['example.com']``."""
    inherit: bool = True
    """Whether the layers below hold as well."""
    suspends: frozenset[str] = frozenset()
    """The options that do nothing there, whatever the layers below say."""


@frozen
class Configuration:
    """A preset and, in the order of their origins, the validated rule sets."""

    preset: str
    origins: tuple[tuple[RuleSet, ...], ...]
    """The rule sets of each origin, the later ones stronger."""
    files: tuple[RulesFile, ...] = ()
    """The rule files, which are the first of the origins."""

    def without(self, option: str, domain: str) -> Self:
        """Return the configuration in which *option* does nothing on *domain*.

        :param domain: a normalized host, with its subdomains, or ``*``.
        """
        layer = f"suspended on {domain!r}"
        rule_set = RuleSet(Pattern(domain), {}, layer, suspends=frozenset({option}))
        return evolve(self, origins=(*self.origins, (rule_set,)))

    @classmethod
    def load(
        cls,
        preset: object,
        *,
        rules_files: Iterable[str | os.PathLike[str]] = (),
        rules: Iterable[tuple[str, object]] = (),
        setting_names: tuple[str, str] = ("preset", "rules_files"),
    ) -> Self:
        """Read and validate everything.

        :param rules_files: paths of rule files, each an origin of its own.
        :param rules: pairs of a name, for the messages, and the rules of that name.
        :param setting_names: what *preset* and *rules_files* are called in messages.
        :raises ConfigurationError: with all problems at once.
        """
        problems: list[Problem] = []
        if not isinstance(preset, str) or preset not in PRESETS:
            expected = " or ".join(map(repr, PRESETS))
            message = f"expected {expected}, got {preset!r}{did_you_mean(preset, PRESETS)}"
            problems.append(Problem(setting_names[0], message))
        files, problems_of_files = read_rules_files(rules_files, setting=setting_names[1])
        problems += problems_of_files
        given = [(name, mapping) for name, mapping in rules if mapping is not None]
        origins = tuple(
            tuple(_validate(name, mapping, problems))
            for name, mapping in (*((file.name, file.rules) for file in files), *given)
        )
        if problems:
            raise ConfigurationError(problems)
        return cls(str(preset), origins, tuple(files))


def validate_options(origin: str, options: object) -> RuleSet:
    """Return the rule set of *options* that hold whatever the URL.

    :raises ConfigurationError: with all problems at once.
    """
    problems: list[Problem] = []
    rule_set = _validate_options(Pattern("*"), origin, options, Problem(origin, ""), problems)
    if problems:
        raise ConfigurationError(problems)
    return rule_set


def _validate(origin: str, rules: object, problems: list[Problem]) -> Iterable[RuleSet]:
    if not isinstance(rules, dict):
        problems.append(
            Problem(origin, f"expected a mapping of patterns to options, got {rules!r}")
        )
        return
    seen: dict[Pattern, str] = {}
    for text, options in rules.items():
        place = Problem(origin, "", str(text))
        try:
            pattern = parse_pattern(text)
        except (TypeError, ValueError) as error:
            problems.append(place._replace(message=str(error)))
            pattern = Pattern("*")
        else:
            if pattern in seen:
                message = f"it is the same pattern as {seen[pattern]!r}: join the two"
                problems.append(place._replace(message=message))
            seen[pattern] = text
        yield _validate_options(pattern, f"{origin}[{text!r}]", options, place, problems)


def _validate_options(
    pattern: Pattern, layer: str, options: object, place: Problem, problems: list[Problem]
) -> RuleSet:
    if not isinstance(options, dict):
        message = f"expected a mapping of options, got {options!r}"
        problems.append(place._replace(message=message))
        return RuleSet(pattern, {}, layer)
    for key, value in options.items():
        problem = _problem_of_option(key, value)
        if problem:
            problems.append(place._replace(message=problem, key=str(key)))
    own = {key: value for key, value in options.items() if key != INHERIT}
    return RuleSet(pattern, own, layer, inherit=options.get(INHERIT, True))


def _problem_of_option(key: object, value: object) -> str | None:
    if key == INHERIT:
        return None if isinstance(value, bool) else f"expected True or False, got {value!r}"
    rule = BY_NAME.get(key) if isinstance(key, str) else None
    if rule is None:
        return "no such option" + did_you_mean(key, [*BY_NAME, INHERIT])
    return rule.values.problem(value)
