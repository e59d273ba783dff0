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
"""Sites on which something was dropped, of some 3 kB each."""


class Sites:
    """What the audits of each site know of its pages.

    Which lines its pages have is most of it. Of a broad crawl that is forgotten where no page came
    from a site for the longest time, while what two fetches of one page said stays; of very many
    sites all of it is.

    >>> sites = Sites(most_lines=4)
    >>> for domain in ("a.example", "b.example"):
    ...     _ = sites.of(domain)
    ...     sites.saw(domain, "/", {line: {line} for line in (1, 2)})
    >>> sites.of("a.example").noise.size, sites.of("b.example").noise.size
    (0, 3)

    :param on_forget: is called with each domain of which nothing is known any more.
    :param most_lines: how many lines and pages are remembered in all.
    :param most: how many sites are.
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
        # That from which a page came last stands last, here and below.
        self._sites: dict[str, SiteEvidence] = {}
        self._sizes: dict[str, int] = {}
        """How much is remembered of each."""
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
        """Return what is known to be another at each visit on *domain*."""
        return self.of(domain).noise

    def watch(self, domain: str) -> None:
        """Have the pages of *domain* noted from now on, before any two of them are compared."""
        self.of(domain)

    def saw(self, domain: str, page: bytes, lines: Mapping[int, set[int]]) -> None:
        """Take note of what *page* of *domain* shows."""
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
        """Forget what was shown in the place of *pages*: some of that is of others now."""
        for site in self._sites.values():
            site.forget(pages)

    def _forget(self, domain: str) -> None:
        del self._sites[domain]
        self._total -= self._sizes.pop(domain, 0)
        self._on_forget(domain)
