"""Keeps two processes from writing to one file."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from scrapy_urlcanon.crawl.seen_sets.database import in_use

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]


def lock(file: IO[bytes], path: Path) -> None:
    """Lock *file*, which is at *path*, until it is closed or the process ends.

    Where the system has no such locks, as Windows, nothing is locked.

    :raises ConfigurationError: if another process has it.
    """
    if fcntl is None:  # pragma: no cover - Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise in_use(path, "URLCANON_SEEN_SET") from error
