"""Records what a crawl saw, to learn rules from: the setting ``URLCANON_RECORD``."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.answers import is_cut_short
from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.record.links import RecordedLinks
from scrapy_urlcanon.crawl.record.revisits import Revisits
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.exceptions import ConfigurationError, LearnError, Problem
from scrapy_urlcanon.files import fill
from scrapy_urlcanon.learn.observation import STATUSES
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.verdict import Verdict
from scrapy_urlcanon.rule_files.loading import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.pages.signature import Signature
    from scrapy_urlcanon.pages.visits import Visits

_META_REFRESH_STATUS = 200
"""The status recorded for redirects by ``<meta http-equiv="refresh">``, which have none in
Scrapy."""
_REMEMBERED_REDIRECTS = 100_000


class Recorder:
    """Stores what learning needs of each fetched page, and the results of audits and second visits.

    First it records which rules are in force, since the crawl does not fetch what they merge.

    It gets responses after the retry and redirect middlewares have decided, from the network or
    from the HTTP cache. Only answers to GET are pages. An audited variant is recorded as well,
    though the spider does not get it: once a rule is on, only audits show what it merges.

    :param configuration: the rules that the crawl is made under.
    :raises ConfigurationError: if the store cannot be written, or a newer version wrote it.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: CrawlSettings,
        configuration: Configuration,
    ) -> None:
        started = datetime.now(timezone.utc)
        name = (crawler.spider or crawler.spidercls).name
        path = Path(fill(settings.record or "", name=name, time=started))
        self._crawler = crawler
        self._rules: RulesInForce | None = None
        if files_of(configuration):
            # Imported here for a faster start: most recorded crawls have no rules files yet.
            from scrapy_urlcanon.crawl.record.rules_in_force import RulesInForce  # noqa: PLC0415

            self._rules = RulesInForce(configuration)
        self._added = 0
        self._revisits = Revisits(crawler, self._visited) if settings.record_revisits else None
        # Spiders copy meta, and the redirects in it, to other requests. Each redirect is recorded
        # once.
        self._redirects: BoundedMapping[str, bool] = BoundedMapping(_REMEMBERED_REDIRECTS)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store = ObservationStore(path)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            raise ConfigurationError([Problem(name_of("record"), message, str(path))]) from error
        except LearnError as error:
            message = f"{error}; name another file"
            raise ConfigurationError([Problem(name_of("record"), message)]) from error
        self.links = RecordedLinks(crawler, self._store)
        """Records the links of pages. It has to be told of the output of each callback."""
        if self._rules or not settings.rules_files:
            self._store.begin(started, self._rules.rules if self._rules else ())
        # Otherwise the job goes on with the rules that it was begun with (URLCANON_JOB_RULES),
        # whose files are not known. Recording no rules would mean that they were removed, so
        # nothing is recorded.
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    def record(self, request: Request, response: Response) -> None:
        """Record *response*, and the redirects that led to it."""
        url = response.url
        if request.method != "GET" or not url.startswith(("http://", "https://")):
            return
        self._record_redirects(request)
        if response.status not in STATUSES:
            # No reader accepts such a status, and the store cannot hold every number.
            return
        is_whole = not is_cut_short(response)
        self._store.add(
            page_of(response),
            status=response.status,
            is_whole=is_whole,
            key=self.links.key(request),
        )
        self._added += 1
        if self._revisits and is_whole:
            self._revisits.note(request, response)

    def request_dropped(self, request: Request) -> None:
        """Record the redirects that led to a page that the spider has already."""
        if "redirect_urls" in request.meta and request.method == "GET":
            self._record_redirects(request)

    def dropped(self, drop: Drop) -> None:
        """Record the redirects that led to *drop*."""
        self.request_dropped(drop.request)

    def audited(self, pair: AuditedPair) -> None:
        """Record the result of an audit; that of a skipped URL was recorded as a page."""
        if pair.judgement.verdict is Verdict.CANNOT_TELL or pair.is_skipped:
            return
        for entry in pair.entries:
            rules = self._rules.behind(entry, pair.url, pair.first) if self._rules else ()
            for rule in rules or (None,):
                self._store.add_audit(
                    pair.url, pair.first, entry=entry, rule=rule, same=pair.is_same
                )

    def _visited(self, url: str, visits: Visits, again: Signature | None) -> None:
        """Record the comparison of two visits of one URL."""
        # The last comparisons may come after the crawl has ended.
        if self._revisits:
            self._store.add_visits(url, visits, again)
            Stat.RECORD_REVISITED.inc(self._crawler)

    def spider_closed(self, reason: object) -> None:
        """Write the rest, close the store and set the stats."""
        self._revisits = None
        self._store.end(reason)
        self._store.close()
        refused = self._store.refused
        Stat.RECORDED.set(self._crawler, max(self._added - refused, 0))
        if refused:
            Stat.RECORD_REFUSED.set(self._crawler, refused)

    def _record_redirects(self, request: Request) -> None:
        for source, status, target in _redirects(request):
            if source not in self._redirects:
                self._redirects[source] = True
                self._store.add_redirect(source, status, target, key=self.links.key_of_url(source))
                self.links.redirected(source, target)
                self._added += 1


def _redirects(request: Request) -> Iterator[tuple[str, int, str]]:
    """Yield each redirect that led to *request*: source, status and target."""
    urls = sources_of(request)
    reasons = request.meta.get("redirect_reasons")
    reasons = reasons[-len(urls) :] if isinstance(reasons, list) else []
    for source, reason, target in zip(urls, reasons, [*urls[1:], request.url], strict=False):
        status = reason if isinstance(reason, int) else _META_REFRESH_STATUS
        if source.startswith(("http://", "https://")):
            yield source, status, target
