"""A request that was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.origins import as_sent
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL

if TYPE_CHECKING:
    from scrapy import Request

DECLARED: Final = frozenset((RuleEntry(DECLARED_CANONICAL),))
"""What a drop is due to where no rule is: another page declared its URL."""


class Drop(NamedTuple):
    """One dropped request, attributed."""

    request: Request
    first: str
    """The URL of the first request with the same fingerprint; that under which the page of a URL
    that is skipped was found, or nothing."""
    fingerprint: bytes
    entries: frozenset[RuleEntry]
    """What changed one of the two URLs: entries of options, and normalizations; none if exact.

    ``declared_canonical`` alone where it was another page, which declared it; none where the
    spider named the page.
    """
    domain: str
    """That of the dropped URL, as of :func:`domain_of`."""
    is_asked: bool = True
    """Whether the duplicate filter saw a request for :attr:`first`, which a cache may have had."""
    linked_from: str = ""
    """The URL of the page that linked it, where a report is to say so and it is known."""

    @property
    def rules(self) -> frozenset[str]:
        """The options and normalizations that :attr:`entries` belong to."""
        return frozenset(entry.option for entry in self.entries)

    @property
    def is_skipped(self) -> bool:
        """Whether it was skipped, and no duplicate."""
        return any(entry.is_skip for entry in self.entries)

    @property
    def is_declared(self) -> bool:
        """Whether another page declared its URL, which stands for it."""
        return self.entries == DECLARED

    @property
    def is_exact(self) -> bool:
        """Whether the very same URL was seen before."""
        return self.request.url == self.first

    @property
    def asks_the_same(self) -> bool:
        """Whether the site was asked for the very same before."""
        return as_sent(self.request.url) == as_sent(self.first)
