"""Changes the rules during a crawl: suspends entries, and adds what sites declare."""

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
    """Changes the rules of a crawl."""

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        self._canonicalizer = canonicalizer
        self.on_change: list[Callable[[], None]] = []
        """Called after each change, since fingerprints may have changed."""
        self.on_suspend: list[Callable[[RuleEntry, str], None]] = []
        """Called with each suspended entry and its domain."""
        self._suspended: set[tuple[RuleEntry, str]] = set()
        self._declared: dict[str, dict[str, tuple[RuleSet, ...]]] = {}

    def suspend(self, entry: RuleEntry, domain: str) -> bool:
        """Turn *entry* off on *domain*, in normalized form, for the rest of the crawl.

        :return: False if it is off already.
        """
        if (entry, domain) in self._suspended:
            return False
        self._suspended.add((entry, domain))
        if entry.option in BY_NAME:
            self._canonicalizer.suspend(entry, domain)
            self._tell_of_change()
        for listener in self.on_suspend:
            listener(entry, domain)
        return True

    @property
    def suspended(self) -> frozenset[tuple[RuleEntry, str]]:
        """The suspended entries, each with its domain."""
        return frozenset(self._suspended)

    def is_suspended(self, entry: RuleEntry, domain: str) -> bool:
        """Tell whether *entry* was turned off on *domain*."""
        return (entry, domain) in self._suspended

    def declare(self, host: str, by: str, rule_sets: tuple[RuleSet, ...]) -> None:
        """Apply *rule_sets* to the site on *host*, replacing earlier ones from the same source.

        :param by: the source, such as ``Clean-param``. Sources that came later are stronger.
        """
        declared = self._declared.setdefault(host, {})
        declared[by] = rule_sets
        self._canonicalizer.declare(host, tuple(chain.from_iterable(declared.values())))
        self._tell_of_change()

    def _tell_of_change(self) -> None:
        for listener in self.on_change:
            listener()
