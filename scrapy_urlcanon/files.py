"""Reads and writes files of text atomically, and handles placeholders in their paths."""

from __future__ import annotations

import os
import re
import tempfile
from errno import ENOENT
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import did_you_mean

if TYPE_CHECKING:
    from datetime import datetime

# Compiled where a path is set, which few crawls do.
_PLACEHOLDER = r"%\((\w*)\)s"
_URL = r"[A-Za-z][A-Za-z0-9+.-]+://"
"""At least two letters before the colon: a single one is a drive of Windows."""
_IS_URL = "expected the path of a file on this machine, got a URL"
_EXAMPLE = {"name": "spider", "time": "1970-01-01T00-00-00+00-00"}
_KNOWN = "%(name)s and %(time)s"
_MOST_TEXT = 1 << 28
"""The most characters that are read. A device such as ``/dev/zero`` has no end, and no file of
rules is as long."""


def problem_of(template: str) -> str | None:
    r"""Return what is wrong with *template*, the path of a file with placeholders, or None.

    >>> problem_of("s3://bucket/a.json")
    'expected the path of a file on this machine, got a URL'
    >>> problem_of("%(nam)s.json")
    "expected no placeholders but %(name)s and %(time)s, got %(nam)s; did you mean 'name'?"
    >>> problem_of("a\0.json")
    'no path has a null character'
    """
    problem = _problem_of_text(template)
    if problem:
        return problem
    for name in re.findall(_PLACEHOLDER, template):
        if name not in _EXAMPLE:
            nearest = did_you_mean(name, _EXAMPLE)
            return f"expected no placeholders but {_KNOWN}, got %({name})s{nearest}"
    if "%" in re.sub(_PLACEHOLDER, "", template.replace("%%", "")):
        return f"expected {_KNOWN} as the only placeholders; a percent sign is written %%"
    return None


def _problem_of_text(path: str) -> str | None:
    """Return why *path* cannot be that of a file, by its text alone, or None."""
    if re.match(_URL, path):
        # Scrapy's feeds accept URLs. Here it would become a directory named "s3:".
        return _IS_URL
    return "no path has a null character" if "\0" in path else None


def problem_of_file(template: str) -> str | None:
    """Return what is wrong with *template* as the path of a file to be opened, or None.

    >>> problem_of_file("/")
    'expected the path of a file, got that of a directory'
    """
    return problem_of(template) or _problem_of_place(example(template))


def problem_of_path(path: str) -> str | None:
    """Return what is wrong with *path*, which has no placeholders, as that of a file, or None."""
    return _problem_of_text(path) or _problem_of_place(path)


def _problem_of_place(path: str) -> str | None:
    """Return why no file can be opened at *path*, by a look at the disk, or None."""
    try:
        is_directory = S_ISDIR(mode_of(Path(path)))
    except OSError as error:
        # In a folder without permission, or with a name that no file can have.
        return f"cannot be used: {why_unreadable(error)}"
    return "expected the path of a file, got that of a directory" if is_directory else None


def example(template: str) -> str:
    """Return a path that the valid *template* may stand for."""
    return template % _EXAMPLE


def has_time(template: str) -> bool:
    """Tell whether the valid *template* gives each crawl a file of its own.

    >>> has_time("%(name)s-%(time)s.json"), has_time("100%%(time)s.json")
    (True, False)
    """
    return "time" in re.findall(_PLACEHOLDER, template.replace("%%", ""))


def fill(template: str, *, name: str, time: datetime) -> str:
    """Return the path that the valid *template* stands for.

    :param name: the name of the spider, for ``%(name)s``.
    :param time: the time of the start in UTC, for ``%(time)s``, in the format of Scrapy's feeds.
    """
    written = time.replace(microsecond=0).isoformat().replace(":", "-")
    return template % {"name": name, "time": written}


def write_atomically(path: Path, text: str) -> None:
    """Write *text* to *path* as UTF-8, wholly or not at all.

    A full disk or a kill leaves the previous file as it was. When this returns the text is on the
    disk. If *path* is a symbolic link, the file that it points to is written. A device or a pipe,
    such as ``/dev/null`` or ``/dev/stdout``, is written to and not replaced.

    :raises OSError: if it cannot be written; its ``filename`` is *path*.
    """
    try:
        _write_atomically(path, text)
    except OSError as error:
        # Not the name of the draft, nor no name at all, as when the disk is full.
        raise OSError(error.errno, error.strerror, str(path)) from error


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file in UTF-8 that a user has named.

    It may be in a zip archive, as in a project that was deployed as an egg. The path is then that
    of the archive, followed by the path within, as ``Path(__file__).parent / "urlcanon.toml"`` is.

    :raises OSError: if it cannot be read.
    :raises ValueError: if it is not such text, or too long.
    """
    try:
        # Editors on Windows may write a byte order mark.
        with Path(path).open(encoding="utf-8-sig") as file:
            return _bounded(file.read(_MOST_TEXT + 1))
    except (FileNotFoundError, NotADirectoryError):
        archive = next((folder for folder in Path(path).parents if folder.is_file()), None)
        if archive is None:
            raise
        within = Path(path).relative_to(archive).as_posix()
    # Imported here for a faster start: only crawls that were deployed so need it.
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415

    try:
        with ZipFile(archive) as opened, opened.open(within) as member:
            return _bounded(member.read(_MOST_TEXT + 1).decode("utf-8-sig"))
    except (BadZipFile, KeyError) as error:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(path)) from error


def _bounded(text: str) -> str:
    if len(text) > _MOST_TEXT:
        raise ValueError(f"it is longer than {_MOST_TEXT:,} characters, or has no end")
    return text


def why_unreadable(error: OSError | ValueError) -> str:
    """Return why a file of text could not be read, as a phrase for a message.

    >>> why_unreadable(PermissionError(13, "Permission denied"))
    'Permission denied'
    """
    if isinstance(error, FileNotFoundError):
        # A Path has only one of the two slashes.
        if re.match(_URL, str(error.filename or "").replace(":/", "://", 1)):
            return _IS_URL
        is_relative = not Path(error.filename or "").is_absolute()
        where = f" (a relative path is taken from {Path.cwd()})" if is_relative else ""
        return f"there is no such file{where}"
    if isinstance(error, UnicodeDecodeError):
        return f"expected text in UTF-8, and it is in another encoding: {error.reason}"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def mode_of(path: Path) -> int:
    """Return the type and the permissions of the file at *path* (``st_mode``), or 0 if none exists.

    Unlike ``Path.exists()`` and its like, which since Python 3.14 answer no to whatever is wrong.

    :raises OSError: if that cannot be determined: *path* is in a folder without permission, or has
        a name that no file can have.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def is_special(path: Path) -> bool:
    """Tell whether *path* is a device, a pipe or a socket, which must not be replaced by a file.

    :raises OSError: if that cannot be determined.
    """
    mode = mode_of(path)
    return bool(mode) and not S_ISREG(mode) and not S_ISDIR(mode)


def _write_atomically(path: Path, text: str) -> None:
    if is_special(path):
        path.write_text(text, encoding="utf-8", newline="")
        return
    path = Path(os.path.realpath(path))
    # In the same directory: replace() is atomic within one file system only.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp() creates files that nobody else can read. This is to be an ordinary file.
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
