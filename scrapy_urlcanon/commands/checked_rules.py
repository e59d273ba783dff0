"""What the check of each rule on its site has shown, at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.report.screen import Cell, Screen
    from scrapy_urlcanon.validate.rule_check import RuleCheck

_OUTCOMES = {
    Outcome.HOLDS: ("holds", "green"),
    Outcome.FAILS: ("fails", "bold red"),
    Outcome.OPEN: ("open", "yellow"),
}


def show_checks(checks: Iterable[RuleCheck], screen: Screen) -> None:
    """Print what the pairs of each rule showed, and a pair that refutes it."""
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        tried = check.right + check.wrong + check.unjudged
        outcome = _OUTCOMES[check.outcome] if tried else ("no pair", "dim")
        figures = f"{check.right:,} of {check.right + check.wrong:,} right" if tried else ""
        if check.unjudged:
            figures += f", {check.unjudged:,} not comparable"
        rows.append((outcome, figures, (check.option, "cyan"), check.text, str(check.layer)))
        rows += [("", "", "", "", (shown_url(url), "dim")) for url in check.example or ()]
    screen.table(rows, numbers=0)
