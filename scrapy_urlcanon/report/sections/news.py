"""The curve of news over fetches of an ordered crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.novelty.progress import words_after
from scrapy_urlcanon.report.section import Section

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.crawl.order.progress import CrawlNews
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_WIDTH, _HEIGHT = 600, 200
_SHOWN = (10, 25, 50, 100)


@frozen
class Point:
    """How many words of news there were after this many fetches."""

    fetches: int
    words: int


class NewsCurve(Section):
    """The words of news over fetches, if ``URLCANON_ORDER`` was on."""

    place = 67
    name = "news"
    label = "What was new"
    heading = label
    key = "news"
    row = Point
    since = 4

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._points: tuple[Point, ...] = ()

    def note_news(self, news: CrawlNews) -> None:
        self._points = tuple(Point(fetches, words) for fetches, words in news.curve if fetches)

    def rows(self) -> tuple[Point, ...]:
        return self._points

    @classmethod
    def check(cls, report: Report) -> None:
        for number, point in enumerate(report.rows(Point)):
            if not point.fetches:
                raise ReportError(f"news[{number}].fetches: expected 1 or more, got 0")

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        points = report.rows(Point)
        if not points:
            return None
        fetches, words = points[-1].fetches, max(points[-1].words, 1)
        line = " ".join(
            f"{_WIDTH * point.fetches / fetches:.1f},{_HEIGHT * (1 - point.words / words):.1f}"
            for point in points
        )
        deciles = report.figures_under("novelty/decile/")
        return {
            "line": f"0,{_HEIGHT} {line}",
            "width": _WIDTH,
            "height": _HEIGHT,
            "last": points[-1],
            "parts": _parts(points),
            "deciles": [
                {
                    "number": number,
                    "fetches": deciles[f"{number}/fetches"],
                    "expected": deciles.get(f"{number}/expected", 0) / 10,
                    "observed": deciles.get(f"{number}/observed", 0) / 10,
                }
                for number in range(10)
                if deciles.get(f"{number}/fetches")
            ],
            "left": report.figure("novelty/left"),
        }

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        rows = [
            (f"{words:,}", f"words of news after {part} % of the fetches")
            for part, words in _parts(report.rows(Point))
        ]
        left = report.figure("novelty/left")
        if left:
            rows.append((f"{left:,}", "requests not fetched, since nothing new was expected"))
        screen.table(rows)


def _parts(points: tuple[Point, ...]) -> list[tuple[int, int]]:
    """Return the number of new words after some percentages of the fetches."""
    curve = [(point.fetches, point.words) for point in points]
    return [(part, words_after(part, curve)) for part in _SHOWN]
