"""Writes what was measured of profiles into the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.results import table

PAGE = Path(__file__).parents[2] / "docs" / "profiles-measured.md"
_HEAD = """\
# What profiles save, measured

`make bench-profiles` crawls real programs, installed from packages and filled with made-up content,
breadth first, without [what is known of them](profiles.md) and with it, and writes this page. A
page is *lost* if more than a fifth of the words of its main text stand in no page of the crawl with
profiles. The control is a second crawl without profiles, which asks the program anew: what differs
there is the program's own doing. Where a crawl has reached
its limit, what profiles save is seen in the different texts that it has brought by then,
and pages beyond the limit of one of them count as lost. Programs of which no rule is
[certain](profiles.md#certain-and-usual) have nothing to save here.

"""
_NONE = """

## What is not recognised

Programs without a profile must not be taken for one that has one.

"""


def write(data: dict[str, Any]) -> None:
    """Write the page."""
    PAGE.write_text(text(data), encoding="utf-8")


def text(data: dict[str, Any]) -> str:
    """Return the page."""
    known = [found for found in data.values() if found["recognised"]]
    unknown = [found for found in data.values() if not found["recognised"]]
    head = ["program", "recognised as", "limit", "fetches", "with profiles", "saved"]
    head += ["different texts", "with profiles", "lost", "lost in the control"]
    written = _HEAD + table(head, [_row(found) for found in known])
    rows = [
        [found["title"], found["kind"], f"{found['off']['fetches']:,}", "nothing"]
        for found in unknown
    ]
    written += _NONE + table(["program", "kind", "fetches", "recognised"], rows)
    return written + "\n"


def _row(found: dict[str, Any]) -> list[str]:
    off, on = found["off"], found["on"]
    saved = 1 - on["fetches"] / off["fetches"] if off["fetches"] else 0
    control = found["lost of the control"]
    return [
        found["title"],
        ", ".join(found["recognised"]),
        f"{found['limit']:,}",
        f"{off['fetches']:,}",
        f"{on['fetches']:,}",
        f"{saved:.0%}",
        f"{off['texts']:,}",
        f"{on['texts']:,}",
        str(found["lost"]),
        "-" if control is None else str(control),
    ]
