"""Where reports are written to: the setting ``URLCANON_REPORT``."""

from __future__ import annotations

import os
import tempfile
from errno import EISDIR
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import ConfigurationError, Problem, did_you_mean
from scrapy_urlcanon.files import example, fill, problem_of
from scrapy_urlcanon.report.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

SETTING = "URLCANON_REPORT"


def templates(value: object) -> tuple[str, ...]:
    """Return the paths of the setting, as they are written there.

    >>> templates("reports/%(name)s.html,report.json")
    ('reports/%(name)s.html', 'report.json')

    :param value: a path, a list of paths, or a text of several between commas; None or an
        empty one for no report.
    :raises ConfigurationError: with every problem of every path.
    """
    paths: Iterable[object]
    if isinstance(value, str):
        paths = [path.strip() for path in value.split(",") if path.strip()]
    elif isinstance(value, os.PathLike):
        paths = [value]
    elif isinstance(value, (list, tuple)):
        paths = value
    elif value is None:
        paths = []
    else:
        message = f"expected a path or a list of paths, got {value!r}"
        raise ConfigurationError([Problem(SETTING, message)])
    found: list[str] = []
    problems = []
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            problems.append(Problem(SETTING, f"expected a path, got {path!r}"))
            continue
        text = os.fspath(path)
        problem = "it is listed twice" if text in found else _problem(text)
        if problem:
            problems.append(Problem(SETTING, problem, text))
        found.append(text)
    if problems:
        raise ConfigurationError(problems)
    return tuple(found)


def destinations(value: object, *, name: str, time: datetime) -> tuple[Path, ...]:
    """Return the paths of the setting, each of a file that can be written.

    :param name: of the spider, for ``%(name)s``.
    :param time: of the start, in UTC, for ``%(time)s``, which is written as that of Scrapy's
        feeds.
    :raises ConfigurationError: with every path that is not valid or cannot be written.
    """
    paths = tuple(Path(fill(template, name=name, time=time)) for template in templates(value))
    problems = []
    for path in paths:
        try:
            _prepare(path)
        except OSError as error:
            reason = error.strerror or str(error)
            problems.append(Problem(SETTING, f"cannot be written: {reason}", str(path)))
    if problems:
        raise ConfigurationError(problems)
    return paths


def _prepare(path: Path) -> None:
    """Make the directory of *path*, and make sure that the file can be written at the end.

    :raises OSError: if it cannot.
    """
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent):
        pass


def _problem(template: str) -> str | None:
    problem = problem_of(template)
    if problem:
        return problem
    suffix = Path(example(template)).suffix.lower()
    if suffix not in FORMATS:
        expected = ", ".join(FORMATS)
        return f"expected a name that ends in one of {expected}{did_you_mean(suffix, FORMATS)}"
    return None
