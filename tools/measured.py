"""The files of results, and the pages of the docs with their figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = tuple[str, ...]
"""A row of a table."""
Sentence = tuple[Path, str, tuple[str, ...]]
"""A page, the words of a sentence there with ``{}`` for each figure, and the figures."""

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PERFORMANCE, SCALE = DOCS / "performance.md", DOCS / "scale.md"
MEMORY, ECOSYSTEM = DOCS / "memory.md", DOCS / "ecosystem.md"
LEARNING, LEARNED = DOCS / "learning.md", DOCS / "learning-measured.md"
ORDER = DOCS / "order.md"
RESULTS = ROOT / "benchmarks" / "results"

MILLION = 1_000_000


def results(name: str) -> Any:
    """Return what the last run of a benchmark found."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def share(value: float, digits: int = 1) -> str:
    """Return a share as a text."""
    return f"{value:.{digits}%}".replace("%", " %")
