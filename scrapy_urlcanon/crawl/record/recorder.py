"""Records what a crawl saw, to learn rules from: the setting ``URLCANON_RECORD``."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.http.request import NO_CALLBACK

from scrapy_urlcanon.crawl.bounded import BoundedMapping
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.record.path import SETTING, record_path
from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
from scrapy_urlcanon.crawl.state import CrawlState
from scrapy_urlcanon.exceptions import ConfigurationError, LearnError, Problem
from scrapy_urlcanon.learn.store import ObservationStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.checks.audit import AuditedPair

_META_REFRESH_STATUS = 200
"""Scrapy names no status for a redirect by ``<meta http-equiv="refresh">``: the page had this."""
_REMEMBERED_REDIRECTS = 100_000


class Recorder:
    """Keeps of each page that the crawl got what learning needs, and what the audit found.

    It says first which rules are in force, because what they merge will not be seen.

    It is given what comes back once the redirect and retry middlewares have decided, from the
    network or from the HTTP cache. What the spider does not ask for, such as a robots.txt or the
    images of a pipeline, is no page; nor is the answer to anything but GET. A variant that was
    audited is one, though the spider never gets it: with a rule on, no other URL of a page shows
    what the rule merges.

    :raises ConfigurationError: if the store cannot be written, or a newer version wrote it.
    """

    def __init__(
        self, crawler: Crawler, path: Path, started: datetime, rules: RulesInForce
    ) -> None:
        self._crawler = crawler
        self._rules = rules
        self._added = 0
        # Spiders pass meta on, and with it the redirects behind another page: each is taken once.
        self._redirects: BoundedMapping[str, bool] = BoundedMapping(_REMEMBERED_REDIRECTS)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store = ObservationStore(path)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            raise ConfigurationError([Problem(SETTING, message, str(path))]) from error
        except LearnError as error:
            raise ConfigurationError([Problem(SETTING, str(error))]) from error
        if rules.has_files or not crawler.settings.getlist("URLCANON_RULES_FILES"):
            self._store.begin(started, rules.rules)
        # Else a job goes on with the rules that it began with (URLCANON_JOB_RULES), of which it
        # does not know the files: nothing is said of them, rather than that they were taken out.
        crawler.signals.connect(self.request_dropped, signals.request_dropped)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @classmethod
    def of(cls, crawler: Crawler) -> Recorder | None:
        """Return the recorder of *crawler*, or None where ``URLCANON_RECORD`` names no path."""
        started = datetime.now(timezone.utc)
        name = (crawler.spider or crawler.spidercls).name
        path = record_path(crawler.settings, name=name, time=started)
        if path is None:
            return None
        rules = RulesInForce(CrawlState.of(crawler).canonicalizer.configuration)
        return cls(crawler, path, started, rules)

    def record(self, request: Request, response: Response) -> None:
        """Keep *response*, and the redirects that led to it."""
        url = response.url
        if not _is_page(request) or not url.startswith(("http://", "https://")):
            return
        self._record_redirects(request)
        self._store.add(page_of(response), status=response.status)
        self._added += 1

    def request_dropped(self, request: Request) -> None:
        """Keep the redirects that led to a page that the spider has already."""
        if _is_page(request):
            self._record_redirects(request)

    def audited(self, pair: AuditedPair) -> None:
        """Keep what the audit found."""
        for option in pair.options:
            rules = self._rules.behind(option, pair.url, pair.first) or (None,)
            for rule in rules:
                self._store.add_audit(
                    pair.url, pair.first, option=option, rule=rule, same=pair.is_same
                )

    def spider_closed(self) -> None:
        """Write the rest, close the store and complete the stats."""
        self._store.close()
        refused = self._store.refused
        stats = self._crawler.stats
        stats.set_value("urlcanon/recorded", max(self._added - refused, 0))
        if refused:
            stats.set_value("urlcanon/record/refused", refused)

    def _record_redirects(self, request: Request) -> None:
        for source, status, target in _redirects(request):
            if self._redirects.get(source) is None:
                self._redirects[source] = True
                self._store.add_redirect(source, status, target)
                self._added += 1


def _is_page(request: Request) -> bool:
    """Tell whether what *request* gets is a page of the crawl."""
    # RobotsTxtMiddleware and the media pipelines mark their requests so.
    return request.callback is not NO_CALLBACK and request.method == "GET"


def _redirects(request: Request) -> Iterator[tuple[str, int, str]]:
    """Yield each redirect that led to *request*: from where, by which status, and to where."""
    urls = request.meta.get("redirect_urls", [])
    reasons = request.meta.get("redirect_reasons", [])
    for source, reason, target in zip(urls, reasons, [*urls[1:], request.url], strict=False):
        status = reason if isinstance(reason, int) else _META_REFRESH_STATUS
        if source.startswith(("http://", "https://")):
            yield source, status, target
