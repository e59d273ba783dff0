"""Sets up the SQLite databases that crawls write."""

from __future__ import annotations

import sqlite3
from time import monotonic, sleep

_PAUSE = 0.01


def use_write_ahead_log(database: sqlite3.Connection, *, patience: float) -> None:
    """Switch *database* to write-ahead logging: readers do not wait, and a kill keeps all commits.

    SQLite fails at once if another process is about to do the same, whatever its timeout, so this
    tries again.

    >>> database = sqlite3.connect(":memory:")
    >>> use_write_ahead_log(database, patience=1)
    >>> database.close()

    :param patience: for how many seconds to try.
    :raises sqlite3.OperationalError: if another process is in the way all that time.
    """
    end = monotonic() + patience
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if monotonic() >= end:
                raise
            sleep(_PAUSE)
        else:
            return
