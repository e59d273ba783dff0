"""Reads from a store the rules that crawls were made under, and the verdicts of their audits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.exceptions import ConfigurationError, InputError
from scrapy_urlcanon.learn.readers.store import opened
from scrapy_urlcanon.learn.results.in_force import AuditedUrl, CrawlRecord, Credit, RuleInForce
from scrapy_urlcanon.rule_files.documents import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_PARTS_OF_A_RULE = 3


def read_crawls(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[CrawlRecord]:
    """Yield the rules and verdicts of each crawl of a store.

    :param skipped: counts verdicts that cannot be understood, by reason.
    :raises StoreVersionError: if another version of this package wrote the store.
    :raises InputError: if it is not a store, or cannot be read.
    """
    skipped = Counter() if skipped is None else skipped
    with opened(path) as connection:
        domains: dict[int, set[str]] = {}
        for crawl, domain in connection.execute("SELECT DISTINCT crawl, domain FROM responses"):
            domains.setdefault(crawl, set()).add(domain)
        audits: dict[int, dict[Credit, list[AuditedUrl]]] = {}
        for crawl, url, kept, same, *credited in connection.execute(
            "SELECT crawl, url, kept, same, domain, option, pattern, setting FROM audits "
            "ORDER BY id"
        ):
            try:
                credit = _credit(*credited)
                pair = AuditedUrl(_text(url), _text(kept), bool(same))
            except ValueError:
                skipped["no verdict of an audit"] += 1
                continue
            audits.setdefault(crawl, {}).setdefault(credit, []).append(pair)
        for crawl, started, rules in connection.execute(
            "SELECT id, started, rules.rules FROM crawls JOIN rules ON crawls.rules = version "
            "ORDER BY id"
        ):
            try:
                record = CrawlRecord(
                    _text(started),
                    _rules(rules),
                    frozenset(name for name in domains.get(crawl, ()) if isinstance(name, str)),
                    {credit: tuple(pairs) for credit, pairs in audits.get(crawl, {}).items()},
                )
            except ValueError as error:
                raise InputError(f"{path}: the rules of crawl {crawl!r}: {error}") from None
            yield record


def _credit(domain: object, entry: object, pattern: object, setting: object) -> Credit:
    """Return the rule that the verdict of an audit is about.

    :raises ValueError: if that is not a rule.
    """
    option, _, name = _text(entry).partition(":")
    rule = None if pattern is None else _rule(pattern, option, _json(setting)).key
    return Credit(RuleEntry(option, name), _text(domain), rule)


def _rules(document: object) -> tuple[RuleInForce, ...]:
    rules = _json(document)
    if not isinstance(rules, list):
        raise ValueError(f"expected a list, got {rules!r:.80}")  # noqa: TRY004
    found = []
    for item in rules:
        if not isinstance(item, list) or len(item) != _PARTS_OF_A_RULE:
            raise ValueError(f"expected a pattern, an option and a setting, got {item!r:.80}")
        found.append(_rule(*item))
    return tuple(found)


def _rule(pattern: object, option: object, setting: object) -> RuleInForce:
    """Return the rule.

    :raises ValueError: if it is not valid in a configuration.
    """
    rule = RuleInForce(_text(pattern), _text(option), setting)
    try:
        Configuration.load("scrapy", [Source("rules", {rule.pattern: {rule.option: setting}})])
    except ConfigurationError as error:
        raise ValueError(str(error.problems[0])) from None
    return rule


def _json(text: object) -> object:
    return parse_json(_text(text))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {value!r:.80}")  # noqa: TRY004
    return value
