"""The report of one crawl."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - decode() reads the annotations
from typing import Any, TypeVar

from attrs import field, frozen

from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.crawl.stats import NO_NEWS, figures_under
from scrapy_urlcanon.version import __version__

Row = TypeVar("Row")


def generator() -> str:
    """Return the name and version of what makes reports."""
    return f"scrapy-urlcanon {__version__}"


@frozen
class Report:
    """What one crawl dropped and why. URLs are redacted; where there are many, samples are kept."""

    spider: str
    started: str
    """ISO 8601 in UTC; empty if unknown."""
    finished: str
    finish_reason: str
    figures: Mapping[str, int]
    """The stats whose names begin with ``urlcanon/``, by the rest of the name."""
    contents: Mapping[type, tuple[Any, ...]] = field(factory=dict)
    """The rows of each section, by the class of the rows."""
    generator: str = field(factory=generator)

    @property
    def began(self) -> str:
        """The time of the start, as text."""
        return f"{self.started.replace('T', ' ').removesuffix('+00:00')} UTC"

    @property
    def is_whole(self) -> bool:
        """Whether the crawl finished; Scrapy has another reason if it was closed."""
        return self.finish_reason == "finished"

    @property
    def ended(self) -> str:
        """How it ended, as text."""
        if self.is_whole:
            return self.finish_reason
        if self.finish_reason == NO_NEWS:
            return f"ended by {name_of('stop')}"
        return f"cut short: {self.finish_reason}" if self.finish_reason else "cut short"

    def rows(self, kind: type[Row]) -> tuple[Row, ...]:
        """Return the rows of class *kind*, which are those of one section."""
        return self.contents.get(kind, ())

    def figure(self, name: str) -> int:
        """Return the stat ``urlcanon/{name}``, or 0 if it was not counted."""
        return self.figures.get(name, 0)

    def figures_under(self, prefix: str) -> dict[str, int]:
        """Return the stats ``urlcanon/{prefix}...`` by the rest of their names."""
        return figures_under(prefix, self.figures)
