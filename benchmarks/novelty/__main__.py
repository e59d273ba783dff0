"""Compares orders of requests by their news: ``python -m benchmarks.novelty``."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from signal import SIGTERM, signal
from typing import Any

from benchmarks.novelty import measuring, page, shapes
from benchmarks.novelty.cases import (
    LEARNED,
    ORDERS,
    PROGRAMS,
    SEEDS,
    SHAPE_SEEDS,
    TRAPS,
)
from benchmarks.programs import catalogue
from benchmarks.programs.program import Unavailable


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty", description=__doc__)
    parser.add_argument("--programs", nargs="*", choices=PROGRAMS, default=list(PROGRAMS))
    kinds = [each.kind for each in TRAPS]
    parser.add_argument("--traps", nargs="*", choices=kinds, default=kinds)
    parser.add_argument("--shapes", nargs="*", choices=shapes.SHAPES, default=[*shapes.SHAPES])
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=list(ORDERS))
    parser.add_argument("--runs", type=int, default=2, help="of each program (2)")
    parser.add_argument("--limit", type=int, help="fetches of a program, instead of its own")
    parser.add_argument("--seeds", type=int, nargs="+", default=[*SEEDS])
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    parser.add_argument("--page", action="store_true", help="write the page of the docs")
    options = parser.parse_args()
    signal(SIGTERM, lambda *_: sys.exit(1))
    data: dict[str, Any] = {}
    if options.json and options.json.exists():
        data = json.loads(options.json.read_text(encoding="utf-8"))
    for each in (each for each in TRAPS if each.kind in options.traps):
        for seed in options.seeds:
            orders = [order for order in options.orders if order != LEARNED]
            found = measuring.trap(each, seed, orders)
            keep(options.json, data, "traps", f"{each.kind} {seed}", found)
    for kind in options.shapes:
        for seed in SHAPE_SEEDS:
            orders = [order for order in options.orders if order != LEARNED]
            found = measuring.shape(kind, seed, orders)
            keep(options.json, data, "shapes", f"{kind} {seed}", found)
    for name in options.programs:
        program = catalogue.PROGRAMS[name]
        try:
            limit = options.limit or PROGRAMS[name]
            found = measuring.program(program, limit, options.orders, options.runs)
        except Unavailable as error:
            print(f"{program.title}: {error}")
        else:
            keep(options.json, data, "programs", name, found)
    if options.page:
        page.write(data)
    return 0


def keep(
    file: Path | None, data: dict[str, Any], part: str, name: str, found: dict[str, Any]
) -> None:
    """Add to the results; those of other orders of the case stay."""
    known = data.setdefault(part, {}).get(name, {})
    found["orders"] = {**known.get("orders", {}), **found["orders"]}
    data[part][name] = found
    if file:
        file.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
