"""Compares two runs of a crawl: before and after a change of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from scrapy_urlcanon.report.sections.domains import OTHER, Domain
from scrapy_urlcanon.report.sections.options import Option
from scrapy_urlcanon.report.sections.summary import Funnel

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_LISTED = 10
_EVENTS = (
    ("redirect_hops", "redirects to their own canonical form"),
    ("rescued", "rescued"),
    ("audited", "audited"),
    ("audit/false_merge", "audits that found another page"),
    ("unparsable", "URLs that could not be parsed"),
)
"""Figures that are shown only if one of the runs has them."""


@frozen
class Change:
    """A figure in two runs.

    >>> Change("dropped", 200, 150).written, Change("dropped", 0, 7).written
    ('-50 (-25 %)', '+7')
    """

    name: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        """The figure of the second run minus that of the first."""
        return self.after - self.before

    @property
    def written(self) -> str:
        """The difference as text, with its share of the first figure in percent."""
        if not self.difference:
            return "same"
        share = f" ({self.difference / self.before:+.0%})".replace("%", " %") if self.before else ""
        return f"{self.difference:+,}{share}"


@frozen
class Comparison:
    """The figures of two runs."""

    before: Report
    after: Report
    figures: tuple[Change, ...]
    options: tuple[Change, ...]
    """The dropped variants by option, the largest changes first."""
    domains: tuple[Change, ...]
    """The dropped requests by domain, the largest changes first; at most ten."""


def compare(before: Report, after: Report) -> Comparison:
    """Return what changed from the run *before* to the run *after*."""
    funnels = Funnel.of(before).figures(), Funnel.of(after).figures()
    figures = [Change(label, *(funnel[label] for funnel in funnels)) for label in funnels[0]]
    events = [Change(text, before.figure(name), after.figure(name)) for name, text in _EVENTS]
    skipped = (sum(run.figures_under("skipped/").values()) for run in (before, after))
    events.append(Change("skipped", *skipped))
    return Comparison(
        before,
        after,
        (*figures, *(change for change in events if change.before or change.after)),
        _changes(before, after, Option),
        _changes(before, after, Domain)[:_LISTED],
    )


def _changes(before: Report, after: Report, kind: type[Option | Domain]) -> tuple[Change, ...]:
    old, new = ({row.name: row.dropped for row in run.rows(kind)} for run in (before, after))
    # A domain that one run does not list may be among its others.
    known = (
        name
        for name in old.keys() | new
        if all(name in run or OTHER not in run for run in (old, new))
    )
    changes = (Change(name, old.get(name, 0), new.get(name, 0)) for name in known)
    return tuple(sorted(changes, key=lambda change: (-abs(change.difference), change.name)))


def show_comparison(comparison: Comparison, screen: Screen) -> None:
    """Print *comparison*."""
    runs = (comparison.before, comparison.after)
    screen.table(
        (
            (
                (name, "dim"),
                (run.spider, "bold"),
                run.began,
                (run.ended, "" if run.is_whole else "bold yellow"),
            )
            for name, run in zip(("before", "after"), runs, strict=True)
        ),
        numbers=0,
    )
    if not all(run.is_whole for run in runs):
        screen.line(("A run that did not finish has not seen the whole site.", "yellow"))
    screen.line()
    for title, changes in (
        ("", comparison.figures),
        ("By option", comparison.options),
        ("By domain", comparison.domains),
    ):
        if title and changes:
            screen.heading(title)
        if changes:
            _show_changes(changes, screen)
    if not any(change.difference for change in comparison.figures):
        screen.line(("The two runs have the same figures.", "dim"))


def _show_changes(changes: tuple[Change, ...], screen: Screen) -> None:
    headings = [(heading, "dim") for heading in ("before", "after", "change", "")]
    rows = (
        (
            f"{change.before:,}",
            f"{change.after:,}",
            (change.written, "bold" if change.difference else "dim"),
            change.name,
        )
        for change in changes
    )
    screen.table([headings, *rows], numbers=3)
