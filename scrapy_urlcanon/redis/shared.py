"""Implements the shared crawl (:class:`.SharedCrawl`) for processes that crawl through Redis."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.job.rules_document import RulesDocument
from scrapy_urlcanon.crawl.own_requests import is_unfiltered
from scrapy_urlcanon.crawl.recovery.callbacks import rescue_of
from scrapy_urlcanon.crawl.settings import ERROR, KEEP, name_of, value_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.redis import scripts
from scrapy_urlcanon.redis.frontier import KEPT
from scrapy_urlcanon.redis.shared_checks import SharedContents, SharedVerdicts
from scrapy_urlcanon.redis.shared_lives import SharedLives

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
    from scrapy_urlcanon.redis.frontier import Frontier

logger = logging.getLogger(__name__)


class Shared:
    """Implements :class:`.SharedCrawl`.

    :param encode: returns a request as it is stored in the queue.
    """

    def __init__(
        self, crawler: Crawler, frontier: Frontier, encode: Callable[[Request], bytes]
    ) -> None:
        self._crawler = crawler
        self.frontier = frontier
        self.encode = encode
        self._rules = frontier.rules
        self._suspended = f"{frontier.prefix}suspended"
        self._known: set[bytes] = set()
        self._suspend: Callable[[RuleEntry, str], object] | None = None
        self._hear: Callable[[AuditedPair], None] | None = None
        self._verdicts = SharedVerdicts(frontier)
        self.shared_lives: SharedLives | None = None
        self.first_urls: FirstUrls | None = None
        self.canonical_of: Callable[[Request], str | None] = lambda request: request.url

    def guard(self, configuration: Configuration, mode: str) -> Configuration:
        """Return the rules to crawl under: *configuration*, or those that the crawl was begun with.

        :param mode: the value of ``URLCANON_JOB_RULES``.
        :raises ConfigurationError: if the rules differ and *mode* is ``error``.
        """
        server, document = self.frontier.server, RulesDocument.of(configuration)
        text = json.dumps({"digest": document.digest, "rules": document.data})
        if server.set(self._rules, text, nx=True):
            return configuration
        stored = json.loads(server.get(self._rules) or text)
        if stored["digest"] == document.digest:
            return configuration
        old = RulesDocument(stored["rules"])
        message = (
            f"The canonicalization rules of this process differ from those that the crawl in Redis "
            f"began with ({', '.join(old.changes(document))}): processes would take each other's "
            "pages for seen, or fetch them again"
        )
        if mode == ERROR:
            # Otherwise the others would wait for this process until it counts as gone.
            self.frontier.leave(persists=True)
            raise ConfigurationError([Problem(name_of("job_rules"), message)])
        if mode == KEEP:
            logger.info("%s. It goes on with the rules of the crawl.", message)
            return old.configuration()
        logger.warning("%s.", message)
        server.set(self._rules, text)
        return configuration

    def begin(
        self,
        first_urls: FirstUrls,
        canonical_of: Callable[[Request], str | None],
        suspend: Callable[[RuleEntry, str], object],
        hear: Callable[[AuditedPair], None] | None,
    ) -> None:
        """Start to share; see :meth:`.SharedCrawl.begin`."""
        self.first_urls = first_urls
        first_urls.on_replaced = self._replaced
        self.canonical_of = canonical_of
        self._suspend = suspend
        self._hear = hear
        self.look_around()

    def _replaced(self, page: bytes, url: str) -> None:
        """Tell the other processes that *url* stands for *page* now, to compare with."""
        half = value_of("remembered_pages", self._crawler.settings) // 2
        self.frontier.tell(scripts.REMEMBER, (self.frontier.first,), (page.hex(), url, half, KEPT))

    def suspended(self, entry: RuleEntry, domain: str) -> None:
        """Tell the other processes that *entry* is suspended on *domain*."""
        text = json.dumps([*entry, domain]).encode()
        if text not in self._known:
            self._known.add(text)
            self.frontier.tell(scripts.RECORD, (self._suspended,), (text,))

    def audited(self, pair: AuditedPair) -> None:
        """Tell the other processes the result of an audit of *pair*."""
        self._verdicts.tell(pair)

    def contents(self, max_pages: int) -> SharedContents:
        """Return the store of what pages showed, which all processes share."""
        return SharedContents(self.frontier, max_pages)

    def look_around(self) -> None:
        """Read verdicts and suspensions of other processes, and apply them.

        :raises RedisError: if Redis does not answer.
        """
        if self._hear:
            for pair in self._verdicts.new():
                self._hear(pair)
        if self._suspend is None:
            return
        for text in self.frontier.server.smembers(self._suspended) - self._known:
            self._known.add(text)
            option, entry, domain = json.loads(text)
            self._suspend(RuleEntry(option, entry), domain)

    def lives(self, fetch: Callable[[bytes, Request], bool], **bounds: Any) -> PageLives[Request]:
        """Return the states of all pages, which all processes share."""
        self.shared_lives = SharedLives(fetch, self.frontier, self._rescue, **bounds)
        return self.shared_lives

    def _rescue(self, variant: Request) -> tuple[str, bytes]:
        copy = rescue_of(variant, self._crawler.spider)
        name = self._crawler.request_fingerprinter.fingerprint(copy).hex()
        if is_unfiltered(copy):
            name = f"unfiltered {name}"
        return name, b"%d " % -copy.priority + self.encode(copy)
