"""The settings of the plugin, read and validated together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import BaseSettings

from scrapy_urlcanon.canonicalizer.patterns import parse_pattern
from scrapy_urlcanon.canonicalizer.presets import DEFAULT_PRESET
from scrapy_urlcanon.crawl.record.path import record_template
from scrapy_urlcanon.crawl.safeguards import NAMES as SAFEGUARDS
from scrapy_urlcanon.crawl.safeguards import Safeguards
from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.rule_files.loading import load_configuration as load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.configuration import Configuration

PREFIX = "URLCANON_"
META_KEY = "urlcanon"
"""``request.meta["urlcanon"]``: False, or options for this request alone."""

DECLARED_CANONICAL_SETTING: Final = "URLCANON_DECLARED_CANONICAL"
DECLARED_CANONICAL: Final = "declared_canonical"
"""To what a drop is due where no rule is: a page that the spider has declares its URL."""
DECLARED_CANONICAL_TITLE: Final = "Do not fetch what a page declares to be its canonical URL"

STORES = HTTPCACHE, DELTAFETCH = ("HTTPCACHE_ENABLED", "DELTAFETCH_ENABLED")
"""Settings that turn on what stores pages by their fingerprints from crawl to crawl."""

KNOWN = (
    "URLCANON_CLEAN_PARAM",
    "URLCANON_ENABLED",
    "URLCANON_FALLBACK_REQUEST_FINGERPRINTER_CLASS",
    "URLCANON_PRESET",
    "URLCANON_RECORD",
    "URLCANON_REPORT",
    "URLCANON_REWRITE",
    "URLCANON_RULES",
    "URLCANON_RULES_FILES",
    "URLCANON_SPIDER_RULES",
    *SAFEGUARDS,
)
"""Every setting of the plugin."""


def load_configuration(settings: BaseSettings) -> Configuration:
    """Return the rules of *settings*, all layers but ``request.meta``.

    :raises ConfigurationError: with every problem of every setting of the plugin but
        ``URLCANON_REPORT``, which the report reads.
    """
    problems = list(_problems_of_names(settings))
    rules = []
    for name in ("URLCANON_RULES", "URLCANON_SPIDER_RULES"):
        try:
            rules.append((name, _plain(settings.get(name))))
        except ValueError as error:
            problems.append(Problem(name, f"expected a mapping or JSON: {error}"))
    for load in (rewrites, Safeguards.load, record_template):
        try:
            load(settings)
        except ConfigurationError as error:
            problems += error.problems
    for name in ("URLCANON_CLEAN_PARAM", "URLCANON_ENABLED"):
        try:
            settings.getbool(name)
        except ValueError:
            message = f"expected True or False, got {settings.get(name)!r}"
            problems.append(Problem(name, message))
    try:
        configuration = load_rules(
            settings.get("URLCANON_PRESET", DEFAULT_PRESET),
            rules_files=settings.getlist("URLCANON_RULES_FILES"),
            rules=rules,
            setting_names=("URLCANON_PRESET", "URLCANON_RULES_FILES"),
        )
    except ConfigurationError as error:
        problems += error.problems
    if problems:
        raise ConfigurationError(problems)
    return configuration


def rewrites(settings: BaseSettings) -> bool | frozenset[str]:
    """Return ``URLCANON_REWRITE``: for all sites, for none, or the hosts it is on for.

    :raises ConfigurationError: if it is neither True or False nor a list of hosts.
    """
    name = "URLCANON_REWRITE"
    value = settings.get(name, False)
    if not isinstance(value, (list, tuple)):
        try:
            return settings.getbool(name)
        except ValueError:
            problem = Problem(name, f"expected True, False or a list of hosts, got {value!r}")
            raise ConfigurationError([problem]) from None
    hosts, problems = set(), []
    for text in value:
        try:
            pattern = parse_pattern(text)
        except (TypeError, ValueError) as error:
            problems.append(Problem(name, str(error), str(text)))
            continue
        if not pattern.is_for_whole_host:
            problems.append(Problem(name, "expected a host without a path", text))
        hosts.add(pattern.host)
    if problems:
        raise ConfigurationError(problems)
    return frozenset(hosts)


def _problems_of_names(settings: BaseSettings) -> Iterator[Problem]:
    for name in settings:
        if isinstance(name, str) and name.startswith(PREFIX) and name not in KNOWN:
            yield Problem(name, "no such setting" + did_you_mean(name, KNOWN))


def _plain(value: Any) -> Any:
    """Return *value* as plain data: a command line gives JSON, Scrapy its own mapping."""
    if isinstance(value, str):
        return json.loads(value)
    return value.copy_to_dict() if isinstance(value, BaseSettings) else value
