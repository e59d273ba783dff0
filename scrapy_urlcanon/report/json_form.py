"""The JSON form of a report.

It is read again by ``scrapy urlcanon report`` and ``compare``. It may come from another version,
another machine or an editor, so reading checks everything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_type_hints

from attrs import asdict

from scrapy_urlcanon.exceptions import ReportError
from scrapy_urlcanon.files import read_text
from scrapy_urlcanon.redaction import visible_json
from scrapy_urlcanon.report.decoding import decode_fields
from scrapy_urlcanon.report.document import Report, generator
from scrapy_urlcanon.report.section import sections
from scrapy_urlcanon.rule_files.documents import parse_json

if TYPE_CHECKING:
    import os

FORMAT = "scrapy-urlcanon report"


def current_version() -> int:
    """Return the version that is written: the highest of all sections."""
    return max(section.since for section in sections())


def to_json(report: Report) -> str:
    """Return the JSON form of *report*, which :func:`read_report` reads."""
    head = {
        name: value
        for name, value in asdict(report, recurse=False).items()
        if name not in {"contents", "generator"}
    }
    document: dict[str, Any] = {"format": FORMAT, "version": current_version(), **head}
    for section in sections():
        if section.key:
            document[section.key] = [asdict(row) for row in report.rows(section.row)]
    document["generator"] = report.generator
    return visible_json(json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def read_report(path: str | os.PathLike[str]) -> Report:
    """Return the report in the JSON file *path*.

    :raises ReportError: if it cannot be read, is not a report, was cut short, is of a newer
        version, or has figures that contradict each other.

    >>> import tempfile
    >>> from pathlib import Path
    >>> figures = {"requests": 10, "dropped": 4, "dropped/exact": 3, "dropped/variant": 1}
    >>> report = Report("shop", "", "", "finished", figures)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "report.json")
    ...     _ = path.write_text(to_json(report), encoding="utf-8")
    ...     read_report(path).figure("dropped")
    4
    """
    try:
        return from_json(read_text(path))
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: is no text in UTF-8, so no report") from error
    except ValueError as error:
        raise ReportError(f"{path}: {error}") from error


def from_json(text: str) -> Report:
    """Return the report in *text*, its JSON form.

    :raises ReportError: as for :func:`read_report`.
    """
    try:
        document = parse_json(text)
    except json.JSONDecodeError as error:
        raise ReportError(_malformed(text, error)) from error
    except ValueError as error:
        raise ReportError(f"is no report: {error}") from error
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise ReportError('is no report: it does not say "format": "scrapy-urlcanon report"')
    number = document.pop("version", None)
    if not isinstance(number, int) or number < 1:
        raise ReportError(f"version: expected a number, got {number!r}")
    if number > current_version():
        raise ReportError(
            f"is a report of version {number}, made by {document.get('generator')}; "
            f"this is {generator()}, which reads up to version {current_version()}"
        )
    stored = [section for section in sections() if section.key]
    hints = get_type_hints(Report)
    del hints["contents"]
    hints |= {section.key: tuple[section.row, ...] for section in stored}  # type: ignore[name-defined]
    optional = {"generator", *(section.key for section in stored if section.since > number)}
    values = decode_fields(hints, optional, document)
    contents = {section.row: values.pop(section.key, ()) for section in stored}
    report = Report(contents=contents, **values)
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
    """Raise an error if the figures contradict each other, as after an edit by hand."""
    dropped, requests = report.figure("dropped"), report.figure("requests")
    exact, variant = report.figure("dropped/exact"), report.figure("dropped/variant")
    if exact + variant != dropped:
        raise ReportError(
            f"figures: {exact} exact and {variant} variant duplicates are not the {dropped} dropped"
        )
    if dropped > requests:
        raise ReportError(f"figures: {dropped} were dropped of {requests} requests")
    for section in sections():
        section.check(report)
