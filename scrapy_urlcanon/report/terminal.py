"""The report, and the comparison of two, at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.report.section import sections

if TYPE_CHECKING:
    from scrapy_urlcanon.report.comparison import Change, Comparison
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen


def show_report(report: Report, screen: Screen) -> None:
    """Print *report*, section by section."""
    started = report.started.replace("T", " ").removesuffix("+00:00")
    screen.line((report.spider, "bold"), (f"  {started} UTC", "dim"))
    screen.line()
    for section in sections():
        section.show(report, screen)


def show_comparison(comparison: Comparison, screen: Screen) -> None:
    """Print *comparison*."""
    for title, changes in (
        ("", comparison.figures),
        ("By option", comparison.options),
        ("By domain", comparison.domains),
    ):
        if title and changes:
            screen.heading(title)
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
