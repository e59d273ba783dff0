"""The placeholders of the paths in settings: ``%(name)s`` and ``%(time)s``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.exceptions import did_you_mean

if TYPE_CHECKING:
    from datetime import datetime

_PLACEHOLDER = re.compile(r"%\((\w*)\)s")
_EXAMPLE = {"name": "spider", "time": "1970-01-01T00-00-00+00-00"}
_KNOWN = "%(name)s and %(time)s"


def problem_of(template: str) -> str | None:
    """Say what is wrong with the placeholders of *template*, or None.

    >>> problem_of("%(nam)s.json")
    "expected no placeholders but %(name)s and %(time)s, got %(nam)s; did you mean 'name'?"
    """
    for name in _PLACEHOLDER.findall(template):
        if name not in _EXAMPLE:
            nearest = did_you_mean(name, _EXAMPLE)
            return f"expected no placeholders but {_KNOWN}, got %({name})s{nearest}"
    if "%" in _PLACEHOLDER.sub("", template.replace("%%", "")):
        return f"expected {_KNOWN} as the only placeholders; a percent sign is written %%"
    return None


def example(template: str) -> str:
    """Return a path that *template*, which has no problem, may stand for."""
    return template % _EXAMPLE


def fill(template: str, *, name: str, time: datetime) -> str:
    """Return the path that *template*, which has no problem, stands for.

    :param name: of the spider, for ``%(name)s``.
    :param time: of the start, in UTC, for ``%(time)s``, which is written as that of Scrapy's
        feeds.
    """
    written = time.replace(microsecond=0).isoformat().replace(":", "-")
    return template % {"name": name, "time": written}
