"""What changes the rules while a crawl runs: suspended entries, and what sites declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    from scrapy_urlcanon.rule_files.clean_param import CleanParam


class RuleChanges:
    """Changes the rules of a crawl.

    :param on_change: is called after each change: fingerprints may be others now.
    :param on_suspend: is called with each suspended entry and its domain.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        on_change: Callable[[], None],
        on_suspend: Callable[[RuleEntry, str], None],
    ) -> None:
        self._canonicalizer = canonicalizer
        self._on_change = on_change
        self._on_suspend = on_suspend
        self._suspended: set[tuple[RuleEntry, str]] = set()

    def suspend(self, entry: RuleEntry, domain: str) -> bool:
        """Turn *entry* off on *domain*, a normalized one, for the rest of the crawl.

        Return False where it is off already.
        """
        if (entry, domain) in self._suspended:
            return False
        self._suspended.add((entry, domain))
        if entry.option in BY_NAME:
            self._canonicalizer.suspend(entry, domain)
            self._on_change()
        self._on_suspend(entry, domain)
        return True

    @property
    def suspended(self) -> frozenset[tuple[RuleEntry, str]]:
        """What was turned off, each with its domain."""
        return frozenset(self._suspended)

    def is_suspended(self, entry: RuleEntry, domain: str) -> bool:
        """Tell whether *entry* was turned off on *domain*."""
        return (entry, domain) in self._suspended

    def declare(self, robots_url: str, declared: CleanParam) -> None:
        """Take over what the robots.txt at *robots_url* declares."""
        self._canonicalizer.declare(*declared.rule_sets(robots_url))
        self._on_change()
