"""Turns rules of other formats, and their exceptions, into the layers of our configuration.

In the other formats an exception takes a URL out of a rule. In our layers the more specific pattern
wins. So an exception becomes a ``!name`` on its own pattern; if a rule on a more specific pattern
would win over it, it goes into the options that override more specific patterns (``override``).

Here, and in the readers of other formats, a *scope* is a pattern of ours, and a *pattern* one of
the other format.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import Factory, define

from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern, is_host_glob, with_parents
from scrapy_urlcanon.canonicalizer.rules import BY_NAME
from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


@define
class RuleGroup:
    """Rules with the same exceptions."""

    drops: dict[Pattern, list[str]] = Factory(dict)
    """Names, or globs, of parameters to drop."""
    options: dict[Pattern, dict[str, Any]] = Factory(dict)
    """The other options."""
    exceptions: dict[Pattern, list[str] | None] = Factory(dict)
    """Names of parameters to keep; None if no rule of the group holds there."""
    holds_for_tracking: bool = False
    """Whether the exceptions hold against the list of tracking parameters too."""

    def drop(self, scope: Pattern, names: Iterable[str]) -> None:
        """Drop the parameters *names* in *scope*."""
        listed = self.drops.setdefault(scope, [])
        listed += [name for name in dict.fromkeys(names) if name not in listed]

    def set_option(self, scope: Pattern, option: str, value: Any) -> None:
        """Give *option* a value in *scope*."""
        self.options.setdefault(scope, {})[option] = value

    def remove(self, names: list[str] | None) -> None:
        """Drop none of the parameters *names* anywhere, or no parameter at all."""
        self.drops = {
            scope: [name for name in dropped if not _concerns(names, name)]
            for scope, dropped in self.drops.items()
        }

    def except_for(self, scope: Pattern, names: Iterable[str] | None) -> None:
        """Keep the parameters *names* in *scope*, or all that the group drops."""
        before = self.exceptions.get(scope, [])
        if names is None or before is None:
            self.exceptions[scope] = None
        else:
            self.exceptions[scope] = list(dict.fromkeys([*before, *names]))


def compose(groups: Sequence[RuleGroup]) -> dict[str, dict[str, Any]]:
    """Return the options by pattern that do what all *groups* do together.

    >>> from scrapy_urlcanon.canonicalizer.patterns import Pattern
    >>> everywhere = RuleGroup()
    >>> everywhere.drop(Pattern("*"), ["sid"])
    >>> everywhere.except_for(Pattern("example.com"), ["sid"])
    >>> compose([everywhere])
    {'*': {'drop_params': ['sid']}, 'example.com': {'drop_params': ['!sid']}}
    """
    drops: dict[Pattern, list[str]] = {}
    options: dict[Pattern, dict[str, Any]] = {}
    for group in groups:
        for scope, names in group.drops.items():
            drops.setdefault(scope, []).extend(names)
        for scope, values in group.options.items():
            options.setdefault(scope, {}).update(values)
    back = _TakingBack(groups)
    rules: dict[str, dict[str, Any]] = {}
    for scope in sorted({*drops, *options, *back.names, *back.options}, key=_order):
        exempt: dict[str, Any] = {
            option: BY_NAME[option].neutral for option in back.options.get(scope, ())
        }
        if back.names.get(scope):
            exempt["drop_params"] = [f"!{name}" for name in back.names[scope]]
        is_over = scope in back.overriding and bool(exempt)
        # What is dropped comes last, since the last entry that matches a name decides.
        first = [] if is_over else exempt.pop("drop_params", [])
        names_here = [*first, *dict.fromkeys(drops.get(scope, ()))]
        rule: dict[str, Any] = {"drop_params": names_here} if names_here else {}
        rule.update({} if is_over else exempt)
        rule.update(options.get(scope, {}))
        if is_over:
            rule["override"] = exempt
        if rule:
            rules[str(scope)] = rule
    return rules


def _order(scope: Pattern) -> tuple[Any, ...]:
    return scope.host != "*", scope.host.split(".")[::-1], scope


class _TakingBack:
    """By scope, what the exceptions of all groups take back."""

    def __init__(self, groups: Sequence[RuleGroup]) -> None:
        self.names: dict[Pattern, dict[str, None]] = {}
        self.options: dict[Pattern, dict[str, None]] = {}
        self.overriding: set[Pattern] = set()
        """The scopes with exceptions that must override rules on more specific patterns."""
        self._drops = _Whose((group, group.drops) for group in groups)
        self._options = _Whose((group, group.options) for group in groups)
        self._exceptions = {id(group): PatternIndex(group.exceptions) for group in groups}
        for group in groups:
            index = PatternIndex([*group.drops, *group.options])
            dropped = {scope: _Dropped(names) for scope, names in group.drops.items()}
            for scope, names in group.exceptions.items():
                self._add(group, index, dropped, scope, names)

    def _add(
        self,
        group: RuleGroup,
        index: PatternIndex,
        dropped: Mapping[Pattern, _Dropped],
        scope: Pattern,
        names: list[str] | None,
    ) -> None:
        taken_names = self.names.setdefault(scope, {})
        taken_options = self.options.setdefault(scope, {})
        if group.holds_for_tracking:
            if names is None:
                taken_options["tracking_params"] = None
            taken_names.update(dict.fromkeys(_tracking(names or ())))
        all_names = _plain(names)
        for other_scope in index.related(scope):
            concerned = dropped[other_scope].concerned(names) if other_scope in dropped else []
            options = group.options.get(other_scope, {}) if names is None else {}
            if not (concerned or options) or not other_scope.overlaps(scope):
                continue
            taken = [name for name in concerned if self._is_alone(group, scope, name)]
            for name in taken:
                taken_names.update(dict.fromkeys(_taken_back(names, name)))
            taken_options.update((o, None) for o in options if self._is_alone_with(group, scope, o))
            # There the rule would win, or is on the same pattern.
            wins = other_scope.specificity >= scope.specificity or scope.covers(other_scope)
            if wins and (taken or options):
                self.overriding.add(scope)
                if all_names is not None and all_names <= taken_names.keys():
                    # Nothing is left to take back.
                    break

    def _is_alone(self, group: RuleGroup, scope: Pattern, name: str) -> bool:
        """Tell whether no other group than *group* drops the parameter *name* in all of *scope*."""
        others = self._drops.others(group, scope, name)
        return all(self._excepts(other, scope, name) for other in others)

    def _is_alone_with(self, group: RuleGroup, scope: Pattern, option: str) -> bool:
        """Tell whether no other group than *group* sets *option* in all of *scope*."""
        others = self._options.others(group, scope, option)
        return all(self._excepts(other, scope, None) for other in others)

    def _excepts(self, group: RuleGroup, scope: Pattern, name: str | None) -> bool:
        """Tell whether *group* keeps the parameter *name*, or any option, somewhere in *scope*."""
        for excepted in self._exceptions[id(group)].related(scope):
            names = group.exceptions[excepted]
            concerns = names is None or (name is not None and _concerns(names, name))
            if concerns and excepted.overlaps(scope):
                return True
        return False


class _Whose:
    """Tells which groups have a name, of a parameter or an option, in which scopes."""

    def __init__(self, named: Iterable[tuple[RuleGroup, Mapping[Pattern, Iterable[str]]]]) -> None:
        self._groups: dict[Pattern, dict[str, list[RuleGroup]]] = {}
        for group, names_by_scope in named:
            for scope, names in names_by_scope.items():
                groups = self._groups.setdefault(scope, {})
                for name in names:
                    groups.setdefault(name, []).append(group)
        self._index = PatternIndex(self._groups)

    def others(self, group: RuleGroup, scope: Pattern, name: str) -> Iterator[RuleGroup]:
        """Return the groups other than *group* that have *name* in all of *scope*."""
        for covering in self._index.covering(scope):
            for other in self._groups[covering].get(name, ()):
                if other is not group:
                    yield other


class _Dropped:
    """What a group drops in a scope."""

    def __init__(self, names: Iterable[str]) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._globs = [name for name in self._places if "*" in name]

    def concerned(self, names: list[str] | None) -> list[str]:
        """Return the dropped names that *names* match too, in order; None matches all."""
        plain = _plain(names)
        if names is None or plain is None:
            return [name for name in self._places if _concerns(names, name)]
        found = {name for name in plain if name in self._places}
        found.update(glob for glob in self._globs if _concerns(names, glob))
        return sorted(found, key=self._places.__getitem__)


def _tracking(names: Iterable[str]) -> Iterator[str]:
    """Yield those of *names* that stand for a tracking parameter."""
    return (name for name in names if any(_overlap(name, listed) for listed in TRACKING_PARAMS))


def _plain(names: list[str] | None) -> frozenset[str] | None:
    """Return *names* as a set if there are no globs among them, otherwise None."""
    return None if names is None or any("*" in name for name in names) else frozenset(names)


class PatternIndex:
    """Finds the patterns that may overlap another one without looking at all of them."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._of_host: dict[str, list[Pattern]] = {}
        self._below_host: dict[str, list[Pattern]] = {}
        self._globs: list[Pattern] = []
        self._all: list[Pattern] = []
        for pattern in dict.fromkeys(patterns):
            self._of_host.setdefault(pattern.host, []).append(pattern)
            self._all.append(pattern)
            if is_host_glob(pattern.host):
                self._globs.append(pattern)
            for host in _hosts_above(pattern):
                self._below_host.setdefault(host, []).append(pattern)

    def related(self, pattern: Pattern) -> Iterator[Pattern]:
        """Return the patterns whose host is that of *pattern*, above it or below it."""
        if is_host_glob(pattern.host):
            # The labels of a glob do not tell which hosts it stands for.
            yield from self._all
            return
        yield from self._of_host.get(pattern.host, ())
        if pattern.host != ANY_HOST:
            yield from self._globs
        yield from self._below_host.get(pattern.host, ())
        for host in _hosts_above(pattern):
            yield from self._of_host.get(host, ())

    def covering(self, pattern: Pattern) -> Iterator[Pattern]:
        """Return the patterns that cover *pattern*; some may come twice."""
        above = (self._of_host.get(host, ()) for host in _hosts_above(pattern))
        others = self._globs if pattern.host != ANY_HOST else ()
        for other in chain(self._of_host.get(pattern.host, ()), others, *above):
            if other.covers(pattern):
                yield other


