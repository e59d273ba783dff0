"""Brings foreign rules and their exceptions into the layers of our configuration.

In the foreign formats an exception takes a URL out of a rule. Our layers only know the
order of patterns: what a more specific pattern says wins. So an exception becomes a
``!name`` on its own pattern, and a rule on a pattern that would win over that one is
dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import Factory, define

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.canonicalizer.imports.scope import Scope

_NEUTRAL: dict[str, Any] = {"keep_params": None, "www": "keep", "trailing_slash": "keep"}
"""The values with which an exception takes an option back."""


@define
class RuleGroup:
    """Rules that the same exceptions hold for."""

    drops: dict[Scope, list[str]] = Factory(dict)
    """Names, or globs, of parameters to drop."""
    options: dict[Scope, dict[str, Any]] = Factory(dict)
    """The other options."""
    exceptions: dict[Scope, list[str] | None] = Factory(dict)
    """Names of parameters to keep; None: nothing of the group holds there."""

    def drop(self, scope: Scope, names: Iterable[str]) -> None:
        """Drop the parameters *names* in *scope*."""
        listed = self.drops.setdefault(scope, [])
        listed += [name for name in dict.fromkeys(names) if name not in listed]

    def set_option(self, scope: Scope, option: str, value: Any) -> None:
        """Give *option* a value in *scope*."""
        self.options.setdefault(scope, {})[option] = value

    def except_for(self, scope: Scope, names: Iterable[str] | None) -> None:
        """Keep the parameters *names* in *scope*, or all that the group drops."""
        before = self.exceptions.get(scope, [])
        if names is None or before is None:
            self.exceptions[scope] = None
        else:
            self.exceptions[scope] = list(dict.fromkeys([*before, *names]))


def compose(groups: Sequence[RuleGroup]) -> dict[str, dict[str, Any]]:
    """Return the options by pattern that do what all *groups* do together.

    >>> from scrapy_urlcanon.canonicalizer.imports.scope import Scope
    >>> everywhere = RuleGroup()
    >>> everywhere.drop(Scope("*"), ["sid"])
    >>> everywhere.except_for(Scope("example.com"), ["sid"])
    >>> compose([everywhere])
    {'*': {'drop_params': ['sid']}, 'example.com': {'drop_params': ['!sid']}}
    """
    for group in groups:
        _remove_what_would_win(group)
    drops: dict[Scope, list[str]] = {}
    options: dict[Scope, dict[str, Any]] = {}
    for group in groups:
        for scope, names in group.drops.items():
            drops.setdefault(scope, []).extend(names)
        for scope, values in group.options.items():
            options.setdefault(scope, {}).update(values)
    back = _take_back(groups, options)
    rules: dict[str, dict[str, Any]] = {}
    for scope in sorted({*drops, *options, *back}, key=_order):
        # What is dropped comes last, since the last entry that matches a name decides.
        taken_back = [f"!{name}" for name in back.get(scope, ())]
        names_here = [*taken_back, *dict.fromkeys(drops.get(scope, ()))]
        rule = {"drop_params": names_here} if names_here else {}
        rule.update(options.get(scope, {}))
        if rule:
            rules[str(scope)] = rule
    return rules


def _take_back(
    groups: Sequence[RuleGroup], options: dict[Scope, dict[str, Any]]
) -> dict[Scope, dict[str, None]]:
    """Return the names that exceptions take back; add the options that they do."""
    back: dict[Scope, dict[str, None]] = {}
    for group in groups:
        others = [other for other in groups if other is not group]
        for scope, names in group.exceptions.items():
            taken_back = _names_to_take_back(group, scope, names, others)
            back.setdefault(scope, {}).update(dict.fromkeys(taken_back))
            if names is None:
                for option in _options_to_take_back(group, scope, others):
                    options.setdefault(scope, {}).setdefault(option, _NEUTRAL[option])
    return back


def _order(scope: Scope) -> tuple[Any, ...]:
    return scope.host != "*", scope.host.split(".")[::-1], scope


def _remove_what_would_win(group: RuleGroup) -> None:
    """Remove the rules of *group* that its exceptions could not take back."""
    for exception, names in group.exceptions.items():
        for scope in [*group.drops, *group.options]:
            if not scope.overlaps(exception):
                continue
            if scope.specificity < exception.specificity and not exception.covers(scope):
                continue
            group.drops[scope] = [
                name for name in group.drops.get(scope, ()) if not _concerns(names, name)
            ]
            if names is None:
                group.options.pop(scope, None)


def _names_to_take_back(
    group: RuleGroup, scope: Scope, names: list[str] | None, others: Iterable[RuleGroup]
) -> Iterator[str]:
    dropped_by_others = {
        name
        for other in others
        for other_scope, other_names in other.drops.items()
        if other_scope.covers(scope)
        for name in other_names
        if not _excepts(other, scope, name)
    }
    for other_scope, dropped in group.drops.items():
        if other_scope.overlaps(scope):
            for name in dropped:
                if name not in dropped_by_others and _concerns(names, name):
                    yield from _narrowest(names, name)


def _excepts(group: RuleGroup, scope: Scope, name: str | None) -> bool:
    """Tell whether *group* keeps the parameter *name*, or any option, somewhere in *scope*."""
    return any(
        excepted.overlaps(scope)
        and (names is None or (name is not None and _concerns(names, name)))
        for excepted, names in group.exceptions.items()
    )


def _narrowest(names: list[str] | None, dropped: str) -> Iterator[str]:
    """Return *dropped*, or those of *names* that it is a glob for."""
    inside = [name for name in names or () if _glob_covers(dropped, name)]
    yield from inside or [dropped]


def _options_to_take_back(
    group: RuleGroup, scope: Scope, others: Iterable[RuleGroup]
) -> Iterator[str]:
    set_by_others = {
        option
        for other in others
        for other_scope, values in other.options.items()
        if other_scope.covers(scope)
        for option in values
        if not _excepts(other, scope, None)
    }
    for other_scope, values in group.options.items():
        if other_scope.overlaps(scope):
            yield from (option for option in values if option not in set_by_others)


def _concerns(names: list[str] | None, dropped: str) -> bool:
    return names is None or any(
        _glob_covers(name, dropped) or _glob_covers(dropped, name) for name in names
    )


def _glob_covers(glob: str, name: str) -> bool:
    """Tell whether *glob*, which may end in ``*``, stands for all that *name* stands for."""
    return glob == name or (glob.endswith("*") and name.startswith(glob[:-1]))
