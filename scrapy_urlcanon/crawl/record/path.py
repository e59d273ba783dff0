"""Where a crawl records what it saw: the setting ``URLCANON_RECORD``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import ConfigurationError, Problem
from scrapy_urlcanon.files import example, fill, problem_of

if TYPE_CHECKING:
    from datetime import datetime

    from scrapy.settings import BaseSettings

SETTING = "URLCANON_RECORD"


def record_template(settings: BaseSettings) -> str | None:
    """Return the path of the store as it is written there, or None where nothing is to be recorded.

    >>> from scrapy.settings import Settings
    >>> record_template(Settings({"URLCANON_RECORD": "seen/%(name)s.sqlite"}))
    'seen/%(name)s.sqlite'

    :raises ConfigurationError: if the value is no path, or that of a directory.
    """
    value = settings.get(SETTING)
    if value is None or value == "":
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise ConfigurationError([Problem(SETTING, f"expected a path, got {value!r}")])
    template = str(os.fspath(value))
    problem = problem_of(template)
    if not problem and Path(example(template)).is_dir():
        problem = "expected the path of a file, got that of a directory"
    if problem:
        raise ConfigurationError([Problem(SETTING, problem, template)])
    return template


def record_path(settings: BaseSettings, *, name: str, time: datetime) -> Path | None:
    """Return the path of the store, or None where nothing is to be recorded.

    :param name: of the spider, for ``%(name)s``.
    :param time: of the start, in UTC, for ``%(time)s``.
    :raises ConfigurationError: if the value is no path.
    """
    template = record_template(settings)
    return None if template is None else Path(fill(template, name=name, time=time))
