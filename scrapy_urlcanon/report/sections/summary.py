"""What became of all requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.report import funnel
from scrapy_urlcanon.report.section import Section

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_BAR = 32


class Summary(Section):
    """The funnel: how many requests were dropped, and how many of those the rules saved."""

    place = 10
    name = "summary"

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        return {"funnel": funnel.Funnel.of(report), "geometry": funnel}

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        figures = funnel.Funnel.of(report)
        rows = []
        for count, label, style in (
            (figures.seen, "requests seen", ""),
            (figures.same_for_scrapy, "same for Scrapy", "dim"),
            (figures.saved_by_rules, "saved by rules", "yellow"),
            (figures.to_fetch, "to fetch", "green"),
        ):
            bar = "█" * round(figures.share(count) * _BAR) or ("▏" if count else "")
            rows.append((f"{count:,}", label, (bar, style)))
        screen.table(rows)
