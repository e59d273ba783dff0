"""What a section of a report is: what it collects, what it stores and how it shows that."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy_urlcanon.discovery import classes_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.order.progress import CrawlNews
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen


class Section:
    """A section of a report.

    A subclass in a module of :mod:`scrapy_urlcanon.report.sections` is all there is to it; beside
    the module lies ``{name}.html.jinja`` where the section is on the HTML page. An instance
    collects the rows of one crawl, which are stored in the report; the class methods show them.
    """

    place: ClassVar[int]
    """Sections stand in the order of these."""
    name: ClassVar[str]
    """Names the template; the section is found under it on the page."""
    label: ClassVar[str] = ""
    """What leads to it from the top of the page; nothing does where it is empty."""
    key: ClassVar[str] = ""
    """Under which the JSON form has its rows; empty where it stores nothing of its own."""
    row: ClassVar[type[Any]]
    """Of its rows: an attrs class of what :func:`~scrapy_urlcanon.report.decoding.decode` takes."""
    since: ClassVar[int] = 1
    """The first version of the JSON form that has it: one more than the version before it."""

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        """Begin to collect.

        :param canonicalizer: that of the crawl.
        """
        self._canonicalizer = canonicalizer

    def note_drop(self, drop: Drop) -> None:
        """Note a request that was dropped."""

    def note_page(self, canonical: str, domain: str) -> None:
        """Note that the page with this *canonical* URL of *domain* was fetched."""

    def note_audit(self, pair: AuditedPair) -> None:
        """Note a dropped variant that was fetched all the same, to compare it."""

    def note_suspension(self, entry: RuleEntry, domain: str) -> None:
        """Note, at the end, that *entry* was turned off on *domain*, perhaps in a run before."""

    def note_software(self, installation: Installation) -> None:
        """Note, at the end, a program that was recognised, perhaps in a run before."""

    def note_news(self, news: CrawlNews) -> None:
        """Note, at the end, what an ordered crawl brought."""

    def note_figures(self, figures: Mapping[str, int]) -> None:
        """Note, at the end, the *figures* of the crawl: its stats without ``urlcanon/``."""

    def rows(self) -> tuple[Any, ...]:
        """Return what was collected."""
        return ()

    @classmethod
    def check(cls, report: Report) -> None:
        """Find rows that contradict each other, as after an edit by hand.

        :raises ReportError: if there are any.
        """

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        """Return what its template is filled with, or None where it is not on the page."""
        del report
        return None

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        """Print it at the terminal."""


@cache
def sections() -> tuple[type[Section], ...]:
    """Return all sections in their order."""
    return classes_in("scrapy_urlcanon.report.sections", Section)
