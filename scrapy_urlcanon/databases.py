"""What every database of SQLite needs that crawls write to."""

from __future__ import annotations

import sqlite3
from time import monotonic, sleep

_PAUSE = 0.01


def use_write_ahead_log(database: sqlite3.Connection, *, patience: float) -> None:
    """Have *database* written by way of a log: nobody waits to read, a kill leaves commits whole.

    SQLite gives up at once where another process is about to do the same, however long it waits for
    others elsewhere.

    >>> database = sqlite3.connect(":memory:")
    >>> use_write_ahead_log(database, patience=1)

    :param patience: for how many seconds to try.
    :raises sqlite3.OperationalError: if another process is in the way for so long.
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
