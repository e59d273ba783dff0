"""What is known of the pages of all sites of a crawl, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.checks.entry_record import SiteEvidence

if TYPE_CHECKING:
    from collections.abc import Mapping

_REMEMBERED_LINES = 500_000
"""Lines of the pages of all sites, and pages, of some 100 bytes each."""


class Sites:
    """What the audits of each site know of its pages.

    Which lines its pages have is most of it. Of a broad crawl that is forgotten where no page came
    from a site for the longest time; what two fetches of one page said stays.

    >>> sites = Sites(most=4)
    >>> for domain in ("a.example", "b.example"):
    ...     _ = sites.of(domain)
    ...     sites.saw(domain, "/", {line: {line} for line in (1, 2)})
    >>> sites.of("a.example").noise.size, sites.of("b.example").noise.size
    (0, 3)

    :param most: how many lines and pages are remembered in all.
    """

    def __init__(self, most: int = _REMEMBERED_LINES) -> None:
        self._most = most
        self._sites: dict[str, SiteEvidence] = {}
        # How much is remembered of each; that from which a page came last stands last.
        self._sizes: dict[str, int] = {}
        self._total = 0

    def __contains__(self, domain: str) -> bool:
        """Tell whether anything was dropped on *domain*."""
        return domain in self._sites

    def of(self, domain: str) -> SiteEvidence:
        """Return what is known of the pages of *domain*."""
        site = self._sites.get(domain)
        if site is None:
            site = self._sites[domain] = SiteEvidence()
        return site

    def saw(self, domain: str, page: bytes, lines: Mapping[int, set[int]]) -> None:
        """Take note of what *page* of *domain* shows."""
        noise = self.of(domain).noise
        noise.saw(page, lines)
        # An audit may have noted some of it, or all was forgotten.
        self._total += noise.size - self._sizes.pop(domain, 0)
        self._sizes[domain] = noise.size
        while self._total > self._most:
            oldest = next(iter(self._sizes))
            self._total -= self._sizes.pop(oldest)
            self._sites[oldest].noise.forget_pages()
