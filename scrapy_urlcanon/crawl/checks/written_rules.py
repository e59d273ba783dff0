"""The rules of a crawl as they were written, whatever was turned off meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer import Canonicalizer

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.configuration import Configuration, RuleSet


def as_written(canonicalizer: Canonicalizer) -> Canonicalizer:
    """Return a canonicalizer with all that users and sites wrote, and nothing suspended.

    >>> from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    >>> canonicalizer = Canonicalizer({"*": {"drop_params": ["id"]}})
    >>> canonicalizer.suspend(RuleEntry("drop_params", "id"), "example.com")
    >>> as_written(canonicalizer).canonicalize("http://example.com/?id=1")
    'http://example.com/'
    """
    found = Canonicalizer.from_configuration(without_suspended(canonicalizer.configuration))
    for host, rule_sets in canonicalizer.declared.items():
        found.declare(host, rule_sets)
    return found


def without_suspended(configuration: Configuration) -> Configuration:
    """Return what users wrote of *configuration*, with nothing suspended."""
    return configuration._replace(origins=tuple(filter(_is_written, configuration.origins)))


def _is_written(rule_sets: tuple[RuleSet, ...]) -> bool:
    # What is suspended has a layer that names no pattern. An origin may be empty, and has a source.
    return not rule_sets or any(rule_set.layer.pattern is not None for rule_set in rule_sets)
