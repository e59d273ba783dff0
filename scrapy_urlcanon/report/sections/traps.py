"""The traps: kinds of URLs that took the most fetches and brought next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.redaction import redact
from scrapy_urlcanon.report.section import Section

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.order.progress import CrawlNews
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_MOST = 50


@frozen
class TrapRow:
    """A kind of URLs that brought next to nothing."""

    kind: str
    fetches: int
    words: int
    """Words of news."""
    setting: str
    """A line for ``URLCANON_RULES`` that would end it; empty if that could end more."""


class Traps(Section):
    """The kinds of URLs that brought next to nothing, each with a line that excludes it."""

    place = 68
    name = "traps"
    label = "Traps"
    heading = label
    key = "traps"
    row = TrapRow
    since = 4

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._traps: tuple[TrapRow, ...] = ()

    def note_news(self, news: CrawlNews) -> None:
        # The line needs no redaction: it has names of parameters, and placeholders for their
        # values.
        self._traps = tuple(
            TrapRow(redact(trap.kind), trap.fetches, trap.new, trap.setting)
            for trap in news.traps[:_MOST]
        )

    def rows(self) -> tuple[TrapRow, ...]:
        return self._traps

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        traps = report.rows(TrapRow)
        return {"traps": traps} if traps else None

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        for trap in report.rows(TrapRow):
            screen.line(f"{trap.fetches:10,}  ", (trap.kind, "cyan"), f"  {trap.words:,} new words")
            if trap.setting:
                screen.line((trap.setting, "dim"), indent=12)
