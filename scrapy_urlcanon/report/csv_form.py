"""Formats a report as CSV: the merged URLs, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from scrapy_urlcanon.redaction import visible
from scrapy_urlcanon.report.sections.audit import AuditedRule
from scrapy_urlcanon.report.sections.pages import Group

if TYPE_CHECKING:
    from scrapy_urlcanon.report.document import Report

_COLUMNS = (
    *("kept", "dropped", "domain", "requests", "options", "layers"),
    *("entries", "linked_from", "redirected_from", "alike", "verdict"),
)


def to_csv(report: Report) -> str:
    """Return the groups of *report* as CSV (RFC 4180), one line for each dropped variant."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    verdicts = {
        (pair.url, pair.kept): pair.verdict
        for row in report.rows(AuditedRule)
        for pair in row.pairs
    }
    for group in report.rows(Group):
        for variant in group.variants:
            options = " ".join(dict.fromkeys(step.option for step in variant.steps))
            layers = "; ".join(dict.fromkeys(step.layer for step in variant.steps))
            rules = [rule for step in variant.steps if step.entries for rule in step.rules]
            entries = "; ".join(dict.fromkeys(rules))
            cells = (
                *(group.kept, variant.url, group.domain, variant.dropped, options, layers),
                *(entries, variant.linked_from, variant.redirected_from, variant.alike or ""),
                # Of several that read the same nothing tells which one was audited.
                "" if group.alike or variant.alike else verdicts.get((variant.url, group.kept), ""),
            )
            writer.writerow([_as_text(str(cell)) for cell in cells])
    return file.getvalue()


def _as_text(cell: str) -> str:
    # URLs and names of parameters come from strangers. A spreadsheet would run a formula and obey
    # marks that change the direction of writing, and readers of CSV stop at a NUL.
    cell = visible(cell)
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
