"""What a crawl says of its rules in stats and log: all that depends on the form of these."""

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
    """What a crawl turned off."""

    option: str
    entry: str = ""
    """Empty where the option has one value."""

    def __str__(self) -> str:
        return f"{self.option}:{self.entry}" if self.entry else self.option


def suspended(stats: Mapping[str, Any]) -> set[Suspended]:
    """Return what is off by now, on whichever domain."""
    found = set()
    for name, value in stats.items():
        if name.startswith(_SUSPENDED) and value:
            option, _, entry = name.removeprefix(_SUSPENDED).partition("/")
            found.add(Suspended(option, entry))
    return found


def domains(records: Iterable[logging.LogRecord]) -> set[str]:
    """Return the domains for which something was turned off."""
    texts = (record.getMessage() for record in records)
    return {found[1] for text in texts if (found := _WARNING.search(text))}


def audited(stats: Mapping[str, Any]) -> int:
    """Return how many audits there were that came to a verdict."""
    return int(stats.get(_AUDITED, 0))


def undecided(stats: Mapping[str, Any]) -> int:
    """Return of how many audits the crawl says that it could not tell."""
    return int(stats.get(_UNJUDGED, 0))


class Warnings(logging.Handler):
    """Keeps what the plugin warns of."""

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
