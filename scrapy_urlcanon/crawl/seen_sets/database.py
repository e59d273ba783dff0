"""Opens, checks and creates the SQLite databases of the plugin."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.crawl.seen_sets.locked import in_use
from scrapy_urlcanon.databases import use_write_ahead_log
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from pathlib import Path


_PATIENCE = 5.0
"""How many seconds to wait for another process to finish writing to a shared file."""


class Kind(NamedTuple):
    """The format of a database, and how to report that a file does not have it."""

    setting: str
    """The setting that names the file or turns it on."""
    what: str
    application: int
    """SQLite's ``application_id``."""
    version: int
    schema: tuple[str, ...]
    advice: str
    """What the user can do if the file cannot be used."""


def open_database(path: Path, kind: Kind, *, is_shared: bool) -> sqlite3.Connection:
    """Open the database at *path*, and create it if there is none.

    A kill of the process loses nothing that was committed. A crash of the machine may lose what was
    written since the last checkpoint.

    :param is_shared: whether other processes may have it open at the same time.
    :raises ConfigurationError: if it cannot be used: it is another kind of file, of another
        version, truncated, or in use by another process.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size == 1:
            # SQLite takes such a file for an empty database (``unixFileSize`` of its
            # ``os_unix.c``).
            raise _unusable(path, kind, f"it is no {kind.what}")
        database = sqlite3.connect(path, timeout=_PATIENCE if is_shared else 0)
        try:
            _prepare(database, path, kind, is_shared=is_shared)
        except BaseException:
            database.close()
            raise
    except (sqlite3.DatabaseError, OSError) as error:
        if "locked" in str(error):
            raise in_use(path, kind.setting) from error
        raise _unusable(path, kind, str(error)) from error
    return database


def _prepare(database: sqlite3.Connection, path: Path, kind: Kind, *, is_shared: bool) -> None:
    if not is_shared:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
    if _is_empty(database):
        _make(database, kind)
    application, version, size = (
        _number_of(database, name) for name in ("application_id", "user_version", "page_size")
    )
    if application != kind.application:
        raise _unusable(path, kind, f"it is no {kind.what}")
    if version != kind.version:
        problem = f"its version is {version}, and this release reads version {kind.version}"
        raise _unusable(path, kind, problem)
    use_write_ahead_log(database, patience=_PATIENCE if is_shared else 0)
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(
        "PRAGMA wal_checkpoint(PASSIVE)" if is_shared else "PRAGMA wal_checkpoint(TRUNCATE)"
    )
    if path.stat().st_size < _number_of(database, "page_count") * size and not is_shared:
        raise _unusable(path, kind, "its end is cut off")


def _make(database: sqlite3.Connection, kind: Kind) -> None:
    """Create the tables in one transaction, so that a kill leaves an empty file."""
    # Python does not begin a transaction for these statements by itself.
    database.execute("BEGIN IMMEDIATE")
    with database:
        # Another process may have created them in the meantime.
        if _is_empty(database):
            for statement in kind.schema:
                database.execute(statement)
            database.execute(f"PRAGMA application_id = {kind.application}")
            database.execute(f"PRAGMA user_version = {kind.version}")


def _is_empty(database: sqlite3.Connection) -> bool:
    """Tell whether nothing was ever written to it."""
    return _number_of(database, "schema_version") == 0


def _number_of(database: sqlite3.Connection, pragma: str) -> int:
    (number,) = database.execute(f"PRAGMA {pragma}").fetchone()
    return int(number)


def _unusable(path: Path, kind: Kind, problem: str) -> ConfigurationError:
    message = f"{path} cannot be used: {problem}; {kind.advice}"
    return ConfigurationError([Problem(kind.setting, message)])
