"""The record of one dropped request, passed to all who deal with duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.crawl.origins import as_sent
from scrapy_urlcanon.crawl.settings import DECLARED_CANONICAL

if TYPE_CHECKING:
    from scrapy import Request

DECLARED: Final = frozenset((RuleEntry(DECLARED_CANONICAL),))
"""The cause of a drop that no rule caused: another page declared its URL as canonical."""


class Drop(NamedTuple):
    """One dropped request, and why it was dropped."""

    request: Request
    first: str
    """The URL of the first request with the same fingerprint. For a skipped URL: the URL at which
    its page was found, or nothing."""
    fingerprint: bytes
    entries: frozenset[RuleEntry]
    """The entries of options, and the normalizations, that changed one of the two URLs.

    None if both URLs are the same, or if the spider named the page. ``declared_canonical`` alone if
    another page declared the URL.
    """
    domain: str
    """The registrable domain of the dropped URL (:func:`domain_of`)."""
    is_asked: bool = True
    """Whether the duplicate filter saw a request for :attr:`first`; False if only the HTTP cache or
    an earlier run had that."""
    is_made_up: bool = False
    """Whether an audit made the URL of others, and the spider has not asked for it."""
    linked_from: str = ""
    """The URL of the page that linked it, if a report needs that and it is known."""

    @property
    def rules(self) -> frozenset[str]:
        """The options and normalizations that :attr:`entries` belong to."""
        return frozenset(entry.option for entry in self.entries)

    @property
    def is_skipped(self) -> bool:
        """Whether it was skipped by a template of ``skip``, and is no duplicate."""
        return any(entry.is_skip for entry in self.entries)

    @property
    def is_declared(self) -> bool:
        """Whether it was dropped because another page declared its URL."""
        return self.entries == DECLARED

    @property
    def is_exact(self) -> bool:
        """Whether the URL is the very same as the first one."""
        return self.request.url == self.first

    @property
    def asks_the_same(self) -> bool:
        """Whether the URL is the same as the first one but for the fragment, which is not sent."""
        return as_sent(self.request.url) == as_sent(self.first)
