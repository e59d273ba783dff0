"""Removes rules that do nothing beside others, so that a file is short.

Rules without counter-examples are accepted first, so a value of a parameter may be accepted before
the parameter, and a prefix at one depth before any depth. Once the general rule is accepted, which
a few changed pages had spoken against, the special one does nothing any more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import as_template, locate
from scrapy_urlcanon.learn.operations.templates import RewriteTemplates
from scrapy_urlcanon.learn.results.accepted import Applied, by_step
from scrapy_urlcanon.learn.scope import ANY_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.accepted import Accepted

_PLACE = re.compile(r"\{\w+(:digits|:path)?\}")


def without_idle(accepted: Iterable[Accepted]) -> list[Accepted]:
    """Return the steps of the accepted operations without those that the others make idle.

    >>> from scrapy_urlcanon.learn.operations.parameters import DropParam, DropValue
    >>> from scrapy_urlcanon.learn.results.accepted import Accepted
    >>> from scrapy_urlcanon.learn.results.rule import Evidence
    >>> from scrapy_urlcanon.learn.scope import Scope
    >>> steps = DropValue("ref", "home"), DropParam("ref"), DropParam("id")
    >>> rules = [Accepted(Scope("a.example"), (step,), Evidence(merges=4)) for step in steps]
    >>> for rule in without_idle(rules):
    ...     print(*rule.operations, rule.evidence.merges)
    DropParam(name='ref') 8
    DropParam(name='id') 4
    """
    steps = by_step(accepted)
    applied = Applied(steps)
    number = 0
    while number < len(steps):
        heir = _heir(number, steps[number], applied)
        if heir is None:
            number += 1
            continue
        rule = steps[heir]
        saved = steps[number].evidence.merges + rule.evidence.merges
        steps[heir] = rule._replace(evidence=replace(rule.evidence, merges=saved))
        del steps[number]
        applied = Applied(steps)
    return steps


def _heir(number: int, rule: Accepted, applied: Applied) -> int | None:
    """Return which other rule does first what a rule does; None where they do not all of it."""
    form = partial(applied.once, without=number)
    examples = list(_examples(rule))
    if not examples or any(
        rule.apply(example) == example or form(example) != form(rule.apply(example))
        for example in examples
    ):
        return None
    return next((other for other in applied.changing(examples[0]) if other != number), None)


def _examples(rule: Accepted) -> Iterator[Location]:
    """Yield URLs that a rule changes, with nothing in them that another one asks for.

    What is done to these is done to all that the rule changes. A place for paths is one for those
    of any depth.
    """
    scope, (step,) = rule.scope, rule.operations
    condition = scope.condition.replace(ANY_VALUE, "=anything")
    if isinstance(step, RewriteTemplates):
        for path in ("path", "path/of/any/depth"):
            yield _located(scope.host, _filled(as_template(step.source), path), condition)
    elif step.drops:
        (name,) = step.drops
        path = "".join(f"/{segment}" for segment in (*scope.segments, "anything"))
        value = "anything" if step.default is None else step.default
        yield _located(scope.host, f"{path}?{name}={value}", condition)


def _filled(template: str, path: str) -> str:
    """Return a text that fits a template, each place with another one."""
    numbers = count(900001)
    fillings = {":digits": "{}", ":path": "{}" + path, None: "any{}thing"}
    return _PLACE.sub(lambda place: fillings[place[1]].format(next(numbers)), template)


def _located(host: str, text: str, condition: str) -> Location:
    has_query = "?" in text
    condition = condition and ("&" if has_query else "?") + condition
    return locate(f"http://{host}{text}{condition}")
