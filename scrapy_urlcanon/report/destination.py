"""The paths that reports are written to: the setting ``URLCANON_REPORT``."""

from __future__ import annotations

import os
import tempfile
from errno import EISDIR
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import fill, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


def destinations(templates: Iterable[str], *, name: str, time: datetime) -> tuple[Path, ...]:
    """Return the paths of the setting, after making sure that each can be written.

    :param templates: the paths as written in the setting.
    :param name: the name of the spider, for ``%(name)s``.
    :param time: the start of the crawl, in UTC, for ``%(time)s``, in the format of Scrapy's feeds.
    :raises ConfigurationError: with every path that cannot be written.
    """
    paths = tuple(Path(fill(template, name=name, time=time)) for template in templates)
    problems = []
    for path in paths:
        try:
            _prepare(path)
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot be written: {reason}; name a file in a folder that may be written to"
            problems.append(Problem(name_of("report"), message, str(path)))
    if problems:
        raise ConfigurationError(problems)
    return paths


def write_untaken(path: Path, text: str) -> Path:
    """Write *text* to *path*, or if that exists, to the same path with the first free number.

    This is for paths with the start time in them: the file is that of another crawl that started in
    the same second, perhaps in another process that is writing now.

    :returns: the path that was written.
    :raises OSError: as :func:`.write_atomically`; nothing is left then.
    """
    free, number = path, 1
    while True:
        try:
            free.open("x").close()
            break
        except FileExistsError:
            number += 1
            free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    try:
        write_atomically(free, text)
    except BaseException:
        free.unlink()
        raise
    return free


def _prepare(path: Path) -> None:
    """Make the directory of *path*, and make sure that the file can be written at the end.

    :raises OSError: if it cannot.
    """
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent):
        pass
