"""What changes the rules of a crawl: suspended entries, what sites declare, what is known."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.rules import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.canonicalizer.configuration import RuleSet
    from scrapy_urlcanon.canonicalizer.entries import RuleEntry


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
        self._declared: dict[str, dict[str, tuple[RuleSet, ...]]] = {}

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

    def declare(self, host: str, by: str, rule_sets: tuple[RuleSet, ...]) -> None:
        """Take over what is known of the site on *host*, in place of what came from there before.

        :param by: what says so; the last ones to begin to are the strongest.
        """
        declared = self._declared.setdefault(host, {})
        declared[by] = rule_sets
        self._canonicalizer.declare(host, tuple(chain.from_iterable(declared.values())))
        self._on_change()
