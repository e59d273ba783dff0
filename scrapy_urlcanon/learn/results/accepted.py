"""Turns accepted operations into rules with options of the catalogue."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.patterns import with_parents
from scrapy_urlcanon.exceptions import ConfigurationError
from scrapy_urlcanon.learn.operations.base import apply_all, handles_of
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.results.rule import LearnedRule, as_rules
from scrapy_urlcanon.learn.scope import pattern_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import Evidence, Key
    from scrapy_urlcanon.learn.scope import Scope

_MAX_PASSES = 4
"""In how many passes rules settle that act on the results of others."""

_FEW = 10
"""So many are tried one by one, since to look for handles takes longer."""


class Accepted(NamedTuple):
    """Operations that hold together within a scope."""

    scope: Scope
    operations: Candidate
    evidence: Evidence

    @property
    def is_template(self) -> bool:
        """Whether it is a template, which stands alone."""
        return self.operations[0].is_template

    def in_literals(self) -> Accepted:
        """Return the same with the path of the scope in a template, where a reader looks for it.

        >>> from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
        >>> from scrapy_urlcanon.learn.results.rule import Evidence
        >>> from scrapy_urlcanon.learn.scope import Scope
        >>> step = RewriteTemplates("/{a}/{b:digits}/find-us", "/{a}/{b}")
        >>> one = Accepted(Scope("a.example", ("node",)), (step,), Evidence()).in_literals()
        >>> one.scope.text, one.operations[0].source
        ('a.example', '/node/{b:digits}/find-us')
        """
        step, *others = self.operations
        if others or not isinstance(step, RewriteTemplates) or not self.scope.segments:
            return self
        said = step.below(self.scope.segments)
        if said is None:
            return self
        return Accepted(self.scope._replace(segments=()), (said,), self.evidence)

    def apply(self, location: Location) -> Location:
        """Return what the operations make of a URL; itself outside the scope."""
        return apply_all(self.operations, location) if self.scope.holds(location) else location


class Applied:
    """Accepted operations in their order, applied to URLs as a canonicalizer does.

    A URL is shown to those operations only whose handle it has, since a site may have hundreds.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> from scrapy_urlcanon.learn.results.rule import Evidence
    >>> from scrapy_urlcanon.learn.scope import Scope
    >>> steps = DropParam("b"), RewriteTemplates("/p?a={x}", "/{x}?b=1"), DropParam("c")
    >>> applied = Applied(Accepted(Scope("a.example"), (step,), Evidence()) for step in steps)
    >>> url = locate("http://a.example/p?a=7&c=8")
    >>> applied.once(url).url, applied.settled(url).url
    ('http://a.example/7?b=1', 'http://a.example/7')
    >>> [*applied.changing(url)]
    [1, 2]
    """

    def __init__(self, accepted: Iterable[Accepted]) -> None:
        self._accepted = tuple(accepted)
        self._by_handle: dict[str, list[int]] = {}
        for number, one in enumerate(self._accepted):
            for handle in {step.handle for step in one.operations}:
                self._by_handle.setdefault(handle, []).append(number)

    def settled(self, location: Location) -> Location:
        """Apply the operations to a URL until none changes it."""
        for _ in range(_MAX_PASSES):
            before, location = location, self.once(location)
            if location == before:
                break
        return location

    def once(self, location: Location, without: int = -1) -> Location:
        """Apply each to a URL once, but for the one with the number *without*."""
        left = self._numbers(location)
        while left:
            number = left.pop()
            changed = location if number == without else self._accepted[number].apply(location)
            if changed is not location:
                location = changed
                left = [n for n in self._numbers(location) if n > number]
        return location

    def changing(self, location: Location) -> Iterator[int]:
        """Yield the numbers of those that change a URL, each by itself."""
        for number in reversed(self._numbers(location)):
            if self._accepted[number].apply(location) != location:
                yield number

    def _numbers(self, location: Location) -> list[int]:
        """Return the numbers of those that may change a URL, the last one first."""
        if len(self._accepted) <= _FEW:
            return [*range(len(self._accepted))][::-1]
        known = map(self._by_handle.get, handles_of(location))
        return sorted({*chain.from_iterable(filter(None, known))}, reverse=True)


def inserted(accepted: Iterable[Accepted], new: Accepted) -> list[Accepted]:
    """Return the accepted operations with *new* in its place in the order of the catalogue.

    Options that normalize the path come before templates, so templates that were found earlier are
    rewritten for the normalized path.
    """
    steps = [step for step in new.operations if step.is_for_path]
    if not steps:
        return [*accepted, new]
    before: list[Accepted] = []
    after: list[Accepted] = []
    for old in accepted:
        rewrite = old.operations[0]
        if not rewrite.is_template:
            (after or before).append(old)
            continue
        for step in steps:
            rewrite = rewrite.after(step)
        # ``/new/`` -> ``/new`` has nothing left to do where slashes at the end are stripped.
        said = [old._replace(operations=(rewrite,))] if rewrite.is_valid else []
        if new.scope.contains(old.scope):
            after += said
            continue
        after.append(old)
        if old.scope.contains(new.scope):
            after += (one._replace(scope=new.scope) for one in said)
    return [*before, new, *after]


def by_step(accepted: Iterable[Accepted]) -> list[Accepted]:
    """Return the accepted operations, each step as a rule of its own."""
    return [one._replace(operations=(step,)) for one in accepted for step in one.operations]


def in_order(accepted: Iterable[Accepted]) -> list[Accepted]:
    """Return the steps of the accepted operations in the order of a canonicalizer."""
    return sorted(by_step(accepted), key=lambda one: one.operations[0].option.place)


def unsettled(accepted: Sequence[Accepted], new: Accepted) -> list[Accepted]:
    """Return the templates that never settle beside another one: no configuration takes both.

    >>> from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
    >>> from scrapy_urlcanon.learn.results.rule import Evidence
    >>> from scrapy_urlcanon.learn.scope import Scope
    >>> special, other, general = (
    ...     Accepted(Scope("a.example"), (RewriteTemplates(source, target),), Evidence())
    ...     for source, target in (
    ...         ("/t?n={b:digits}.15", "/t/{b}.15"),
    ...         ("/u/{b}", "/u?n={b}"),
    ...         ("/t/{b}", "/t?n={b}"),
    ...     )
    ... )
    >>> unsettled([special, other], general) == [special]
    True
    """
    templates = [one for one in accepted if one.is_template]
    if not new.is_template or _is_valid(rules_of("", [*templates, new])):
        return []
    return [one for one in templates if not _is_valid(rules_of("", [one, new]))]


def rules_of(domain: str, accepted: Iterable[Accepted]) -> Iterator[LearnedRule]:
    """Yield the rules for the accepted operations, each rule once."""
    defaults: dict[tuple[str, frozenset[str]], str] = {}
    seen: set[Key] = set()
    for scope, operations, evidence in accepted:
        for operation in operations:
            where, what = scope, operation
            default = operation.default
            if (
                default is not None
                and defaults.setdefault((scope.host, operation.drops), default) != default
            ):
                # A parameter has one default per pattern. For a second value without effect, the
                # parameter is dropped on the condition that it has this value.
                (name,) = operation.drops
                where, what = scope._replace(condition=f"{name}={default}"), DropParam(name)
                if scope.condition or not what.is_valid:
                    continue
            if not where.is_expressible:
                continue
            rule = LearnedRule(
                domain, where.text, what.option.name, what.setting, "rewrite", evidence
            )
            if rule.key not in seen:
                seen.add(rule.key)
                yield rule


def separators(hosts: Iterable[str], rules: Iterable[LearnedRule]) -> Iterator[LearnedRule]:
    """Yield ``query_separator`` for the hosts where ``;`` separates parameters, if rules need it.

    Its evidence is that of the first rule which needs it, or of its own.
    """
    rules = list(rules)
    for host in sorted({host.partition(":")[0] for host in hosts}):
        for rule in rules:
            if pattern_of(rule.pattern).host in with_parents(host):
                yield LearnedRule(
                    rule.domain, host, "query_separator", ";", "rewrite", rule.evidence
                )
                break


def valid(rules: Iterable[LearnedRule]) -> list[LearnedRule]:
    """Return the rules that a configuration accepts, alone and together with those before them.

    They come from other people's URLs, and one odd name or template in a file would stop a crawl.
    """
    rules = list(rules)
    if _is_valid(rules):
        return rules
    kept: list[LearnedRule] = []
    for rule in rules:
        if _is_valid([*kept, rule]):
            kept.append(rule)
    return kept


def _is_valid(rules: Iterable[LearnedRule]) -> bool:
    try:
        Canonicalizer(as_rules(rules))
    except ConfigurationError:
        return False
    return True
