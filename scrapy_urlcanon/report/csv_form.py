"""The CSV form of a report: the merged URLs, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from scrapy_urlcanon.report.sections.pages import Group

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report

_COLUMNS = (
    *("kept", "dropped", "domain", "requests", "options", "layers"),
    *("linked_from", "redirected_from", "alike"),
)


def to_csv(report: Report) -> str:
    """Return the groups of *report* as CSV (RFC 4180), one line for each dropped variant."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for group in report.rows(Group):
        for variant in group.variants:
            options = " ".join(dict.fromkeys(step.option for step in variant.steps))
            layers = "; ".join(dict.fromkeys(step.layer for step in variant.steps))
            cells = (
                *(group.kept, variant.url, group.domain, variant.dropped, options, layers),
                *(variant.linked_from, variant.redirected_from, variant.alike or ""),
            )
            writer.writerow([_as_text(str(cell)) for cell in cells])
    return file.getvalue()


def _as_text(cell: str) -> str:
    # A spreadsheet takes what begins so for a formula, and URLs are written by strangers.
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
