"""What is known of the pages of all sites of a crawl, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.checks.site_evidence import SiteEvidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.pages.noise import Noise

_REMEMBERED_LINES = 500_000
"""Lines of the pages of all sites, and pages, of some 100 bytes each."""
_REMEMBERED_SITES = 100_000
"""Sites with audited entries, of some 3 kB each."""


class Sites:
    """What the audits of each site know about its pages.

    Most of that is which lines the pages have. When there are too many lines, those of the site are
    forgotten that sent no page for the longest time; which lines were noise is kept. When there are
    too many sites, the oldest is forgotten with all that is known of it.

    >>> sites = Sites(most_lines=4)
    >>> for domain in ("a.example", "b.example"):
    ...     _ = sites.of(domain)
    ...     sites.saw(domain, "/", {line: {line} for line in (1, 2)})
    >>> sites.of("a.example").noise.size, sites.of("b.example").noise.size
    (0, 3)

    :param on_forget: is called with each domain that is forgotten.
    :param most_lines: how many lines and pages are remembered in all.
    :param most: how many sites are remembered.
    """

    def __init__(
        self,
        on_forget: Callable[[str], object] = lambda _: None,
        *,
        most_lines: int = _REMEMBERED_LINES,
        most: int = _REMEMBERED_SITES,
    ) -> None:
        self._on_forget = on_forget
        self._most_lines = most_lines
        self._most = most
        # In both, the site that sent a page last stands last.
        self._sites: dict[str, SiteEvidence] = {}
        self._sizes: dict[str, int] = {}
        """How many lines and pages are remembered of each."""
        self._total = 0

    def __contains__(self, domain: str) -> bool:
        """Tell whether the pages of *domain* are noted."""
        return domain in self._sites

    def of(self, domain: str) -> SiteEvidence:
        """Return what is known of the pages of *domain*."""
        site = self._sites.get(domain)
        if site is None:
            if len(self._sites) >= self._most:
                self._forget(next(iter(self._sites)))
            site = self._sites[domain] = SiteEvidence()
        return site

    def noise_of(self, domain: str) -> Noise:
        """Return which lines of the pages of *domain* are known to change from visit to visit."""
        return self.of(domain).noise

    def watch(self, domain: str) -> None:
        """Have the pages of *domain* noted from now on, before any two of them are compared."""
        self.of(domain)

    def saw(self, domain: str, page: bytes, lines: Mapping[int, set[int]]) -> None:
        """Note the *lines* that *page* of *domain* shows."""
        site = self.of(domain)
        self._sites[domain] = self._sites.pop(domain)
        site.noise.saw(page, lines)
        # An audit may have noted some of it, or all was forgotten.
        self._total += site.noise.size - self._sizes.pop(domain, 0)
        self._sizes[domain] = site.noise.size
        while self._total > self._most_lines:
            oldest = next(iter(self._sizes))
            self._total -= self._sizes.pop(oldest)
            self._sites[oldest].noise.forget_pages()

    def forget_pages(self, pages: AbstractSet[bytes]) -> None:
        """Forget what was shown in place of *pages*: their fingerprints have changed."""
        for site in self._sites.values():
            site.forget(pages)

    def _forget(self, domain: str) -> None:
        del self._sites[domain]
        self._total -= self._sizes.pop(domain, 0)
        self._on_forget(domain)
