"""The interface to a crawl that several processes share, as the process of one crawler sees it.

:mod:`scrapy_urlcanon.redis` implements it.
"""

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
    """What the parts of a crawl share with those of other processes.

    A scheduler class with a method ``urlcanon_shared``, which takes the crawler, returns one.
    """

    def guard(self, configuration: Configuration, mode: str) -> Configuration:
        """Return the rules to crawl under; see :meth:`.JobRules.guard`."""

    def begin(
        self,
        first_urls: FirstUrls,
        canonical_of: Callable[[Request], str | None],
        suspend: Callable[[RuleEntry, str], object],
        hear: Callable[[AuditedPair], None] | None,
    ) -> None:
        """Start to share.

        :param first_urls: the first URL of each page, which all processes share.
        :param canonical_of: returns the canonical URL of a request.
        :param suspend: called with each entry that another process suspended, and its domain.
        :param hear: called with each audit result of another process.
        """

    def suspended(self, entry: RuleEntry, domain: str) -> None:
        """Tell the other processes that *entry* is suspended on *domain*."""

    def audited(self, pair: AuditedPair) -> None:
        """Tell the other processes the result of an audit of *pair*."""

    def contents(self, max_pages: int) -> KeptContents:
        """Return the store of what pages showed, which all processes share."""

    def lives(self, fetch: Callable[[bytes, Request], bool], **bounds: Any) -> PageLives[Request]:
        """Return the states of all pages, which all processes share."""
