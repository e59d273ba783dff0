"""Holds the evidence about the pages of each site of a crawl, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.checks.site_evidence import SiteEvidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

_REMEMBERED_LINES = 500_000
"""The most lines and pages that are remembered, over all sites; some 100 bytes each."""
_REMEMBERED_SITES = 100_000
"""The most sites with audited entries; some 3 kB each."""


class Sites:
    """The evidence that audits have gathered about the pages of each site.

    Most of it is which lines the pages show. If there are too many lines, those of the site that
    has been idle longest are forgotten, but not which of them were noise. If there are too many
    sites, the one that has been idle longest is forgotten altogether.

    >>> sites = Sites()
    >>> sites.saw("a.example", b"page", {line: {line} for line in (1, 2)})
    >>> "a.example" in sites, sites.of("a.example").noise.size, sites.of("b.example").noise.size
    (True, 3, 0)

    :param on_forget: called with each domain that is forgotten.
    """

    def __init__(self, on_forget: Callable[[str], object] = lambda _: None) -> None:
        self._on_forget = on_forget
        # In both mappings the site that sent the latest page is last.
        self._sites: dict[str, SiteEvidence] = {}
        self._sizes: dict[str, int] = {}
        """How many lines and pages are remembered of each."""
        self._total = 0

    def __contains__(self, domain: str) -> bool:
        """Tell whether anything is recorded about the pages of *domain*."""
        return domain in self._sites

    def of(self, domain: str) -> SiteEvidence:
        """Return the evidence about *domain*, new if there is none.

        Pages of a domain are recorded (:meth:`saw`) only once it was asked for.
        """
        site = self._sites.get(domain)
        if site is None:
            if len(self._sites) >= _REMEMBERED_SITES:
                self._forget(next(iter(self._sites)))
            site = self._sites[domain] = SiteEvidence()
        return site

    def saw(self, domain: str, page: bytes, lines: Mapping[int, set[int]]) -> None:
        """Record the *lines* that *page* of *domain* shows."""
        site = self.of(domain)
        self._sites[domain] = self._sites.pop(domain)
        site.noise.saw(page, lines)
        # The size may have changed since: an audit added lines, or all were forgotten.
        self._total += site.noise.size - self._sizes.pop(domain, 0)
        self._sizes[domain] = site.noise.size
        while self._total > _REMEMBERED_LINES:
            oldest = next(iter(self._sizes))
            self._total -= self._sizes.pop(oldest)
            self._sites[oldest].noise.forget_pages()

    def forget_pages(self, pages: AbstractSet[bytes]) -> None:
        """Forget what was shown in place of *pages*, whose fingerprints have changed."""
        for site in self._sites.values():
            site.forget(pages)

    def _forget(self, domain: str) -> None:
        del self._sites[domain]
        self._total -= self._sizes.pop(domain, 0)
        self._on_forget(domain)
