"""What changed between two runs: before and after a change of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.report.funnel import Funnel
from scrapy_urlcanon.report.sections.domains import Domain
from scrapy_urlcanon.report.sections.options import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.report.document import Report

_LISTED = 10


@frozen
class Change:
    """A figure of two runs.

    >>> Change("dropped", 200, 150).written, Change("dropped", 0, 7).written
    ('-50 (-25 %)', '+7')
    """

    name: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        """How much more it is in the second run; negative where it is less."""
        return self.after - self.before

    @property
    def written(self) -> str:
        """The difference as text, with its part of the first figure."""
        if not self.difference:
            return "same"
        share = f" ({self.difference / self.before:+.0%})".replace("%", " %") if self.before else ""
        return f"{self.difference:+,}{share}"


@frozen
class Comparison:
    """The figures of two runs."""

    figures: tuple[Change, ...]
    options: tuple[Change, ...]
    """The dropped variants by option, those that changed most first."""
    domains: tuple[Change, ...]
    """The dropped requests by domain, those that changed most first; no more than ten."""


def compare(before: Report, after: Report) -> Comparison:
    """Return what changed from the run *before* to the run *after*."""
    old, new = Funnel.of(before), Funnel.of(after)
    figures = [
        Change("requests seen", old.seen, new.seen),
        Change("same for Scrapy", old.same_for_scrapy, new.same_for_scrapy),
        Change("saved by rules", old.saved_by_rules, new.saved_by_rules),
        Change("to fetch", old.to_fetch, new.to_fetch),
    ]
    for name, label in (
        ("redirect_hops", "redirects to their own canonical form"),
        ("rescued", "rescued"),
        ("audited", "audited"),
        ("audit/false_merge", "audits that found another page"),
        ("unparsable", "URLs that could not be parsed"),
    ):
        change = Change(label, before.figure(name), after.figure(name))
        if change.before or change.after:
            figures.append(change)
    skipped = Change(
        "skipped", *(sum(run.figures_under("skipped/").values()) for run in (before, after))
    )
    if skipped.before or skipped.after:
        figures.append(skipped)
    options = _changes(
        {option.name: option.dropped for option in before.rows(Option)},
        {option.name: option.dropped for option in after.rows(Option)},
    )
    domains = _changes(
        {domain.name: domain.dropped for domain in before.rows(Domain)},
        {domain.name: domain.dropped for domain in after.rows(Domain)},
    )
    return Comparison(tuple(figures), options, domains[:_LISTED])


def _changes(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Change, ...]:
    changes = (
        Change(name, before.get(name, 0), after.get(name, 0)) for name in before.keys() | after
    )
    return tuple(sorted(changes, key=lambda change: (-abs(change.difference), change.name)))
