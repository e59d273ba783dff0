"""The extension that writes the report of a crawl where ``URLCANON_REPORT`` says."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.canonicalizer.rules.template import Skip
from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.state import CrawlState
from scrapy_urlcanon.report.collector import DropCollector
from scrapy_urlcanon.report.destination import SETTING, destinations
from scrapy_urlcanon.report.document import Report
from scrapy_urlcanon.report.formats import FORMATS
from scrapy_urlcanon.report.options import options_of
from scrapy_urlcanon.report.parameters import VaryingParameters

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_urlcanon.canonicalizer import Explanation
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
        self._destinations = destinations(
            crawler.settings.get(SETTING), name=self._spider, time=self._started
        )
        self._drops = DropCollector(self._explain)
        self._parameters = VaryingParameters()
        fingerprinter.dropped.listeners.append(self._drops.add)

    def response_received(self, response: Response, request: Request) -> None:
        """Note the parameters of *request* that no rule drops, where it led to a page."""
        if "?" not in request.url or response.status not in _SUCCESS:
            return
        canonical = self._state.canonical(request)
        if canonical:
            host = split(canonical).host
            self._parameters.add(canonical, domain_or_host(host))

    def engine_stopped(self) -> None:
        """Write the report to each destination; one that fails stops no other."""
        report = self._report()
        for destination in self._destinations:
            try:
                destination.write(FORMATS[destination.suffix](report))
            except OSError as error:
                logger.error(  # noqa: TRY400 - the message says it all
                    "The report %(path)s cannot be written: %(error)s",
                    {"path": destination.path, "error": error},
                    extra={"spider": self._crawler.spider},
                )
            else:
                logger.info(
                    "The report is in %(path)s",
                    {"path": destination.path},
                    extra={"spider": self._crawler.spider},
                )

    def _report(self) -> Report:
        stats = self._crawler.stats.get_stats()
        figures = {
            name.removeprefix(_STATS): value
            for name, value in sorted(stats.items())
            if name.startswith(_STATS) and isinstance(value, int)
        }
        rule = "dropped/rule/"
        dropped = {
            name.removeprefix(rule): count
            for name, count in figures.items()
            if name.startswith(rule)
        }
        skipped = sum(count for name, count in figures.items() if name.startswith("skipped/"))
        if skipped:
            dropped[Skip.name] = skipped
        return Report(
            spider=self._spider,
            started=_written(self._started),
            finished=_written(datetime.now(timezone.utc)),
            finish_reason=str(stats.get("finish_reason", "")),
            figures=figures,
            options=options_of(self._state.canonicalizer.configuration, dropped),
            domains=self._drops.domains(),
            groups=self._drops.groups(),
            parameters=self._parameters.most_varying(),
        )

    def _explain(self, url: str, options: Any) -> Explanation:
        own = options if isinstance(options, dict) else None
        return self._state.canonicalizer.explain(url, options=own)


def _written(time: datetime) -> str:
    return time.replace(microsecond=0).isoformat()
