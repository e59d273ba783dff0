"""Recognises URLs that are usually duplicates in the program of their site: these come later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.crawl.software.authority import authority_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.profiles.installation import Installation

SUSPECTED: Final = "suspected"
"""The feature of such a request. Little is expected of it until the crawl has learned otherwise."""


class Suspicions:
    """Tells which URLs the usual rules of recognised programs would merge or skip."""

    def __init__(self) -> None:
        # What this one does to a URL as well is no reason for suspicion.
        self._plain = Canonicalizer(preset="scrapy")
        self._usual = Canonicalizer(preset="scrapy")
        self._authorities: set[str] = set()

    def recognised(self, installations: Iterable[Installation]) -> None:
        """Apply the usual rules of *installations*, which have to be all those on their hosts."""
        by_host: dict[str, list[Installation]] = {}
        for one in installations:
            by_host.setdefault(one.host, []).append(one)
            self._authorities.add(one.authority)
        for host, found in by_host.items():
            rules = (rule for one in found for rule in one.rule_sets(certain=False))
            self._usual.declare(host, tuple(rules))

    def of(self, url: str) -> tuple[str, ...]:
        """Return the features of *url*: SUSPECTED, or none."""
        if not self._authorities or authority_of(url) not in self._authorities:
            return ()
        usual = self._usual
        is_suspected = usual.skips(url) or usual.canonicalize(url) != self._plain.canonicalize(url)
        return (SUSPECTED,) if is_suspected else ()
