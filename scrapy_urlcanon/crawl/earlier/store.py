"""The store of ``URLCANON_SEEN``: which pages runs have got, when, and which rules were wrong."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import RuleEntry
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.seen_sets.database import Kind, open_database
from scrapy_urlcanon.crawl.settings import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

KIND: Final = Kind(
    setting=name_of("seen"),
    what="store of the pages of earlier runs",
    application=0x75726C73,
    version=1,
    schema=(
        """CREATE TABLE pages (
            key BLOB PRIMARY KEY, url TEXT NOT NULL, domain TEXT NOT NULL,
            at REAL NOT NULL, by_url INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX pages_by_domain ON pages (domain, at)",
        "CREATE TABLE rules (digest TEXT NOT NULL)",
        "INSERT INTO rules VALUES ('')",
        """CREATE TABLE suspended (
            rules TEXT NOT NULL, option TEXT NOT NULL, entry TEXT NOT NULL, domain TEXT NOT NULL,
            PRIMARY KEY (rules, option, entry, domain)
        ) WITHOUT ROWID""",
    ),
    advice="name another file, or restore a copy of it",
)
_INSERT = "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)"
# Whatever wrote to the file, dates are shown between the years 1970 and 9999.
_SHOWN_TIME = "min(max(CAST(at AS REAL), 0), 253402300799)"


class SeenPage(NamedTuple):
    """One page that a run has got."""

    key: bytes
    """The fingerprint of its requests."""
    url: str
    """The URL under which it was fetched."""
    at: float
    """When it was got, in seconds since 1970 (Unix time)."""
    by_url: bool
    """Whether the key is made from the URL alone, so that it can be made again under other
    rules."""


class SeenPages:
    """The pages that runs have got. Several processes may have the file open.

    :raises ConfigurationError: if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = open_database(path, KIND, is_shared=True)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def got(self, key: bytes) -> SeenPage | None:
        """Return the page with this *key*, if a run has got it.

        :raises sqlite3.Error: if that cannot be read.
        """
        query = "SELECT key, url, at, by_url FROM pages WHERE key = ?"
        row = self._database.execute(query, (key,)).fetchone()
        return SeenPage(*row) if row else None

    def add(self, pages: Iterable[SeenPage], digest: str) -> None:
        """Add *pages*, or update them if they were got again.

        :param digest: the digest of the rules under which their keys were made.
        :raises sqlite3.Error: if they cannot be written.
        """
        with self._database:
            self._database.executemany(_INSERT, map(_row, pages))
            # If another process uses other rules, the next run makes all keys anew.
            self._database.execute("UPDATE rules SET digest = '' WHERE digest != ?", (digest,))

    def remove(self, keys: Iterable[bytes]) -> None:
        """Remove the pages with these *keys*.

        :raises sqlite3.Error: if that cannot be written.
        """
        with self._database:
            self._database.executemany("DELETE FROM pages WHERE key = ?", ((key,) for key in keys))

    def add_urls(self, urls: Iterable[str]) -> int:
        """Add pages by their URLs; return how many URLs there were.

        Their keys are made when the next crawl begins, since only a crawl knows the rules.
        """
        count, now = 0, time.time()
        with self._database:
            for count, url in enumerate(urls, 1):  # noqa: B007
                page = SeenPage(key_of_unknown(url), url, now, by_url=True)
                self._database.execute(_INSERT, _row(page))
            self._database.execute("UPDATE rules SET digest = ''")
        return count

    def list(
        self, domain: str | None = None, before: float | None = None
    ) -> Iterator[tuple[float, str]]:
        """Yield the time and URL of each page, only of *domain* or got *before* if given."""
        where, values = _where(domain, before)
        yield from self._database.execute(
            f"SELECT {_SHOWN_TIME}, CAST(url AS TEXT) FROM pages{where} ORDER BY domain, at, url",  # noqa: S608
            values,
        )

    def prune(self, domain: str | None, before: float | None) -> int:
        """Remove the pages of *domain*, or got *before*; return how many.

        The file shrinks to what is left, unless another process has it open or the disk is full.
        """
        where, values = _where(domain, before)
        with self._database:
            removed = self._database.execute(f"DELETE FROM pages{where}", values).rowcount  # noqa: S608
        if removed:
            with suppress(sqlite3.OperationalError):
                self._database.execute("VACUUM")
        return removed

    def set_clock_back(self, now: float, to: float) -> int:
        """Set the time of pages that were got after *now* to *to*: a clock was set back.

        :return: how many pages.
        """
        with self._database:
            return self._database.execute(
                "UPDATE pages SET at = ? WHERE at > ?", (to, now)
            ).rowcount

    def suspend(self, rules: str, entry: RuleEntry, domain: str) -> None:
        """Store that *entry* is wrong on *domain*.

        The next run makes all keys anew, since the entry took part in making those stored.

        :param rules: the digest of the rules that have the entry.
        :raises sqlite3.Error: if that cannot be written.
        """
        with self._database:
            is_new = self._database.execute(
                "INSERT OR IGNORE INTO suspended VALUES (?, ?, ?, ?)", (rules, *entry, domain)
            ).rowcount
            if is_new:
                self._database.execute("UPDATE rules SET digest = ''")

    def suspended(self, rules: str) -> tuple[tuple[RuleEntry, str], ...]:
        """Return the entries that runs found wrong, each with its domain.

        :param rules: the digest of the rules that have the entries.
        :raises sqlite3.Error: if that cannot be read.
        """
        rows = self._database.execute(
            "SELECT option, entry, domain FROM suspended WHERE rules = ?", (rules,)
        )
        return tuple((RuleEntry(option, entry), domain) for option, entry, domain in rows)

    def make_keys(self, digest: str, key_of: Callable[[str], bytes]) -> int:
        """Make all keys anew if they were made under other rules.

        Of several pages that become one, the one got last is kept.

        :param digest: the digest of the present rules.
        :param key_of: returns the key of a URL.
        :return: how many pages have another key now.
        :raises sqlite3.Error: if they cannot be read or written.
        """
        known, has_pages = self._database.execute(
            "SELECT digest, EXISTS (SELECT 1 FROM pages) FROM rules"
        ).fetchone()
        if known == digest:
            return 0
        if has_pages:
            # This takes half a minute for a million pages.
            logger.info(
                "%(path)s: the rules have changed since the last run, or URLs were imported: "
                "finding out which pages are in it.",
                {"path": self._path},
            )
        changed = 0
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("CREATE TEMP TABLE made AS SELECT * FROM pages WHERE by_url = 1")
            self._database.execute("DELETE FROM pages WHERE by_url = 1")
            rows = self._database.execute("SELECT * FROM made ORDER BY at")
            for key, url, _, at, by_url in rows:
                new = key_of(url)
                changed += new != key
                self._database.execute(_INSERT, _row(SeenPage(new, url, at, by_url)))
            self._database.execute("DROP TABLE made")
            self._database.execute("UPDATE rules SET digest = ?", (digest,))
        return changed


def key_of_unknown(url: str) -> bytes:
    """Return a key for a page at *url* whose real key is not made yet, or cannot be made."""
    return b"url " + url.encode(errors="replace")


def _row(page: SeenPage) -> tuple[bytes, str, str, float, bool]:
    return page.key, page.url, domain_of(page.url), page.at, page.by_url


def _where(domain: str | None, before: float | None) -> tuple[str, tuple[object, ...]]:
    given = {"domain = ?": domain, "at < ?": before}
    used = {condition: value for condition, value in given.items() if value is not None}
    return " WHERE " + " AND ".join(used) if used else "", tuple(used.values())
