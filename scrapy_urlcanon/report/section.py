"""Report sections: what each collects, stores and shows, and how the terminal shows all of them."""

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

    To add one, put a subclass into a module of :mod:`scrapy_urlcanon.report.sections`, and for the
    HTML page a template ``{name}.html.jinja`` beside it. An instance collects the rows of one
    crawl, which are stored in the report; the class methods show them.
    """

    place: ClassVar[int]
    """Sections are shown in ascending order of this."""
    name: ClassVar[str]
    """The name of its template, and the anchor of the section on the page."""
    label: ClassVar[str] = ""
    """The text of the link to it at the top of the page; without a link if it is empty."""
    heading: ClassVar[str] = ""
    """The heading of its rows at the terminal; they are not printed there if it is empty."""
    key: ClassVar[str] = ""
    """The key of its rows in the JSON form; empty if it stores nothing."""
    row: ClassVar[type[Any]]
    """The class of its rows: an attrs class that :func:`.decode` can read."""
    since: ClassVar[int] = 1
    """The first version of the JSON form that has it. A new section needs a new version."""

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        """Start to collect.

        :param canonicalizer: the canonicalizer of the crawl.
        """
        self._canonicalizer = canonicalizer

    def note_drop(self, drop: Drop) -> None:
        """Note a request that was dropped."""

    def note_page(self, canonical: str, domain: str) -> None:
        """Note that the page with this *canonical* URL of *domain* was fetched."""

    def note_audit(self, pair: AuditedPair) -> None:
        """Note the result of an audit: a dropped variant that was fetched to compare it."""

    def note_suspension(self, entry: RuleEntry, domain: str) -> None:
        """Note at the end that *entry* was suspended on *domain*, in this or an earlier run."""

    def note_software(self, installation: Installation) -> None:
        """Note at the end a program that was recognised, in this or an earlier run."""

    def note_news(self, news: CrawlNews) -> None:
        """Note at the end what an ordered crawl brought."""

    def note_figures(self, figures: Mapping[str, int]) -> None:
        """Note at the end the *figures* of the crawl: its stats without ``urlcanon/``."""

    def rows(self) -> tuple[Any, ...]:
        """Return what was collected."""
        return ()

    @classmethod
    def check(cls, report: Report) -> None:
        """Check that the rows do not contradict each other, as after an edit by hand.

        :raises ReportError: if they do.
        """

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        """Return the variables for its template, or None if it is not on the page."""
        del report
        return None

    @classmethod
    def show(cls, report: Report, screen: Screen) -> None:
        """Print it at the terminal: its rows under its heading, if it has both."""
        if cls.key and cls.heading and report.rows(cls.row):
            screen.heading(cls.heading)
            cls.show_rows(report, screen)

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        """Print the rows, of which there is at least one, below the heading."""


@cache
def sections() -> tuple[type[Section], ...]:
    """Return all sections in their order."""
    return classes_in("scrapy_urlcanon.report.sections", Section)


def show_report(report: Report, screen: Screen) -> None:
    """Print *report* at the terminal, section by section."""
    screen.line((report.spider, "bold"), (f"  {report.began}, {report.ended}", "dim"))
    screen.line()
    for section in sections():
        section.show(report, screen)
