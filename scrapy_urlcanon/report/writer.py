"""The extension that writes the report of a crawl to the paths of ``URLCANON_REPORT``."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.misc import load_object

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.answers import is_success
from scrapy_urlcanon.crawl.crawl import Crawl
from scrapy_urlcanon.crawl.settings import REPORT_FORMATS, name_of
from scrapy_urlcanon.crawl.stats import PREFIX
from scrapy_urlcanon.files import has_time, write_atomically
from scrapy_urlcanon.redaction import redact_rule
from scrapy_urlcanon.report.destination import destinations, write_untaken
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.section import sections

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class ReportWriter:
    """Writes the report after the engine has stopped, when figures no longer change.

    :raises NotConfigured: if another fingerprinter decides what a duplicate is (:class:`.Crawl`
        warns of that), or if no spider crawls, as in ``scrapy shell``, which would overwrite the
        report of the last crawl.
    :raises ConfigurationError: if a report cannot be written at its path.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension of *crawler*."""
        crawl = Crawl.of(crawler)
        if crawl.fingerprinter is None or not crawl.is_run:
            raise NotConfigured
        writer = cls(crawler, crawl)
        crawler.signals.connect(writer.response_received, signals.response_received)
        crawler.signals.connect(writer.engine_stopped, signals.engine_stopped)
        return writer

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._started = datetime.now(timezone.utc)
        self._spider = (crawler.spider or crawler.spidercls).name
        # Checked before the first request, not at the end of a crawl of three days.
        templates = crawl.settings.report
        paths = destinations(templates, name=self._spider, time=self._started)
        self._forms = {path: load_object(REPORT_FORMATS[path.suffix.lower()]) for path in paths}
        self._dated = {
            path for path, template in zip(paths, templates, strict=True) if has_time(template)
        }
        self._sections = [section(crawl.canonicalizer) for section in sections()]
        for section in self._sections:
            if crawl.dropped:
                crawl.dropped.reporters.append(section.note_drop)
            if crawl.audit:
                crawl.audit.on_audited.append(section.note_audit)

    def response_received(self, response: Response, request: Request) -> None:
        """Note the page that *request* led to, if it led to one."""
        # The recorder's second visit to a page is without a callback, as a robots.txt is.
        if not is_success(response) or request.callback is NO_CALLBACK:
            return
        canonical = self._crawl.canonical_urls.of(request)
        if canonical:
            domain = domain_or_host(split(canonical).host)
            for section in self._sections:
                section.note_page(canonical, domain)

    def engine_stopped(self) -> None:
        """Write the report to each path; an error at one does not stop the others."""
        report = self._report()
        for named, form in self._forms.items():
            path = named
            try:
                # The directory was there when the crawl began, but may have been removed since.
                path.parent.mkdir(parents=True, exist_ok=True)
                if path in self._dated:
                    path = write_untaken(path, form(report))
                else:
                    self._tell_of_another_at(path)
                    write_atomically(path, form(report))
            except OSError as error:
                logger.error(  # noqa: TRY400 - the message says it all
                    "The report %(path)s cannot be written: %(error)s",
                    {"path": path, "error": error.strerror or error},
                    extra={"spider": self._crawler.spider},
                )
            except Exception:
                logger.exception(
                    "The report %(path)s could not be made",
                    {"path": path},
                    extra={"spider": self._crawler.spider},
                )
            else:
                logger.info(
                    "The report is in %(path)s",
                    {"path": path},
                    extra={"spider": self._crawler.spider},
                )

    def _tell_of_another_at(self, path: Path) -> None:
        """Log that the report at *path* is overwritten, if a crawl beside this one wrote it."""
        if path.exists() and path.stat().st_mtime > self._started.timestamp():
            logger.warning(
                "The report %(path)s takes the place of one that was written while this crawl ran. "
                "%%(name)s or %%(time)s in %(setting)s gives each crawl a file of its own.",
                {"path": path, "setting": name_of("report")},
                extra={"spider": self._crawler.spider},
            )

    def _report(self) -> Report:
        stats = self._crawler.stats.get_stats()
        figures = _figures(stats)
        suspended = self._crawl.rule_changes.suspended
        software = self._crawl.software.installations if self._crawl.software else ()
        news = self._crawl.ordered.news if self._crawl.ordered else None
        for section in self._sections:
            for entry, domain in suspended:
                section.note_suspension(entry, domain)
            for installation in software:
                section.note_software(installation)
            if news:
                section.note_news(news)
            section.note_figures(figures)
        return Report(
            spider=self._spider,
            started=_written(self._started),
            finished=_written(datetime.now(timezone.utc)),
            finish_reason=str(stats.get("finish_reason", "")),
            figures=figures,
            contents={section.row: section.rows() for section in self._sections if section.key},
        )


def _figures(stats: Mapping[str, object]) -> dict[str, int]:
    """Return the numbers among our *stats*, without their prefix and without secrets."""
    figures: dict[str, int] = {}
    for stat, value in sorted(stats.items()):
        if stat.startswith(PREFIX) and isinstance(value, int):
            name = redact_rule(stat.removeprefix(PREFIX))
            # Rules that differ only in a secret have one name.
            figures[name] = figures.get(name, 0) + value
    return figures


def _written(time: datetime) -> str:
    return time.replace(microsecond=0).isoformat()
