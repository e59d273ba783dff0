"""The configuration: rules of several origins, validated and with their layers.

Later origins win over earlier ones, and within one origin the more specific pattern wins
(:attr:`~scrapy_urlcanon.canonicalizer.patterns.Pattern.specificity`). Files are not read here:
:func:`scrapy_urlcanon.rule_files.loading.load_configuration` does that.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern, parse_pattern
from scrapy_urlcanon.canonicalizer.rules import CATALOGUE
from scrapy_urlcanon.canonicalizer.values import ValueType
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.canonicalizer.place_patterns import PlacePattern, SitePattern
    from scrapy_urlcanon.canonicalizer.rules import Catalogue

INHERIT = "inherit"
"""The key that discards the layers below if its value is False."""
OVERRIDE = "override"
"""The key of options that win over more specific patterns of the same origin."""
_KEYS = frozenset((INHERIT, OVERRIDE))


class RuleSet:
    """The options that one pattern of one origin sets.

    :param inherit: whether the layers below apply as well.
    :param overrides: whether it wins over more specific patterns of the same origin.
    """

    __slots__ = ("inherit", "layer", "options", "overrides", "pattern")

    def __init__(
        self,
        pattern: Pattern | SitePattern | PlacePattern,
        options: Mapping[str, Any],
        layer: Layer,
        *,
        inherit: bool = True,
        overrides: bool = False,
    ) -> None:
        self.pattern = pattern
        self.options = options
        self.layer = layer
        self.inherit = inherit
        self.overrides = overrides


class Source:
    """Where the rules of one origin were read from.

    :param name: what messages and layers call it: a setting, or the path of a file.
    :param rules: in the shape of the ``URLCANON_RULES`` setting, if they are valid.
    """

    def __init__(self, name: str, rules: object) -> None:
        self.name = name
        self.rules = rules

    @property
    def is_foreign(self) -> bool:
        """Whether they were written for another program."""
        return False


class Configuration(NamedTuple):
    """A preset and, in the order of their origins, the validated rule sets."""

    preset: str
    origins: tuple[tuple[RuleSet, ...], ...]
    """The rule sets of each origin, the later ones stronger."""
    sources: tuple[Source, ...] = ()
    """What the first origins were read from, in their order."""
    catalogue: Catalogue = CATALOGUE
    """The known options."""

    def sets(self, option: str) -> bool:
        """Tell whether any rule sets *option*, besides the preset."""
        return any(option in rule_set.options for origin in self.origins for rule_set in origin)

    def doubts(self) -> Iterator[Problem]:
        """Yield settings that are valid, but probably do not mean what was intended.

        >>> rules = {"example.com": {"drop_params": ["a,b"]}}
        >>> print(*Configuration.load("safe", [Source("MINE", rules)]).doubts())
        MINE['example.com']['drop_params']: 'a,b' is one name as it stands: list several names
        """
        # With rules for 100,000 domains it would take long to ask value types that have no doubts.
        finders = {
            option.name: option.values.doubts
            for option in self.catalogue
            if type(option.values).doubts is not ValueType.doubts
        }
        for source, rule_sets in zip(self.sources, self.origins, strict=False):
            for rule_set in () if source.is_foreign else rule_sets:
                layer = rule_set.layer
                for name, value in rule_set.options.items():
                    for doubt in finders[name](value) if name in finders else ():
                        yield Problem(layer.origin, doubt, layer.pattern, name)

    def without(self, entry: RuleEntry, domain: str) -> Self:
        """Return the configuration in which *entry* does nothing on *domain*.

        :param domain: a normalized host, with its subdomains, or ``*``.
        """
        options = self.catalogue.by_name[entry.option].taken_back(entry.entry)
        rule_set = RuleSet(Pattern(domain), options, Layer(f"suspended on {domain!r}"))
        return self._replace(origins=(*self.origins, (rule_set,)))

    def as_written(self) -> Self:
        """Return the configuration as users wrote it: without the changes of :meth:`without`."""
        # What that adds has a layer without a pattern. An origin with a source stays if empty.
        written = (
            origin
            for origin in self.origins
            if not origin or any(rule_set.layer.pattern is not None for rule_set in origin)
        )
        return self._replace(origins=tuple(written))

    @classmethod
    def load(
        cls,
        preset: object,
        sources: Iterable[Source],
        *,
        preset_name: str = "preset",
        catalogue: Catalogue = CATALOGUE,
    ) -> Self:
        """Validate a preset and rules, and return the configuration.

        :param sources: the rules of each origin, later ones stronger.
        :param preset_name: what *preset* is called in messages.
        :param catalogue: the known options.
        :raises ConfigurationError: with all problems at once.
        """
        sources = tuple(sources)
        problems: list[Problem] = []
        presets = catalogue.presets
        if not isinstance(preset, str) or preset not in presets:
            expected = " or ".join(map(repr, presets))
            message = f"expected {expected}, got {preset!r}{did_you_mean(preset, presets)}"
            problems.append(Problem(preset_name, message))
        with without_collecting():
            origins = tuple(tuple(_validate(source, catalogue, problems)) for source in sources)
        if problems:
            raise ConfigurationError(problems)
        return cls(str(preset), origins, sources, catalogue)

    def overrides(self, origin: str, options: object) -> RuleSet:
        """Return the rule set of *options* for all URLs.

        :raises ConfigurationError: with all problems at once.
        """
        problems: list[Problem] = []
        rule_set = _validate_options(
            Pattern(ANY_HOST), Layer(origin), options, self.catalogue, problems, keys=(INHERIT,)
        )
        if problems:
            raise ConfigurationError(problems)
        return rule_set


@contextmanager
def without_collecting() -> Iterator[None]:
    """Pause the garbage collector, which would double the time by scanning objects that stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _validate(source: Source, catalogue: Catalogue, problems: list[Problem]) -> Iterator[RuleSet]:
    if not isinstance(source.rules, dict):
        message = f"expected a mapping of patterns to options, got {source.rules!r}"
        problems.append(Problem(source.name, message))
        return
    seen: dict[Pattern, str] = {}
    for text, options in source.rules.items():
        layer = Layer(source.name, text)
        try:
            pattern = parse_pattern(text)
        except (TypeError, ValueError) as error:
            problems.append(Problem(source.name, str(error), str(text)))
            pattern = Pattern(ANY_HOST)
        else:
            same = seen.setdefault(pattern, text)
            if same is not text:
                message = f"it is the same pattern as {same!r}: join the two"
                problems.append(Problem(source.name, message, text))
        yield _validate_options(pattern, layer, options, catalogue, problems, keys=_KEYS)
        if isinstance(options, dict) and isinstance(options.get(OVERRIDE), dict):
            own, found = options[OVERRIDE], list[Problem]()
            stronger = _validate_options(pattern, layer, own, catalogue, found, keys=())
            problems += (
                each._replace(message=f"in {OVERRIDE!r}: {each.message}") for each in found
            )
            stronger.overrides = True
            yield stronger


