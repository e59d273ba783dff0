"""The report of one crawl, and its JSON form.

The JSON form is read again by ``scrapy urlcanon report`` and ``compare``. It may come from
another version, another machine or an editor, so reading checks everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - decode() reads the annotations
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict, field, frozen

from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.report.decoding import decode

if TYPE_CHECKING:
    import os

FORMAT = "scrapy-urlcanon report"
VERSION = 1
"""Goes up with each change after which older versions could not read the JSON form."""

COUNTED_URLS = 256
"""How far the URLs of a group are counted."""
COUNTED_VALUES = 200
"""How far the values of a parameter are counted."""


def _generator() -> str:
    return f"scrapy-urlcanon {version('scrapy-urlcanon')}"


@frozen
class StepOnUrl:
    """A rule that changed the kept or the dropped URL on the way to what they share."""

    option: str
    """The name of the option, or of a normalization that is always on."""
    layer: str
    """What turned it on, as in :attr:`scrapy_urlcanon.canonicalizer.canonicalizer.Step.layer`."""
    on: str
    """Which URL it changed: ``dropped``, ``kept`` or ``both``."""


@frozen
class Variant:
    """A URL that was dropped because another one of the page was seen before."""

    url: str
    """Redacted, and shortened where it is very long."""
    dropped: int
    """How many requests for it."""
    steps: tuple[StepOnUrl, ...]


@frozen
class Group:
    """One page: the URL that was kept and some of those that were dropped for it."""

    kept: str
    domain: str
    dropped: int
    """How many requests for a variant."""
    urls: int
    """How many variants there are, up to :data:`COUNTED_URLS`."""
    variants: tuple[Variant, ...]
    """A sample of them, of each combination of rules some."""


@frozen
class Option:
    """An option, or a normalization that is always on, and what it did."""

    name: str
    dropped: int
    """How many dropped variants are due to it, perhaps with others; for ``skip``, how many
    requests it skipped."""
    layers: tuple[str, ...]
    """Some of the layers that turn it on, in the order in which they apply."""
    more_layers: int = 0
    """How many more there are."""


@frozen
class Domain:
    """A registrable domain and what was dropped there."""

    name: str
    dropped: int
    exact: int
    variant: int
    options: Mapping[str, int]
    """By name, how many dropped variants are due to each."""


@frozen
class Parameter:
    """A parameter of fetched URLs that no rule drops."""

    domain: str
    name: str
    values: int
    """How many different ones it had, up to :data:`COUNTED_VALUES`."""
    pages: int
    """How many fetched URLs had it."""


@frozen
class Report:
    """What one crawl dropped and why. URLs are redacted, and samples where many."""

    spider: str
    started: str
    """ISO 8601, UTC; empty where unknown."""
    finished: str
    finish_reason: str
    figures: Mapping[str, int]
    """The stats whose name begins with ``urlcanon/``, without that."""
    options: tuple[Option, ...]
    """Those that dropped something, and those that the user turned on; the most first."""
    domains: tuple[Domain, ...]
    """The most first; what is not listed is under ``other``."""
    groups: tuple[Group, ...]
    """The largest ones, and a sample of the others; the largest first."""
    parameters: tuple[Parameter, ...]
    """Those that vary most first."""
    generator: str = field(factory=_generator)

    def figure(self, name: str) -> int:
        """Return the stat ``urlcanon/{name}``, 0 where it was not counted."""
        return self.figures.get(name, 0)

    def figures_under(self, prefix: str) -> dict[str, int]:
        """Return the stats ``urlcanon/{prefix}...`` by the rest of their names."""
        return {
            name.removeprefix(prefix): count
            for name, count in self.figures.items()
            if name.startswith(prefix)
        }


def to_json(report: Report) -> str:
    """Return the JSON form of *report*, which :func:`read_report` reads."""
    document = {"format": FORMAT, "version": VERSION, **asdict(report)}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_report(path: str | os.PathLike[str]) -> Report:
    """Return the report in the JSON file *path*.

    :raises ReportError: if it cannot be read, is no report, was cut short, is of a newer
        version, or says what no crawl can come to.
    """
    try:
        return from_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: is no text in UTF-8, so no report") from error
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from error


def from_json(text: str) -> Report:
    """Return the report of which *text* is the JSON form.

    :raises ReportError: as :func:`read_report`.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReportError(_malformed(text, error)) from error
    except RecursionError as error:
        raise ReportError("is nested deeper than any report") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReportError('is no report: it does not say "format": "scrapy-urlcanon report"')
    number = document.get("version")
    if not isinstance(number, int) or number < 1:
        raise ReportError(f"version: expected a number, got {number!r}")
    if number > VERSION:
        raise ReportError(
            f"is a report of version {number}, made by {document.get('generator')}; "
            f"this is {_generator()}, which reads up to version {VERSION}"
        )
    fields = {name: value for name, value in document.items() if name not in {"format", "version"}}
    report: Report = decode(Report, fields)
    _check(report)
    return report


def _malformed(text: str, error: json.JSONDecodeError) -> str:
    place = f"line {error.lineno}, column {error.colno}"
    if not text.strip():
        return "is empty"
    if text.lstrip().startswith("{") and not text.rstrip().endswith("}"):
        return f"ends at {place}, in the middle of the report: it was cut short"
    return f"is no JSON: {error.msg} at {place}"


def _check(report: Report) -> None:
    """Raise where the figures contradict each other, as after an edit by hand."""
    dropped, requests = report.figure("dropped"), report.figure("requests")
    exact, variant = report.figure("dropped/exact"), report.figure("dropped/variant")
    if exact + variant != dropped:
        raise ReportError(
            f"figures: {exact} exact and {variant} variant duplicates are not the {dropped} dropped"
        )
    if dropped > requests:
        raise ReportError(f"figures: {dropped} were dropped of {requests} requests")
    for number, domain in enumerate(report.domains):
        if domain.exact + domain.variant != domain.dropped:
            raise ReportError(f"domains[{number}]: exact and variant are not what was dropped")
    for number, group in enumerate(report.groups):
        if sum(shown.dropped for shown in group.variants) > group.dropped:
            raise ReportError(f"groups[{number}]: its variants are more than what was dropped")
