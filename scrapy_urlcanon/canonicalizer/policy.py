"""Finds the policy of a URL: the value of each option for it."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from scrapy_urlcanon.canonicalizer.configuration import RuleSet, without_collecting
from scrapy_urlcanon.canonicalizer.inner_loops import is_under
from scrapy_urlcanon.canonicalizer.layers import Layer, preset_layer
from scrapy_urlcanon.canonicalizer.patterns import (
    ANY_HOST,
    Pattern,
    host_globs,
    is_host_glob,
    parse_pattern,
    with_parents,
)
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.canonicalizer.rules import Rule, Skip
from scrapy_urlcanon.canonicalizer.tracking.exceptions import EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import Cause
    from scrapy_urlcanon.canonicalizer.place_patterns import PlacePattern, SitePattern
    from scrapy_urlcanon.canonicalizer.rules import Catalogue
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.canonicalizer.values import Setting

_CACHED_HOSTS = 1_000
_CACHED_POLICIES = 2_000
_CACHED_FOR_REQUESTS = 200
_Key = TypeVar("_Key")
_FEW = 8
"""Up to how many rule sets are tried one by one; more are found by an index."""


_Test = tuple[RuleSet, "Callable[[Url], bool] | None"]
_Known = tuple[list[_Test], tuple[RuleSet, ...]]


class Policy:
    """The value of every option for some URLs, and the rules that do something there.

    :param options: by name, each with the layer that set it.
    :param rules: in the order in which they apply.
    :param as_scrapy: whether Scrapy's own canonicalization applies if no rule of the user changes
        the URL. So it is under the preset ``scrapy``, unless a rule contradicts it: about the
        fragment, the order of parameters, or the URL as it was written.
    :param scrapy_does: the options of *rules* with the value that stands for what Scrapy does.
    :param skip: the URLs that are not fetched, if any.
    """

    def __init__(
        self,
        options: Mapping[str, Setting],
        rules: tuple[Rule, ...],
        *,
        as_scrapy: bool,
        scrapy_does: frozenset[str],
        skip: Skip | None,
    ) -> None:
        self.options = options
        self.rules = rules
        self.as_scrapy = as_scrapy
        self.scrapy_does = scrapy_does
        self.skip = skip

    def __repr__(self) -> str:
        """Show which options are not those of the preset, and what set them.

        >>> from scrapy_urlcanon import Canonicalizer
        >>> Canonicalizer({"a.example": {"www": "strip"}}).policy("http://a.example/")
        <Policy: www by rules['a.example']>
        """
        layers = {name: setting.layer for name, setting in self.options.items()}
        found = [f"{n} by {of}" for n, of in layers.items() if not of.origin.startswith("preset ")]
        return f"<Policy: {', '.join(found) or 'all by the preset'}>"

    def skips(self, url: Url) -> Cause | None:
        """Return the template because of which the canonical *url* is not fetched, or None."""
        return None if self.skip is None else self.skip.cause(url)


class HostPolicy:
    """The policies of hosts with the same rule sets; they may differ by path and query.

    :param rule_sets: the rule sets whose host matches, the later ones stronger.
    :param only: the policy, if path and query make no difference.
    """

    def __init__(self, rule_sets: tuple[RuleSet, ...], only: Policy | None) -> None:
        self.only = only
        self._are_few = len(rule_sets) <= _FEW
        # The test is None for a pattern that all URLs of the host match, which saves a call.
        self._tests = [
            (r, None if r.pattern.is_for_whole_host else r.pattern.matches_on_its_host)
            for r in rule_sets
        ]
        # An index of the rule sets, by what a URL must have, so that not all have to be tried.
        self._always: list[int] = []
        self._lists: list[list[int]] = []
        # By the first segment, the number of a list.
        self._by_segment: dict[str, int] = {}
        # By name and value of a parameter; None stands for any value.
        self._by_parameter: dict[str, dict[str | None, int]] = {}
        # As _tests, but without a test for rule sets that hold if the index finds them.
        self._tests_of_found: list[_Test] = [
            (r, None if self._file(r.pattern, position) else holds)
            for position, (r, holds) in enumerate(self._tests)
        ]
        # By the lists that were found: what is to be tried, or else all that holds.
        self._known: dict[tuple[int | None, ...], _Known] = {}

    def _file(self, pattern: Pattern | SitePattern | PlacePattern, position: int) -> bool:
        """Put the rule set at *position* into the index; return whether a hit needs no test."""
        if isinstance(pattern, Pattern):
            for condition in pattern.conditions:
                if "*" not in condition.name:
                    value = None if "*" in condition.value else condition.value
                    by_value = self._by_parameter.setdefault(condition.name, {})
                    self._list_of(by_value, value).append(position)
                    is_all = len(pattern.conditions) == 1 and not pattern.path
                    return is_all and condition.value == (value or "*")
            if pattern.path and "*" not in pattern.path:
                segment, slash, _ = pattern.path[1:].partition("/")
                self._list_of(self._by_segment, segment).append(position)
                return not (slash or pattern.conditions)
        self._always.append(position)
        return False

    def _list_of(self, numbers: dict[_Key, int], key: _Key) -> list[int]:
        """Return the list whose number is in *numbers* under *key*, a new one if there is none."""
        number = numbers.setdefault(key, len(self._lists))
        if number == len(self._lists):
            self._lists.append([])
        return self._lists[number]

    def matching(self, url: Url) -> tuple[RuleSet, ...]:
        """Return the rule sets that apply to *url*, normalized and on such a host."""
        if self._are_few:
            return tuple([r for r, holds in self._tests if holds is None or holds(url)])
        found: list[int | None] = []
        if self._by_segment:
            found.append(self._by_segment.get(url.path[1:].partition("/")[0]))
        if self._by_parameter and url.query:
            for piece in url.query:
                name, _, value = piece.partition("=")
                by_value = self._by_parameter.get(decode_query_text(name))
                if by_value:
                    # Few names have any, and values are more often encoded.
                    found += by_value.get(decode_query_text(value)), by_value.get(None)
        key = tuple(found)
        to_try, sure = self._known.get(key) or self._learn(key)
        if to_try:
            return tuple([r for r, holds in to_try if holds is None or holds(url)])
        return sure

    def _learn(self, found: tuple[int | None, ...]) -> _Known:
        """Return and remember what of the lists *found* is to be tried, or else what holds."""
        lists = (self._lists[number] for number in found if number is not None)
        positions = sorted({*self._always, *chain.from_iterable(lists)})
        tests: list[_Test] = [self._tests_of_found[position] for position in positions]
        are_sure = not any(holds for _, holds in tests)
        sure = tuple(r for r, _ in tests) if are_sure else ()
        known: _Known = ([] if are_sure else tests), sure
        if len(self._known) >= _CACHED_POLICIES:
            self._known.clear()
        self._known[found] = known
        return known


class Policies:
    """Finds the policy for a URL, in a time that depends only on the labels of its host."""

    @without_collecting()
    def __init__(self, configuration: Configuration) -> None:
        self._preset = configuration.preset
        self._catalogue = configuration.catalogue
        self._origins: list[dict[str, list[RuleSet]]] = []
        for rule_sets in (tracking_exceptions(), *configuration.origins):
            stronger = [rule_set for rule_set in rule_sets if rule_set.overrides]
            usual = [r for r in rule_sets if not r.overrides] if stronger else rule_sets
            self._origins += [_by_host(usual), _by_host(stronger)]
        self.declared: dict[str, tuple[RuleSet, ...]] = {}
        """The rule sets that sites declared, by host."""
        hosts = {host for by_host in self._origins for host in by_host}
        self._globs = {host for host in hosts if "*" in host and is_host_glob(host)}
        self._labels_of_globs = sorted({host.count(".") for host in self._globs})
        self._hosts = hosts.difference(self._globs, (ANY_HOST,))
        self._ends = set(map(_end, self._hosts))
        self._cached_for_host = lru_cache(_CACHED_HOSTS)(self.for_host)
        self._for_names = lru_cache(_CACHED_POLICIES)(self._make_host_policy)
        self._compile = lru_cache(_CACHED_POLICIES)(self._make_policy)
        # A cache of its own, since each request may have other options.
        self._compile_for_request = lru_cache(_CACHED_FOR_REQUESTS)(self._make_policy)
        # The policies of hosts without rules of their own: nearly all hosts.
        self._of_others: HostPolicy | None = None

    def for_url(self, url: Url, overrides: RuleSet | None = None) -> Policy:
        """Return the policy for *url*, with *overrides* over all other layers."""
        host = self._cached_for_host(url.host)
        if overrides is None and host.only:
            return host.only
        matching = host.matching(url)
        if overrides is None:
            return self._compile(matching)
        return self._compile_for_request((*matching, overrides))

    def declare(self, host: str, rule_sets: tuple[RuleSet, ...]) -> None:
        """Make *rule_sets* the weakest layer over the preset for the normalized *host*."""
        in_order = sorted(rule_sets, key=lambda rule_set: rule_set.pattern.specificity)
        self.declared[host] = tuple(in_order)
        self._ends.add(_end(host))
        self._cached_for_host.cache_clear()

    def with_configuration(self, configuration: Configuration) -> Policies:
        """Return the policies of another *configuration*, with what was declared here."""
        policies = Policies(configuration)
        for host, rule_sets in self.declared.items():
            policies.declare(host, rule_sets)
        return policies

    @property
    def ends(self) -> set[str] | None:
        """The last two labels of each host with rules of its own (of ``localhost``, the only one).

        A host that ends in none of these has no rules of its own. None if that cannot be told from
        the end of a host, as with patterns such as ``name.*``.
        """
        return None if self._globs else self._ends

    def of_others(self) -> HostPolicy:
        """Return the policies of the hosts without rules of their own: nearly all hosts."""
        if self._of_others is None:
            self._of_others = self._for_names((ANY_HOST,), ())
        return self._of_others

    def for_host(self, host: str) -> HostPolicy:
        """Return the policies of the normalized *host*."""
        names: tuple[str, ...] = ()
        if self._globs:
            found = host_globs(host, self._labels_of_globs)
            names += tuple(dict.fromkeys(name for name in found if name in self._globs))
        if is_under(host, self._ends):
            names += tuple(name for name in with_parents(host) if name in self._hosts)
            if host in self.declared:
                return self._for_names((ANY_HOST, *names), self.declared[host])
        return self._for_names((ANY_HOST, *names), ()) if names else self.of_others()

    def _make_host_policy(
        self, names: tuple[str, ...], declared: tuple[RuleSet, ...]
    ) -> HostPolicy:
        rule_sets = (*declared, *self._rule_sets(names))
        depends = any(not rule_set.pattern.is_for_whole_host for rule_set in rule_sets)
        return HostPolicy(rule_sets, None if depends else self._compile(rule_sets))

    def _rule_sets(self, names: tuple[str, ...]) -> Iterator[RuleSet]:
        for by_host in self._origins:
            for name in names:
                yield from by_host.get(name, ())

    def _make_policy(self, rule_sets: tuple[RuleSet, ...]) -> Policy:
        options = dict(_preset_options(self._catalogue, self._preset))
        for rule_set in rule_sets:
            if not rule_set.inherit:
                options = dict(_preset_options(self._catalogue, "scrapy"))
            for name, value in rule_set.options.items():
                lower = options.get(name)
                option = self._catalogue.by_name[name]
                options[name] = option.values.merge(lower, value, rule_set.layer)
        compiled = [option.compile(options) for option in self._catalogue]
        rules = tuple(option for option in compiled if isinstance(option, Rule))
        of_scrapy = _preset_options(self._catalogue, "scrapy")
        scrapy_does = _done_by_scrapy(self._catalogue)
        return Policy(
            options,
            rules,
            as_scrapy=self._preset == "scrapy"
            and all(options[name].value == of_scrapy[name].value for name in scrapy_does)
            and not any(rule.as_written for rule in rules),
            scrapy_does=scrapy_does,
            skip=next((option for option in compiled if isinstance(option, Skip)), None),
        )


def _end(host: str) -> str:
    """Return the last two labels of *host*, or the only one."""
    return ".".join(host.rsplit(".", 2)[-2:])


def _by_host(rule_sets: Iterable[RuleSet]) -> dict[str, list[RuleSet]]:
    """Return *rule_sets* by the host of their patterns, the stronger ones later."""
    by_host: dict[str, list[RuleSet]] = {}
    for rule_set in rule_sets:
        by_host.setdefault(rule_set.pattern.host, []).append(rule_set)
    for sets in by_host.values():
        if len(sets) > 1:
            sets.sort(key=lambda rule_set: rule_set.pattern.specificity)
    return by_host


@lru_cache
def tracking_exceptions() -> tuple[RuleSet, ...]:
    """Return the rule sets that keep tracking parameters where these select content."""
    return tuple(
        RuleSet(
            parse_pattern(exception.pattern),
            {"drop_params": tuple(f"!{name}" for name in exception.names)},
            Layer("the exceptions of the list of tracking parameters", exception.pattern),
        )
        for exception in EXCEPTIONS
    )


@lru_cache
def _preset_options(catalogue: Catalogue, preset: str) -> Mapping[str, Setting]:
    layer = preset_layer(preset)
    return {
        name: catalogue.by_name[name].values.merge(None, value, layer)
        for name, value in catalogue.presets[preset].items()
    }


@lru_cache
def _done_by_scrapy(catalogue: Catalogue) -> frozenset[str]:
    """Return the names of the options that do something in the preset ``scrapy``."""
    options = _preset_options(catalogue, "scrapy")
    return frozenset(option.name for option in catalogue if option.compile(options))
