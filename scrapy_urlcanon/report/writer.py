"""The extension that writes the report of a crawl where ``URLCANON_REPORT`` says."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.state import CrawlState
from scrapy_urlcanon.files import write_atomically
from scrapy_urlcanon.report.destination import SETTING, destinations
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.formats import FORMATS
from scrapy_urlcanon.report.section import sections

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.crawl.fingerprinter import RequestFingerprinter

logger = logging.getLogger(__name__)

_STATS = "urlcanon/"
_SUCCESS = range(200, 300)


class ReportWriter:
    """Writes the report once the engine has stopped: no figure changes after that.

    :raises NotConfigured: if another fingerprinter decides what a duplicate is, which
        :class:`~scrapy_urlcanon.UrlCanonDownloaderMiddleware` warns of.
    :raises ConfigurationError: if a report could not be written in the end.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension of *crawler*."""
        state = CrawlState.of(crawler)
        if state.fingerprinter is None:
            raise NotConfigured
        writer = cls(crawler, state, state.fingerprinter)
        crawler.signals.connect(writer.response_received, signals.response_received)
        crawler.signals.connect(writer.engine_stopped, signals.engine_stopped)
        return writer

    def __init__(
        self, crawler: Crawler, state: CrawlState, fingerprinter: RequestFingerprinter
    ) -> None:
        self._crawler = crawler
        self._state = state
        self._started = datetime.now(timezone.utc)
        self._spider = (crawler.spider or crawler.spidercls).name
        # Before the first request: not at the end of a crawl of three days.
        self._paths = destinations(
            crawler.settings.get(SETTING), name=self._spider, time=self._started
        )
        self._sections = [section(state.canonicalizer) for section in sections()]
        fingerprinter.dropped.listeners += [section.note_drop for section in self._sections]

    def response_received(self, response: Response, request: Request) -> None:
        """Note what *request* led to, where it led to a page."""
        if response.status not in _SUCCESS:
            return
        canonical = self._state.canonical(request)
        if canonical:
            domain = domain_or_host(split(canonical).host)
            for section in self._sections:
                section.note_page(canonical, domain)

    def engine_stopped(self) -> None:
        """Write the report to each path; one that fails stops no other."""
        report = self._report()
        for path in self._paths:
            try:
                write_atomically(path, FORMATS[path.suffix.lower()](report))
            except OSError as error:
                logger.error(  # noqa: TRY400 - the message says it all
                    "The report %(path)s cannot be written: %(error)s",
                    {"path": path, "error": error},
                    extra={"spider": self._crawler.spider},
                )
            else:
                logger.info(
                    "The report is in %(path)s",
                    {"path": path},
                    extra={"spider": self._crawler.spider},
                )

    def _report(self) -> Report:
        stats = self._crawler.stats.get_stats()
        figures = {
            name.removeprefix(_STATS): value
            for name, value in sorted(stats.items())
            if name.startswith(_STATS) and isinstance(value, int)
        }
        return Report(
            spider=self._spider,
            started=_written(self._started),
            finished=_written(datetime.now(timezone.utc)),
            finish_reason=str(stats.get("finish_reason", "")),
            figures=figures,
            contents={
                section.row: section.rows(figures) for section in self._sections if section.key
            },
        )


def _written(time: datetime) -> str:
    return time.replace(microsecond=0).isoformat()
