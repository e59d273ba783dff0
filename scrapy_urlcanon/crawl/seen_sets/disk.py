"""A set of seen fingerprints on disk: any number of them in bounded memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from errno import ENOSPC
from typing import TYPE_CHECKING, Final

from scrapy_urlcanon.crawl.seen_sets.base import bits_of_digest, failing
from scrapy_urlcanon.crawl.seen_sets.database import Kind, open_database
from scrapy_urlcanon.crawl.seen_sets.locked import lock
from scrapy_urlcanon.crawl.settings import name_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KIND: Final = Kind(
    setting=name_of("seen_set"),
    what="set of seen fingerprints",
    application=0x75726C63,
    version=1,
    schema=(
        "CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE size (count INTEGER)",
        "INSERT INTO size VALUES (0)",
    ),
    advice="begin a new job, or restore a copy of it",
)
_KEY: Final = 16
_CACHE = 64 * 1024
"""How many kibibytes of the database are cached in memory."""
_BATCH = 20_000


class DiskSet:
    """Keeps 128 bits of each fingerprint in an SQLite database.

    New fingerprints are appended to a log file at once, and moved to the database in sorted batches
    of 20,000. So a kill of the process loses nothing, and few pages of the database are written for
    each fingerprint. While the disk is full, new fingerprints stay in memory.

    :param bits_of: returns at least 16 hashed bytes of a fingerprint.
    :raises ConfigurationError: if the files cannot be read, or another process has them open.
    """

    def __init__(self, path: Path, *, bits_of: Callable[[bytes], bytes] = bits_of_digest) -> None:
        self._bits_of = bits_of
        self._is_closed = False
        self._unwritten = failing(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        log = _log_of(path)
        log.touch()
        self._log = log.open("r+b", buffering=0)
        self._new: set[bytes] = set()
        try:
            lock(self._log, path, name_of("seen_set"))
            self._database = open_database(path, KIND, is_shared=False)
            self._database.execute(f"PRAGMA cache_size = -{_CACHE}")
            self._has = self._database.execute
            data = self._log.read()
        except BaseException:
            self._log.close()
            raise
        # An incomplete key at the end was being written when the process was killed.
        whole = len(data) - len(data) % _KEY
        self._new.update(data[at : at + _KEY] for at in range(0, whole, _KEY))
        self._count: int = self._database.execute("SELECT count FROM size").fetchone()[0]
        self._store()

    def add(self, fingerprint: bytes) -> bool:
        """Add *fingerprint*; return whether it is new."""
        key = self._bits_of(fingerprint)[:_KEY]
        if self._knows(key):
            return False
        self._new.add(key)
        if not self._unwritten.is_so:
            self._write(key)
        if len(self._new) % _BATCH == 0:
            self._store()
        return True

    def discard(self, fingerprint: bytes) -> None:
        """Remove *fingerprint* if it is there."""
        key = self._bits_of(fingerprint)[:_KEY]
        if not self._knows(key):
            return
        self._store()
        self._new.discard(key)
        database = self._database
        try:
            with database:
                gone = database.execute("DELETE FROM seen WHERE key = ?", (key,)).rowcount
                database.execute("UPDATE size SET count = ?", (self._count - gone,))
        except sqlite3.OperationalError as error:
            self._unwritten.note(error)
        else:
            self._count -= gone

    def __contains__(self, fingerprint: object) -> bool:
        if self._is_closed:
            # A job asks after closing, when it writes down what was seen and waits.
            return True
        return isinstance(fingerprint, bytes) and self._knows(self._bits_of(fingerprint)[:_KEY])

    def __len__(self) -> int:
        return self._count + len(self._new)

    def close(self) -> None:
        """Write what is not written yet, and close the files."""
        self._store()
        self._is_closed = True
        self._database.close()
        self._log.close()

    def _knows(self, key: bytes) -> bool:
        if key in self._new:
            return True
        row = self._has("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone()
        return row is not None

    def _write(self, key: bytes) -> None:
        try:
            written = self._log.write(key)
        except OSError as error:
            self._unwritten.note(error)
            return
        if written != _KEY:
            # A full disk writes part of the key. Keys after it would be misread, so no more are
            # written until all are in the database.
            self._unwritten.note(OSError(ENOSPC, os.strerror(ENOSPC)))

    def _store(self) -> None:
        """Move new fingerprints to the database, or keep them in memory if that fails."""
        if not self._new:
            return
        database = self._database
        try:
            # If this is rolled back, a later call tries again.
            with database:
                before = database.total_changes
                database.executemany(
                    "INSERT OR IGNORE INTO seen VALUES (?)", ((key,) for key in sorted(self._new))
                )
                count = self._count + database.total_changes - before
                database.execute("UPDATE size SET count = ?", (count,))
            self._log.seek(0)
            self._log.truncate()
        except (sqlite3.OperationalError, OSError) as error:
            self._unwritten.note(error)
            return
        self._count = count
        self._new.clear()
        self._unwritten.is_so = False


def count_in_database(path: Path) -> int:
    """Return how many fingerprints the database at *path* has, or 1 if it cannot be read."""
    log = _log_of(path)
    new = log.stat().st_size // _KEY if log.exists() else 0
    try:
        with closing(sqlite3.connect(path, timeout=0)) as database:
            count: int = database.execute("SELECT count FROM size").fetchone()[0]
    except sqlite3.DatabaseError:
        # Opening the set will raise a better error.
        return 1
    return count + new


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")