def _hosts_above(pattern: Pattern) -> list[str]:
    """Return the hosts above that of *pattern*: ``*``, and its parent domains."""
    if is_host_glob(pattern.host):
        return [ANY_HOST]
    return [] if pattern.host == ANY_HOST else [ANY_HOST, *with_parents(pattern.host)[-2::-1]]


def _taken_back(names: list[str] | None, dropped: str) -> Iterator[str]:
    """Return the entries that take back what both *dropped*, a name or glob, and *names* match."""
    for name in (dropped,) if names is None else names:
        if _glob_covers(name, dropped):
            yield dropped
        elif _overlap(name, dropped):
            yield name


def _concerns(names: list[str] | None, dropped: str) -> bool:
    return names is None or any(_overlap(name, dropped) for name in names)


def _glob_covers(glob: str, name: str) -> bool:
    """Tell whether *glob* matches everything that *name*, a name or a glob, matches."""
    return glob == name or ("*" in glob and glob_matcher(glob)(name))


def _overlap(one: str, other: str) -> bool:
    """Tell whether there may be a name that both globs, or names, match."""
    if "*" not in one or "*" not in other:
        return _glob_covers(one, other) or _glob_covers(other, one)
    ends = [(glob.partition("*")[0], glob.rpartition("*")[2][::-1]) for glob in (one, other)]
    return all(a.startswith(b) or b.startswith(a) for a, b in zip(*ends, strict=True))
