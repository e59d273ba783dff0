"""The formats of a report, by the suffix of its file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from scrapy_urlcanon.report.document import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.report.document import Report

_COLUMNS = ("kept", "dropped", "domain", "requests", "options", "layers")


def to_html(report: Report) -> str:
    """Return *report* as one HTML page."""
    # Every crawl imports this module, few write a page.
    from scrapy_urlcanon.report import page  # noqa: PLC0415

    return page.to_html(report)


def to_csv(report: Report) -> str:
    """Return the groups of *report* as CSV (RFC 4180), one line for each dropped variant."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for group in report.groups:
        for variant in group.variants:
            options = " ".join(dict.fromkeys(step.option for step in variant.steps))
            layers = "; ".join(dict.fromkeys(step.layer for step in variant.steps))
            texts = (group.kept, variant.url, group.domain, variant.dropped, options, layers)
            writer.writerow([_as_text(str(text)) for text in texts])
    return file.getvalue()


def _as_text(cell: str) -> str:
    # A spreadsheet takes what begins so for a formula, and URLs are written by strangers.
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


FORMATS: dict[str, Callable[[Report], str]] = {
    ".html": to_html,
    ".json": to_json,
    ".csv": to_csv,
}
"""What makes the text of a file of each suffix."""
