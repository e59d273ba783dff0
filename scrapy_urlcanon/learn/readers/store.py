"""Reads the observations in the store that a crawl wrote, and the rules that it was made under."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.configuration import Configuration, Source
from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.exceptions import ConfigurationError, InputError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.results.in_force import AuditedUrl, CrawlRecord, Credit, RuleInForce
from scrapy_urlcanon.learn.store import SAME_URL, decompress, open_store
from scrapy_urlcanon.pages.signature import BOILERPLATE_SHARE, Boilerplate, Lines, Signature, unpack
from scrapy_urlcanon.rule_files.documents import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


#: A site with fewer distinct texts has no boilerplate that could be told from its content.
MIN_TEXTS = 5

#: Distinct texts of a site, at most, that its boilerplate is told from: those with the smallest
#: digests, which are a random sample. A share of .2 is seen in so many as .2 +- .004.
SAMPLED_TEXTS = 10_000

# The responses with what they said, in the same columns whatever the version of the store.
_SEEN = (
    "CREATE TEMP VIEW seen AS "
    "SELECT responses.*, texts.text_sha1, texts.title, texts.lines, others.lines AS other "
    "FROM responses LEFT JOIN texts ON texts.id = text "
    "LEFT JOIN texts AS others ON others.id = texts.other"
)
_SEEN_BEFORE_5 = "CREATE TEMP VIEW seen AS SELECT *, NULL AS other FROM responses"
# Of the captures of one text the first: media are no part of its digest.
_SAMPLE = (
    "SELECT lines, other FROM seen WHERE id IN ("
    "SELECT min(id) FROM seen WHERE domain = ? AND text_sha1 != '' "
    "GROUP BY text_sha1 ORDER BY text_sha1 LIMIT ?)"
)
_HAS_TEXTS = "SELECT name FROM sqlite_master WHERE name = 'texts'"
_KNOWN_TEXTS = 20_000
_PARTS_OF_A_RULE = 3
_SHOWN = 80


def read_store(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[Observation]:
    """Yield the observations of a store, domain by domain.

    They have the digests of the text without boilerplate.

    :raises StoreVersionError: where another version of this package wrote it.
    :raises InputError: where it is no store, or cannot be read to its end.
    """
    skipped = Counter() if skipped is None else skipped
    with _reading(path) as connection:
        domains = connection.execute(
            "SELECT DISTINCT domain FROM responses ORDER BY domain"
        ).fetchall()
        for (domain,) in domains:
            boilerplate = _boilerplate(connection, domain)
            # Crawls that rules are to be learned from have each text many times.
            known: dict[tuple[object, ...], dict[str, object]] = {}
            rows = connection.execute(
                "SELECT url, status, bytes, raw_sha1, canonical, redirect, "
                "text_sha1, title, lines, other FROM seen WHERE domain = ? ORDER BY crawl, id",
                (domain,),
            )
            for url, status, size, raw, canonical, redirect, text, title, packed, other in rows:
                try:
                    key = text, title, hash(packed), hash(other)
                    said = known.get(key)
                    if said is None:
                        if len(known) >= _KNOWN_TEXTS:
                            known.clear()
                        said = known[key] = _said(text, title, _lines(packed, other), boilerplate)
                    observation = Observation.from_fields(
                        {
                            **said,
                            "url": url,
                            "status": status,
                            "raw_sha1": raw.hex() if isinstance(raw, bytes) else raw,
                            "bytes": size,
                            "canonical": url if canonical == SAME_URL else canonical,
                            "redirect": redirect,
                        }
                    )
                except BadObservationError as error:
                    skipped[error.reason] += 1
                except ValueError:
                    skipped["lines cut short"] += 1
                else:
                    yield observation


def _lines(packed: object, other: object) -> Lines:
    """Return the lines that are stored as *packed*, with the *other* ones where they need these.

    :raises ValueError: where they are no lines.
    """
    if not isinstance(packed, bytes) or not isinstance(other, (bytes, NoneType)):
        raise ValueError(f"expected lines, got {_short(packed)}")  # noqa: TRY004
    return unpack(decompress(packed, other) if other else packed)


def _said(
    digest: object, title: object, lines: Lines, boilerplate: Boilerplate
) -> dict[str, object]:
    """Return the fields of an observation that come from the text of a page."""
    main, simhash = Signature("", "", 0, lines).main(boilerplate)
    return {
        "text_sha1": digest.hex() if isinstance(digest, bytes) else digest,
        "title": title,
        "main_sha1": main,
        "simhash64": None if simhash is None else f"{simhash:x}",
    }


def read_crawls(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[CrawlRecord]:
    """Yield what each crawl of a store says about the rules that it was made under.

    Verdicts of an audit that cannot be understood are counted in *skipped*.

    :raises StoreVersionError: where another version of this package wrote it.
    :raises InputError: where it is no store, or cannot be read.
    """
    skipped = Counter() if skipped is None else skipped
    with _reading(path) as connection:
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
    """Return what the verdict of an audit is to be credited to.

    :raises ValueError: if that is no rule.
    """
    option, _, name = _text(entry).partition(":")
    rule = None if pattern is None else _rule(pattern, option, _json(setting)).key
    return Credit(RuleEntry(option, name), _text(domain), rule)


def _rules(document: object) -> tuple[RuleInForce, ...]:
    rules = _json(document)
    if not isinstance(rules, list):
        raise ValueError(f"expected a list, got {_short(rules)}")  # noqa: TRY004
    found = []
    for item in rules:
        if not isinstance(item, list) or len(item) != _PARTS_OF_A_RULE:
            raise ValueError(f"expected a pattern, an option and a setting, got {_short(item)}")
        found.append(_rule(*item))
    return tuple(found)


def _rule(pattern: object, option: object, setting: object) -> RuleInForce:
    """Return the rule, if it is one that a configuration takes.

    :raises ValueError: if it is not.
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
        raise ValueError(f"expected a text, got {_short(value)}")  # noqa: TRY004
    return value


def _short(value: object) -> str:
    return repr(value)[:_SHOWN]


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    with closing(open_store(Path(path), writable=False)) as connection:
        # What is no UTF-8 is to be one bad row, and not the end.
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            is_before_5 = not connection.execute(_HAS_TEXTS).fetchall()
            connection.execute(_SEEN_BEFORE_5 if is_before_5 else _SEEN)
            yield connection
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be read to its end: {error}") from error


def _boilerplate(connection: sqlite3.Connection, domain: str) -> Boilerplate:
    """Return the lines that stand on too many of a domain's distinct texts to be content."""
    masked: Counter[int] = Counter()
    exact: Counter[int] = Counter()
    number = 0
    for packed, other in connection.execute(_SAMPLE, (domain, SAMPLED_TEXTS)):
        number += 1
        try:
            shapes, lines, _ = _lines(packed, other).columns
        except ValueError:
            continue
        masked.update({*shapes})
        exact.update({*lines})
    if number < MIN_TEXTS:
        return Boilerplate()
    most = max(1, BOILERPLATE_SHARE * number)
    return Boilerplate(
        {line for line, count in masked.items() if count > most},
        {line for line, count in exact.items() if count > most},
    )
