"""Keeps two crawls from writing to one file."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]


def in_use(path: Path, setting: str) -> ConfigurationError:
    """Return the error that says that another crawl, of any process, has the file at *path*."""
    message = f"{path} is in use by another crawl, perhaps of this process: each needs its own"
    return ConfigurationError([Problem(setting, message)])


def lock(file: IO[bytes] | int, path: Path, setting: str) -> None:
    """Lock *file*, or what has that descriptor, until it is closed or the process ends.

    Where there are no such locks, as on Windows and some file systems, nothing is locked.

    :param path: of what is not to be shared.
    :param setting: that names it.
    :raises ConfigurationError: if another crawl has it.
    """
    if fcntl is None:  # pragma: no cover - Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise in_use(path, setting) from error
    except OSError:  # pragma: no cover - a file system without locks
        return
