"""Writes the results of a run: a table for people, JSON for programs."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("scrapy", "w3lib", "ada-url", "publicsuffixlist", "duplicate-url-discarder")


def conditions() -> dict[str, Any]:
    """Return what the figures depend on: versions, processor, load of the machine."""
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
        "processors": os.cpu_count(),
        "load average at the start": os.getloadavg()[0],
    }


def say(what: str) -> None:
    """Print what is being done, to standard error."""
    print(what, file=sys.stderr, flush=True)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown, empty where there are no rows."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    between = f"| --- |{' ---: |' * (len(header) - 1)}"
    return "\n".join([f"| {' | '.join(header)} |", between, *lines]) if lines else ""


def read(name: str) -> Any:
    """Return the data that was written under *name*."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def write(name: str, data: dict[str, Any], tables: list[str]) -> None:
    """Write *data* under *name*, and *tables* if there are any; show the tables."""
    RESULTS.mkdir(exist_ok=True)
    text = "\n\n".join(tables)
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if tables:
        (RESULTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
        print(text)
