"""What several processes that crawl together share, as the crawl of one of them sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_urlcanon.canonicalizer.configuration import Configuration
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.crawl.checks.case import AuditedPair
    from scrapy_urlcanon.crawl.checks.kept_contents import KeptContents
    from scrapy_urlcanon.crawl.dropped.first_urls import FirstUrls
    from scrapy_urlcanon.crawl.recovery.page_lives import PageLives


class SharedCrawl(Protocol):
    """Made by a scheduler class with a method ``urlcanon_shared``, given the crawler."""

    def guard(self, configuration: Configuration, mode: str) -> Configuration:
        """Return the rules to crawl under, as :meth:`.JobRules.guard` does."""

    def begin(
        self,
        first_urls: FirstUrls,
        canonical_of: Callable[[Request], str | None],
        suspend: Callable[[RuleEntry, str], object],
        hear: Callable[[AuditedPair], None] | None,
    ) -> None:
        """Begin the crawl.

        :param canonical_of: returns the canonical URL of a request.
        :param suspend: is called with what other processes suspended.
        :param hear: is called with what the audits of other processes found.
        """

    def suspended(self, entry: RuleEntry, domain: str) -> None:
        """Tell the others that *entry* is off on *domain*."""

    def audited(self, pair: AuditedPair) -> None:
        """Tell the others what an audit found about *pair*."""

    def contents(self, max_pages: int) -> KeptContents:
        """Return what remembers what pages showed, those of all processes."""

    def lives(self, fetch: Callable[[bytes, Request], bool], **bounds: Any) -> PageLives[Request]:
        """Return the lives of the pages, those of all processes."""
