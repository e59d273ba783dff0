"""Locks files, so that two crawls never write to the same one."""

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
    """Return the error for a file at *path* that another crawl uses, in this process or another."""
    message = f"{path} is in use by another crawl, perhaps of this process: each needs its own"
    return ConfigurationError([Problem(setting, message)])


def lock(file: IO[bytes] | int, path: Path, setting: str) -> None:
    """Lock *file*, given as object or descriptor, until it is closed or the process ends.

    On systems and file systems without such locks (Windows) nothing is locked.

    :param path: the path for the error message.
    :param setting: the setting that names the file.
    :raises ConfigurationError: if another crawl has locked it.
    """
    if fcntl is None:  # pragma: no cover - Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise in_use(path, setting) from error
    except OSError:  # pragma: no cover - a file system without locks
        return
