"""Keeps a crawl from fetching pages that earlier runs have got: ``URLCANON_SEEN``."""

from __future__ import annotations

import logging
import sqlite3
import time
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from attrs import define
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from scrapy_urlcanon.canonicalizer.patterns import with_parents
from scrapy_urlcanon.canonicalizer.registrable_domain import host_of
from scrapy_urlcanon.crawl.answers import is_blank, is_cut_short, is_success
from scrapy_urlcanon.crawl.earlier.store import SeenPage, SeenPages, key_of_unknown
from scrapy_urlcanon.crawl.failing_files import FailingFile
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, mark_of
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.crawl.recovery.callbacks import at_work
from scrapy_urlcanon.crawl.recovery.failed_downloads import is_made_up
from scrapy_urlcanon.crawl.scheduling.drops import receives_repeated
from scrapy_urlcanon.crawl.settings import ITEM, REFETCH_KEY, TEXT
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_requests import PageRequests
    from scrapy_urlcanon.crawl.rule_changes import RuleChanges
    from scrapy_urlcanon.crawl.settings import CrawlSettings

logger = logging.getLogger(__name__)

BEGAN = "urlcanon.began"
_BATCH = 100
_SHOWN = 5


@define(eq=False, slots=False)
class EarlierPages:
    """Refuses requests for pages that earlier runs have got, and stores what this run gets.

    A page is known by the fingerprint that its requests share, whichever of its URLs is requested,
    by a start request, a link or a redirect. All runs of a job count as one run. A page is stored
    together with the URLs that redirected to it, unless its callback raises.

    :param path: the path of the store.
    :param on_variant: called with each refused request whose page was got by another URL, and with
        that URL.
    :raises ConfigurationError: if the store cannot be used.
    """

    _crawler: Crawler
    _path: Path
    _settings: CrawlSettings
    _fingerprints: PageFingerprints
    _requests: PageRequests | None
    _rule_changes: RuleChanges
    _on_variant: Callable[[Request, str], None]

    def __attrs_post_init__(self) -> None:
        self._by = self._settings.seen_by
        self._store = SeenPages(self._path)
        self._began = self._beginning()
        self._new: dict[bytes, SeenPage] = {}
        self._write_at = _BATCH
        # By request that the spider is at work on: its keys. The callback may still raise.
        self._noted: WeakKeyDictionary[Request, tuple[bytes, ...]] = WeakKeyDictionary()
        self._raised: WeakSet[Request] = WeakSet()
        self._failing = FailingFile(
            self._path,
            "read or written",
            "The crawl goes on; what is not noted is fetched again by the next one.",
        )
        self._is_known = True
        # Whether an entry was suspended since the keys were made, so that some may be outdated.
        self._has_other_keys = False
        self._rules = self._digest = ""
        self._rule_changes.on_suspend.append(self.suspended)
        connect = self._crawler.signals.connect
        connect(self.request_scheduled, signals.request_scheduled)
        for signal in (signals.spider_error, signals.item_error):
            connect(self.raised, signal)
        if self._requests:
            # Also called for pages that a callback asks for by a second step.
            self._requests.on_raised.append(self.raised)
        connect(self.spider_closed, signals.spider_closed)
        if self._by == ITEM:
            connect(self.item_scraped, signals.item_scraped)

    def begin(self, configuration: Configuration) -> None:
        """Convert the stored pages to the keys that they have under the rules of *configuration*.

        Entries that an earlier run suspended are suspended first. Otherwise they would make a page
        that was got stand for pages that nobody has.
        """
        self._rules = RulesDocument.of(configuration).digest
        try:
            self._resume_suspensions()
            changed = self._store.make_keys(self._digest, self._key_of)
            self._has_other_keys = False
        except sqlite3.Error as error:
            # With keys of other rules, pages might be refused that no run has got.
            self._is_known = False
            self._failing.note(error)
            return
        try:
            ahead = self._store.set_clock_back(time.time(), self._began - 1)
        except sqlite3.Error as error:
            self._failing.note(error)
            return
        if ahead:
            logger.warning(
                "%(path)s has %(pages)s from the future (a clock was set back): taken as got now.",
                {"path": self._path, "pages": count_of(ahead, "page")},
            )
        if changed:
            logger.info(
                "%(path)s: known under other URLs now: %(pages)s.",
                {"path": self._path, "pages": count_of(changed, "page")},
            )

    def suspended(self, entry: RuleEntry, domain: str) -> None:
        """Store for later runs that *entry* is wrong on *domain*."""
        self._has_other_keys = True
        try:
            self._store.suspend(self._rules, entry, domain)
        except sqlite3.Error as error:
            self._failing.note(error)

    @receives_repeated
    def request_scheduled(self, request: Request) -> None:
        """Refuse *request* if an earlier run has got its page.

        :raises IgnoreRequest: to make the engine drop the request.
        """
        meta = request.meta
        if meta.get(REFETCH_KEY) or mark_of(request, AUDIT):
            return
        key = self._fingerprints.page(request)
        url = self._got_by(key, request.url) if self._is_known else None
        if url is None:
            return
        Stat.SEEN_SKIPPED.inc(self._crawler)
        if self._requests:
            self._requests.got_before(request)
        if url != request.url:
            self._on_variant(request, url)
        raise IgnoreRequest("an earlier run has got its page")

    def delivered(self, response: Response) -> None:
        """Note that a callback is given *response*."""
        if self._by == ITEM or not is_success(response):
            return
        if page_of(response).has_text if self._by == TEXT else not is_blank(response):
            self._note(response)

    def item_scraped(self, response: Response | None) -> None:
        """Note that an item of *response* has passed all pipelines."""
        if isinstance(response, Response):
            self._note(response)

    def raised(self, response: object) -> None:
        """Take back what was noted of *response*, since its callback, or an item of it, raised."""
        if isinstance(response, Response) and response.request is not None:
            self._raised.add(response.request)
            keys = self._noted.pop(response.request, ())
            written = [key for key in keys if self._new.pop(key, None) is None]
            if written:
                try:
                    self._store.remove(written)
                except sqlite3.Error as error:
                    self._failing.note(error)

    def spider_closed(self, spider: Spider) -> None:
        """Write what is not written yet."""
        del spider
        self._write()
        self._store.close()
        # The spider may still yield requests, which nobody fetches.
        self._is_known = False

    def _resume_suspensions(self) -> None:
        """Suspend the entries that earlier runs found to be wrong.

        :raises sqlite3.Error: if the store cannot be read or written.
        """
        changes = self._rule_changes
        for entry, domain in changes.suspended:
            # An earlier run of the job suspended it.
            self._store.suspend(self._rules, entry, domain)
        resumed = [each for each in self._store.suspended(self._rules) if changes.suspend(*each)]
        by = (self._rules, sorted(changes.suspended))
        self._digest = sha256(repr(by).encode()).hexdigest()
        if resumed:
            more = f" and {len(resumed) - _SHOWN:,} more" if len(resumed) > _SHOWN else ""
            logger.warning(
                "%(path)s: earlier runs found that these rules merge different pages, so this run "
                "ignores them: %(entries)s%(more)s. Remove them from the configuration.",
                {
                    "path": self._path,
                    "entries": ", ".join(
                        f"{entry} for {domain}" for entry, domain in resumed[:_SHOWN]
                    ),
                    "more": more,
                },
            )

    def _beginning(self) -> float:
        """Return when this run, or the first run of its job, began."""
        now = time.time()
        directory = self._crawler.settings["JOBDIR"]
        if not directory:
            return now
        path = Path(directory, BEGAN)
        try:
            return min(now, float(path.read_text(encoding="ascii")))
        except (OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(repr(now), encoding="ascii")
            return now

    def _got_by(self, key: bytes, url: str) -> str | None:
        """Return the URL by which an earlier run got the page of *key*, or None.

        :param url: the requested URL, whose host decides when pages expire.
        """
        try:
            got = self._store.got(key)
        except sqlite3.Error as error:
            self._failing.note(error)
            return None
        if got is None or got.at >= self._began:
            return None
        if self._has_other_keys and got.by_url and self._key_of(got.url) != key:
            return None
        expires = self._expiry(url)
        return got.url if not expires or time.time() - got.at < expires else None

    def _expiry(self, url: str) -> float:
        """Return after how many seconds the page at *url* is fetched again, or 0 for never.

        A longer host takes precedence over its parent domains.
        """
        expires: dict[str, float] = self._settings.seen_expires
        for host in reversed(with_parents(host_of(url))):
            if host in expires:
                return expires[host]
        return expires.get("*", 0)

    def _note(self, response: Response) -> None:
        request = response.request
        if request is None or request.callback is NO_CALLBACK or request in self._raised:
            return
        if is_cut_short(response) or is_made_up(request, response):
            return
        urls = {self._fingerprints.page(request): request.url}
        for url in sources_of(request):
            source = self._fingerprints.page(request, url)
            if source:
                urls.setdefault(source, url)
        now = time.time()
        for key, url in urls.items():
            self._new[key] = SeenPage(key, url, now, by_url=key == self._key_of(url))
        self._noted[request] = tuple(urls)
        if len(self._new) >= self._write_at:
            self._write()

    def _write(self) -> None:
        """Write the noted pages to the store, except those that the spider is still at work on."""
        noted = (self._noted.get(request, ()) for request in at_work(self._crawler))
        open_keys = set(chain.from_iterable(noted))
        done = [page for key, page in self._new.items() if key not in open_keys]
        try:
            if done:
                self._store.add(done, self._digest)
        except sqlite3.Error as error:
            self._failing.note(error)
        else:
            Stat.SEEN_NOTED.inc(self._crawler, len(done))
            for page in done:
                del self._new[page.key]
        # If it failed, all are tried again with the next batch, not at once with each page.
        self._write_at = len(self._new) + _BATCH

    def _key_of(self, url: str) -> bytes:
        """Return the key of the page at *url*, as for a plain request."""
        try:
            request = Request(url)
        except ValueError:
            # It was imported, and cannot be requested.
            return key_of_unknown(url)
        return self._fingerprints.page(request, url) or key_of_unknown(url)
