"""The report of one crawl."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - decode() reads the annotations
from typing import Any, TypeVar

from attrs import field, frozen

from scrapy_urlcanon.crawl.stats import figures_under
from scrapy_urlcanon.version import __version__

Row = TypeVar("Row")


def generator() -> str:
    """Return the name and version of what makes reports."""
    return f"scrapy-urlcanon {__version__}"


@frozen
class Report:
    """What one crawl dropped and why. URLs are redacted, and samples where many."""

    spider: str
    started: str
    """ISO 8601, UTC; empty where unknown."""
    finished: str
    finish_reason: str
    figures: Mapping[str, int]
    """The stats whose names begin with ``urlcanon/``, by the rest of the name."""
    contents: Mapping[type, tuple[Any, ...]] = field(factory=dict)
    """The rows of each section, by their class."""
    generator: str = field(factory=generator)

    @property
    def began(self) -> str:
        """When it was started, as text."""
        return f"{self.started.replace('T', ' ').removesuffix('+00:00')} UTC"

    @property
    def is_whole(self) -> bool:
        """Whether the crawl came to its end; Scrapy has another reason where it was closed."""
        return self.finish_reason == "finished"

    @property
    def ended(self) -> str:
        """How it ended, as text."""
        if self.is_whole:
            return self.finish_reason
        return f"cut short: {self.finish_reason}" if self.finish_reason else "cut short"

    def rows(self, kind: type[Row]) -> tuple[Row, ...]:
        """Return the rows of a section, which are of the class *kind*."""
        return self.contents.get(kind, ())

    def figure(self, name: str) -> int:
        """Return the stat ``urlcanon/{name}``, 0 where it was not counted."""
        return self.figures.get(name, 0)

    def figures_under(self, prefix: str) -> dict[str, int]:
        """Return the stats ``urlcanon/{prefix}...`` by the rest of their names."""
        return figures_under(prefix, self.figures)
