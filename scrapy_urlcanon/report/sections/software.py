"""The programs that the sites of a crawl run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from scrapy_urlcanon.profiles.installation import options_at
from scrapy_urlcanon.redaction import redact
from scrapy_urlcanon.report.section import Section
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.report.document import Report
    from scrapy_urlcanon.report.screen import Screen

_MOST = 1_000
_PRINTED = 10


@frozen
class Software:
    """A program that was recognised."""

    name: str
    """With its version if known."""
    place: str
    """Host, port and path."""
    signs: tuple[str, ...]
    """The signs by which it was recognised; empty if that was in an earlier run of the job."""
    certain: tuple[str, ...]
    """What its rules in force merge."""
    suspicions: tuple[str, ...]
    """Its other rules, as lines of ``URLCANON_RULES``."""


class KnownSoftware(Section):
    """The programs that were recognised, where, by what, and which rules could be turned on."""

    place = 66
    name = "software"
    label = "Known programs"
    heading = label
    key = "software"
    row = Software
    since = 3

    def __init__(self, canonicalizer: Canonicalizer) -> None:
        super().__init__(canonicalizer)
        self._found: list[Software] = []

    def note_software(self, installation: Installation) -> None:
        if len(self._found) >= _MOST:
            return
        in_force = (*installation.rules(certain=True), *installation.parts())
        self._found.append(
            Software(
                installation.profile.with_version(installation.version),
                redact(installation.url),
                tuple(map(redact, installation.signs)),
                tuple(told.merges for told in in_force),
                tuple(_suspicions(installation)),
            )
        )

    def rows(self) -> tuple[Software, ...]:
        return tuple(self._found)

    @classmethod
    def context(cls, report: Report) -> dict[str, Any] | None:
        found = report.rows(Software)
        return {"found": found} if found else None

    @classmethod
    def show_rows(cls, report: Report, screen: Screen) -> None:
        found = report.rows(Software)
        for one in found[:_PRINTED]:
            screen.line((one.name, "cyan"), f" at {one.place}")
            screen.line((f"by {', '.join(one.signs) or 'an earlier run'}", "dim"), indent=2)
        if len(found) > _PRINTED:
            screen.line((f"and {count_of(len(found) - _PRINTED, 'other')}", "dim"))


def _suspicions(installation: Installation) -> Iterator[str]:
    """Yield the rules that are not certain as lines of ``URLCANON_RULES``, one for each pattern.

    Patterns are for all ports.
    """
    place = installation.place
    found: dict[str, dict[str, Any]] = {}
    for rule in installation.rules(certain=False):
        for where in rule.where:
            options = found.setdefault(f"{installation.host}{place}{where}", {})
            for name, value in options_at(place, rule.options).items():
                options[name] = _united(options.get(name), value)
    yield from (f"{pattern!r}: {options!r}," for pattern, options in found.items())


def _united(known: Any, value: Any) -> Any:
    """Return the union of two values of one option, as for rules with the same pattern.

    >>> _united(["sid"], ["sid", "ref"]), _united(None, {"page": "1"}), _united("keep", "strip")
    (['sid', 'ref'], {'page': '1'}, 'strip')
    """
    if isinstance(known, list) and isinstance(value, list):
        return [*known, *(each for each in value if each not in known)]
    if isinstance(known, dict) and isinstance(value, dict):
        return {**known, **value}
    return value
