"""The file of an observation store: opens it, makes its tables, and checks its version."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from scrapy_urlcanon.databases import use_write_ahead_log
from scrapy_urlcanon.exceptions import InputError, StoreVersionError

VERSION = 5
"""Version of the schema and of the digests."""

# In bytes. Of rows of 1.5 kB only two fit into a page of 4 kB, which wastes a quarter.
_PAGE_SIZE = 1 << 14

_PATIENCE = 5.0
"""Seconds to wait for a lock, the default of :func:`sqlite3.connect`."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rules (version TEXT PRIMARY KEY, rules TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crawls (
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,
    rules TEXT NOT NULL REFERENCES rules (version),
    ended TEXT
);
CREATE TABLE IF NOT EXISTS responses (
    id INTEGER PRIMARY KEY,
    crawl INTEGER REFERENCES crawls (id),
    domain TEXT NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    raw_sha1 TEXT NOT NULL,
    canonical TEXT NOT NULL,
    redirect TEXT NOT NULL,
    text INTEGER NOT NULL REFERENCES texts (id),
    key INTEGER
);
CREATE TABLE IF NOT EXISTS texts (
    id INTEGER PRIMARY KEY,
    text_sha1 TEXT NOT NULL,
    title TEXT NOT NULL,
    lines BLOB NOT NULL,
    other INTEGER REFERENCES texts (id)
);
CREATE INDEX IF NOT EXISTS responses_by_domain ON responses (domain, crawl);
CREATE TABLE IF NOT EXISTS visits (
    id INTEGER PRIMARY KEY,
    crawl INTEGER REFERENCES crawls (id),
    domain TEXT NOT NULL,
    steady BLOB NOT NULL,
    noise BLOB NOT NULL,
    outlines BLOB,
    url TEXT,
    text INTEGER REFERENCES texts (id)
);
CREATE TABLE IF NOT EXISTS audits (
    id INTEGER PRIMARY KEY,
    crawl INTEGER REFERENCES crawls (id),
    domain TEXT NOT NULL,
    url TEXT NOT NULL,
    kept TEXT NOT NULL,
    option TEXT NOT NULL,
    pattern TEXT,
    setting TEXT,
    same INTEGER NOT NULL
);
"""

LINKS = """
CREATE TABLE IF NOT EXISTS links (
    domain TEXT NOT NULL,
    crawl INTEGER NOT NULL,
    number INTEGER NOT NULL,
    key INTEGER,
    linked BLOB NOT NULL,
    PRIMARY KEY (domain, crawl, number)
) WITHOUT ROWID
"""
"""The table of links is made with the first link: an empty table takes 16 kB."""


def open_store(path: Path, *, writable: bool) -> sqlite3.Connection:
    """Open the file of a store; create it if it is to be written and missing.

    :raises StoreVersionError: if another version of this package wrote it.
    :raises InputError: if it is something else, or cannot be opened.
    """
    if not writable and not path.exists():
        raise InputError(f"{path}: no such file")
    try:
        connection = _connect(path, writable=writable)
        try:
            _prepare(connection, path, writable=writable)
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        # Missing permissions, a lock or a full disk.
        done = "written" if writable else "read"
        raise InputError(f"{path}: cannot be {done}: {error}") from None
    except sqlite3.Error as error:
        raise InputError(f"{path}: expected an observation store: {error}") from None
    return connection


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    """Open the database at *path*, which may be on read-only storage if it is only read.

    To read a database in WAL mode SQLite creates files beside it, which fails in a read-only
    directory. If there are no such files, nobody is writing, and the database file is complete: it
    is opened as immutable.
    """
    wal, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    is_alone = not shared.exists() and not (wal.exists() and wal.stat().st_size)
    if not writable and is_alone and not os.access(path.parent, os.W_OK):
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, check_same_thread=False)
    return sqlite3.connect(path, check_same_thread=False)


def _remedy(version: str) -> str:
    """Return what to do about a store of another *version*."""
    known = str(VERSION)
    if version.isdecimal() and (len(version), version) > (len(known), known):
        return "a newer version of scrapy-urlcanon wrote it, and can read it"
    return "crawl again, and record into a new file"


def _prepare(connection: sqlite3.Connection, path: Path, *, writable: bool) -> None:
    """Check that the file is a store of this version before anything is written to it."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if tables and "meta" not in tables:
        raise InputError(f"{path}: expected an observation store, and it is another database")
    if tables:
        found = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        version = str(found[0]) if found else "none"
        if version != str(VERSION):
            raise StoreVersionError(
                f"{path}: version {version}, and this package reads version {VERSION}; "
                f"{_remedy(version)}"
            )
    elif not writable:
        raise InputError(f"{path}: expected an observation store, and it is empty")
    if writable:
        connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
        # With a write-ahead log others can read while the crawl writes, and a kill leaves whole
        # commits.
        use_write_ahead_log(connection, patience=_PATIENCE)
        connection.execute("PRAGMA synchronous = NORMAL")
        # In one transaction: a kill leaves an empty file, not half of the tables.
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}")
        with connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),))