def _validate_options(
    pattern: Pattern,
    layer: Layer,
    options: object,
    catalogue: Catalogue,
    problems: list[Problem],
    *,
    keys: Collection[str],
) -> RuleSet:
    """Return the rule set of *options*.

    :param keys: those of :data:`_KEYS` that may be among them.
    """
    if not isinstance(options, dict):
        message = f"expected a mapping of options, got {options!r}"
        if layer.pattern in catalogue.by_name:
            message += (
                f"; {layer.pattern!r} is an option: put it under a pattern, {ANY_HOST!r} for all"
            )
        problems.append(Problem(layer.origin, message, layer.pattern))
        return RuleSet(pattern, {}, layer)
    for key, value in options.items():
        problem = _problem_of_option(key, value, catalogue, keys)
        if problem:
            problems.append(Problem(layer.origin, problem, layer.pattern, str(key)))
    if _KEYS.isdisjoint(options):
        return RuleSet(pattern, options.copy(), layer)
    own = {key: value for key, value in options.items() if key not in _KEYS}
    return RuleSet(pattern, own, layer, inherit=options.get(INHERIT, True))


def _problem_of_option(
    key: object, value: object, catalogue: Catalogue, keys: Collection[str]
) -> str | None:
    option = catalogue.by_name.get(key) if isinstance(key, str) else None
    if option is not None:
        return option.values.problem(value)
    if key not in keys:
        return "no such option" + did_you_mean(key, [*catalogue.by_name, *keys])
    if key == OVERRIDE:
        return None if isinstance(value, dict) else f"expected a mapping of options, got {value!r}"
    return None if isinstance(value, bool) else f"expected True or False, got {value!r}"
