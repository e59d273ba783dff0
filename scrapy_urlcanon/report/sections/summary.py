"""Shows what became of all requests: as figures, as bars, and as shapes of an SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.crawl.stats import OWN_REQUESTS
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.report.sections.audit import AuditedRule

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

WIDTH = 1000
HEIGHT = 240
_MIDDLE = WIDTH // 2
_NODE = 8
"""Width of the bar at the end of a stream."""
_GAP = 24
"""The space between streams that have parted."""
_THINNEST = 3
"""The least height of a stream with at least one request."""
_BAR = 32
"""The length of a full bar at the terminal, in characters."""


@frozen
class Funnel:
    """How many requests there were, and what became of them.

    >>> funnel = Funnel(seen=10, same_for_scrapy=4, saved_by_rules=1)
    >>> funnel.to_fetch, f"{funnel.saved_share:.1%}"
    (5, '16.7%')

    Requests that the plugin sent itself are among those to fetch. The spider did not ask for them:
    the drop that each was sent for saved nothing.
    """

    seen: int
    same_for_scrapy: int
    """Dropped; plain Scrapy would have dropped them too."""
    saved_by_rules: int
    """Dropped; plain Scrapy would have fetched them."""
    own: int = 0
    """How many of those to fetch the plugin sent: to compare pages, or in place of others."""

    @classmethod
    def of(cls, report: Report) -> Funnel:
        """Return the funnel of *report*."""
        dropped = report.figure("dropped")
        saved = min(report.figure("dropped/scrapy_would_keep"), dropped)
        # No drop was counted as saved for a skipped URL that is fetched after all.
        of_skipped = sum(
            rule.compared + rule.cannot_tell
            for rule in report.rows(AuditedRule)
            if rule.rule.startswith(f"{SKIP}:")
        )
        own = min(
            max(sum(report.figure(stat.value) for stat in OWN_REQUESTS) - of_skipped, 0), saved
        )
        return cls(report.figure("requests") - own, dropped - saved, saved - own, own)

    @property
    def to_fetch(self) -> int:
        """How many were not dropped."""
        return self.seen - self.same_for_scrapy - self.saved_by_rules

    @property
    def saved_share(self) -> float:
        """The share that the rules saved of what plain Scrapy would have fetched, from 0 to 1."""
        new = self.saved_by_rules + self.to_fetch
        return self.saved_by_rules / new if new else 0.0

    def figures(self) -> dict[str, int]:
        """Return the figures by their labels."""
        return {
            "requests seen": self.seen,
            "same for Scrapy": self.same_for_scrapy,
            "saved by rules": self.saved_by_rules,
            "to fetch": self.to_fetch,
        }

    def share(self, count: int) -> float:
        """Return *count* as a share of all requests, from 0 to 1."""
        return count / self.seen if self.seen else 0.0

    def streams(self) -> tuple[Stream, ...]:
        """Return the streams from left to right."""
        height = HEIGHT - _GAP
        same = self._height(self.same_for_scrapy, height)
        saved = self._height(self.saved_by_rules, height)
        fetched = max(height - same - saved, self._height(self.to_fetch, height))
        new = saved + fetched
        return (
            Stream("same", 0, new, _MIDDLE, HEIGHT - same, same),
            Stream("new", 0, 0, _MIDDLE, 0, new),
            Stream("saved", _MIDDLE, fetched, WIDTH - _NODE, fetched + _GAP, saved),
            Stream("fetched", _MIDDLE, 0, WIDTH - _NODE, 0, fetched),
        )

    def _height(self, count: int, whole: float) -> float:
        return max(self.share(count) * whole, _THINNEST) if count else 0.0


@frozen
class Stream:
    """A band of constant height from one place to another."""

    name: str
    left: float
    left_top: float
    right: float
    right_top: float
    height: float

    @property
    def path(self) -> str:
        """The outline, as the ``d`` of an SVG path."""
        bend = (self.left + self.right) / 2
        top, bottom = self.left_top, self.left_top + self.height
        right_bottom = self.right_top + self.height
        return (
            f"M{self.left:g} {top:.1f}"
            f"C{bend:g} {top:.1f} {bend:g} {self.right_top:.1f} {self.right:g} {self.right_top:.1f}"
            f"V{right_bottom:.1f}"
            f"C{bend:g} {right_bottom:.1f} {bend:g} {bottom:.1f} {self.left:g} {bottom:.1f}Z"
        )

    @property
    def node_width(self) -> int:
        """The width of the bar at its right end."""
        return _NODE


class Summary(Section):
    """The funnel: how many requests were dropped, and how many of those the rules saved."""

    place = 10
    name = "summary"

    @classmethod
    def context(cls, report: Report) -> dict[str, Any]:
        return {"funnel": Funnel.of(report), "width": WIDTH, "height": HEIGHT}

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        funnel = Funnel.of(report)
        styles = ("", "dim", "yellow", "green")
        rows = []
        for (label, count), style in zip(funnel.figures().items(), styles, strict=True):
            bar = screen.bar(funnel.share(count) * _BAR)
            rows.append((f"{count:,}", label, (bar, style)))
        if funnel.own:
            rows.append((f"{funnel.own:,}", "  of the plugin", ("", "")))
        screen.table(rows)
