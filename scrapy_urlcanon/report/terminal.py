"""Prints the report at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.report.section import sections

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen


def show_report(report: Report, screen: Screen) -> None:
    """Print *report*, section by section."""
    screen.line((report.spider, "bold"), (f"  {report.began}, {report.ended}", "dim"))
    screen.line()
    for section in sections():
        section.show(report, screen)
