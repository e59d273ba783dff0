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


def lock(file: IO[bytes], path: Path, setting: str) -> None:
    """Lock *file* until it is closed or the process ends.

    Where there are no such locks, as on Windows and some file systems, nothing is locked.

    :param path: of what is not to be shared.
    :param setting: that names it.
    :raises ConfigurationError: if another process has it.
    """
    if fcntl is None:  # pragma: no cover - Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise in_use(path, setting) from error
    except OSError:  # pragma: no cover - a file system without locks
        return
