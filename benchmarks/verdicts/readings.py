"""Reads suspensions and audits from stats and log: all that depends on the format of these."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SUSPENDED = "urlcanon/audit/suspended/"
_UNJUDGED = "urlcanon/audit/unjudged"
_AUDITED = "urlcanon/audited"
_WARNING = re.compile(r" is off for (\S+) from now on")


class Suspended(NamedTuple):
    """An entry that a crawl suspended."""

    option: str
    entry: str = ""
    """Empty if the option has a single value."""

    def __str__(self) -> str:
        return f"{self.option}:{self.entry}" if self.entry else self.option


def suspended(stats: Mapping[str, Any]) -> set[Suspended]:
    """Return what is suspended by now, on any domain."""
    found = set()
    for name, value in stats.items():
        if name.startswith(_SUSPENDED) and value:
            option, _, entry = name.removeprefix(_SUSPENDED).partition("/")
            found.add(Suspended(option, entry))
    return found


def domains(records: Iterable[logging.LogRecord]) -> set[str]:
    """Return the domains for which something was suspended."""
    texts = (record.getMessage() for record in records)
    return {found[1] for text in texts if (found := _WARNING.search(text))}


def audited(stats: Mapping[str, Any]) -> int:
    """Return the number of audits with a verdict."""
    return int(stats.get(_AUDITED, 0))


def undecided(stats: Mapping[str, Any]) -> int:
    """Return the number of audits without a verdict."""
    return int(stats.get(_UNJUDGED, 0))


class Warnings(logging.Handler):
    """Collects the warnings of the plugin."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def __enter__(self) -> list[logging.LogRecord]:
        logging.getLogger("scrapy_urlcanon").addHandler(self)
        return self.records

    def __exit__(self, *_: object) -> None:
        logging.getLogger("scrapy_urlcanon").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
