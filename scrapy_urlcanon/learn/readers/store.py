"""Observations from the store that a crawl wrote, and the rules that it was made under."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import InputError
from scrapy_urlcanon.learn.observation import BadObservationError, Observation
from scrapy_urlcanon.learn.results.in_force import AuditedUrl, CrawlRecord, RuleInForce
from scrapy_urlcanon.learn.results.rule import Key, key_of
from scrapy_urlcanon.learn.store import open_store
from scrapy_urlcanon.pages.signature import BOILERPLATE_SHARE, Signature, unpack

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

#: A site with fewer distinct texts has no boilerplate that could be told from its content.
MIN_TEXTS = 5


def read_store(
    path: str | os.PathLike[str], skipped: Counter[str] | None = None
) -> Iterator[Observation]:
    """Yield the observations of a store, domain by domain.

    With the digests of the text without boilerplate.

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
            rows = connection.execute(
                "SELECT url, status, bytes, raw_sha1, text_sha1, title, lines, canonical, redirect "
                "FROM responses WHERE domain = ? ORDER BY crawl, id",
                (domain,),
            )
            for url, status, size, raw, text, title, lines, canonical, redirect in rows:
                try:
                    main, simhash = Signature(raw, text, 0, unpack(lines)).main(boilerplate)
                    observation = Observation.from_fields(
                        {
                            "url": url,
                            "status": status,
                            "raw_sha1": raw,
                            "text_sha1": text,
                            "title": title,
                            "main_sha1": main,
                            "simhash64": None if simhash is None else f"{simhash:x}",
                            "bytes": size,
                            "canonical": canonical,
                            "redirect": redirect,
                        }
                    )
                except BadObservationError as error:
                    skipped[error.reason] += 1
                except ValueError:
                    skipped["lines cut short"] += 1
                else:
                    yield observation


def read_crawls(path: str | os.PathLike[str]) -> Iterator[CrawlRecord]:
    """Yield what each crawl of a store says about the rules that it was made under.

    :raises StoreVersionError: where another version of this package wrote it.
    :raises InputError: where it is no store, or cannot be read.
    """
    with _reading(path) as connection:
        domains: dict[int, set[str]] = {}
        for crawl, domain in connection.execute("SELECT DISTINCT crawl, domain FROM responses"):
            domains.setdefault(crawl, set()).add(domain)
        audits: dict[int, dict[Key, list[AuditedUrl]]] = {}
        for crawl, url, kept, option, pattern, setting, same in connection.execute(
            "SELECT crawl, url, kept, option, pattern, setting, same FROM audits "
            "WHERE pattern IS NOT NULL"
        ):
            key = key_of(pattern, option, json.loads(setting))
            found = audits.setdefault(crawl, {}).setdefault(key, [])
            found.append(AuditedUrl(url, kept, bool(same)))
        for crawl, started, rules in connection.execute(
            "SELECT id, started, rules.rules FROM crawls JOIN rules ON crawls.rules = version "
            "ORDER BY id"
        ):
            yield CrawlRecord(
                started,
                tuple(RuleInForce(*rule) for rule in json.loads(rules)),
                frozenset(domains.get(crawl, ())),
                {key: tuple(pairs) for key, pairs in audits.get(crawl, {}).items()},
            )


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    with closing(open_store(Path(path), writable=False)) as connection:
        try:
            yield connection
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be read to its end: {error}") from error


def _boilerplate(connection: sqlite3.Connection, domain: str) -> set[int]:
    """Return the masked lines that stand on too many of a domain's distinct texts to be content."""
    counts: Counter[int] = Counter()
    texts = 0
    rows = connection.execute(
        "SELECT lines FROM responses WHERE domain = ? AND text_sha1 != '' GROUP BY text_sha1",
        (domain,),
    )
    for (lines,) in rows:
        texts += 1
        try:
            counts.update({line.masked for line in unpack(lines)})
        except ValueError:
            continue
    if texts < MIN_TEXTS:
        return set()
    return {masked for masked, count in counts.items() if count > max(1, BOILERPLATE_SHARE * texts)}
