"""Files that are written whole or not at all, and the placeholders of their paths."""

from __future__ import annotations

import os
import re
import tempfile
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import did_you_mean

if TYPE_CHECKING:
    from datetime import datetime

# Compiled where a path is set, which few crawls do.
_PLACEHOLDER = r"%\((\w*)\)s"
_URL = r"[A-Za-z][A-Za-z0-9+.-]+://"
"""Not of one letter, which is a drive of Windows."""
_IS_URL = "expected the path of a file on this machine, got a URL"
_EXAMPLE = {"name": "spider", "time": "1970-01-01T00-00-00+00-00"}
_KNOWN = "%(name)s and %(time)s"
_MOST_TEXT = 1 << 28
"""Characters. A device such as ``/dev/zero`` has no end, and nobody writes so many rules."""


def problem_of(template: str) -> str | None:
    r"""Say what is wrong with *template*, the path of a file with placeholders, or None.

    >>> problem_of("s3://bucket/a.json")
    'expected the path of a file on this machine, got a URL'
    >>> problem_of("%(nam)s.json")
    "expected no placeholders but %(name)s and %(time)s, got %(nam)s; did you mean 'name'?"
    >>> problem_of("a\0.json")
    'no path has a null character'
    """
    if re.match(_URL, template):
        # Scrapy's feeds take one; here it would be a directory named "s3:".
        return _IS_URL
    if "\0" in template:
        return "no path has a null character"
    for name in re.findall(_PLACEHOLDER, template):
        if name not in _EXAMPLE:
            nearest = did_you_mean(name, _EXAMPLE)
            return f"expected no placeholders but {_KNOWN}, got %({name})s{nearest}"
    if "%" in re.sub(_PLACEHOLDER, "", template.replace("%%", "")):
        return f"expected {_KNOWN} as the only placeholders; a percent sign is written %%"
    return None


def problem_of_file(template: str) -> str | None:
    """Say what is wrong with *template* as the path of a file to be opened, or None.

    >>> problem_of_file("/")
    'expected the path of a file, got that of a directory'
    """
    problem = problem_of(template)
    if problem:
        return problem
    try:
        is_directory = Path(example(template)).is_dir()
    except OSError as error:
        # In a folder that may not be looked into, or of a name that no file can have.
        return f"cannot be used: {why_unreadable(error)}"
    return "expected the path of a file, got that of a directory" if is_directory else None


def example(template: str) -> str:
    """Return a path that *template*, which has no problem, may stand for."""
    return template % _EXAMPLE


def has_time(template: str) -> bool:
    """Tell whether each crawl is to have a file of its own at *template*, which has no problem.

    >>> has_time("%(name)s-%(time)s.json"), has_time("100%%(time)s.json")
    (True, False)
    """
    return "time" in re.findall(_PLACEHOLDER, template.replace("%%", ""))


def fill(template: str, *, name: str, time: datetime) -> str:
    """Return the path that *template*, which has no problem, stands for.

    :param name: of the spider, for ``%(name)s``.
    :param time: of the start, in UTC, for ``%(time)s``, which is written as that of Scrapy's
        feeds.
    """
    written = time.replace(microsecond=0).isoformat().replace(":", "-")
    return template % {"name": name, "time": written}


def write_atomically(path: Path, text: str) -> None:
    """Write *text* to *path* as UTF-8, whole or not at all.

    A full disk or a kill leaves the file that was there as it was. The text is on the disk when
    this returns. A link stays one: the file that it leads to is written. A device or a pipe, such
    as ``/dev/null`` or ``/dev/stdout``, stays what it is too, and is written to.

    :raises OSError: if it cannot be written; its ``filename`` is *path*.
    """
    try:
        _write_atomically(path, text)
    except OSError as error:
        # Not that of the draft, nor none at all, as where the disk is full.
        raise OSError(error.errno, error.strerror, str(path)) from error


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file that a user names, which is in UTF-8.

    It may lie in a zip archive, as a file of a project does that was deployed as an egg: there
    ``Path(__file__).parent / "urlcanon.toml"`` is the path of the archive, and what is within.

    :raises OSError: if it cannot be read.
    :raises ValueError: if it is no such text, or too long.
    """
    try:
        # Editors of Windows begin a file with the byte order mark.
        with Path(path).open(encoding="utf-8-sig") as file:
            return _bounded(file.read(_MOST_TEXT + 1))
    except (FileNotFoundError, NotADirectoryError):
        archive = next((folder for folder in Path(path).parents if folder.is_file()), None)
        if archive is None:
            raise
        within = Path(path).relative_to(archive).as_posix()
    # No crawl but one that was deployed so is to wait for the import.
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
    """Say in the words of a message why a file of text could not be read.

    >>> why_unreadable(PermissionError(13, "Permission denied"))
    'Permission denied'
    """
    if isinstance(error, FileNotFoundError):
        # A Path has one slash in the place of two.
        if re.match(_URL, str(error.filename or "").replace(":/", "://", 1)):
            return _IS_URL
        is_relative = not Path(error.filename or "").is_absolute()
        where = f" (a relative path is taken from {Path.cwd()})" if is_relative else ""
        return f"there is no such file{where}"
    if isinstance(error, UnicodeDecodeError):
        return f"expected text in UTF-8, and it is in another encoding: {error.reason}"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def is_special(path: Path) -> bool:
    """Whether *path* is a device, a pipe or a socket: what can be written to, and not replaced.

    :raises OSError: if that cannot be found out.
    """
    return path.exists() and not path.is_file() and not path.is_dir()


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
        # mkstemp() lets nobody else read; this is a file as any other.
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
