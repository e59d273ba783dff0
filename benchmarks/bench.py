"""Measures what the plugin costs, and ends with one table of figures and aims.

    python -m benchmarks.bench --help

Every part writes its own results to ``benchmarks/results``; the table is ``bench.md``.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from benchmarks import fingerprints, safety, store
from benchmarks.fingerprinters import DISCARDER, FLOOR, SCRAPY
from benchmarks.results import conditions, table, write

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = "10 parameters, no domains"
LIBRARIES = ("w3lib", "url-normalize", "courlan", FLOOR)
_MILLION = 1_000_000


class Row(dict[str, Any]):
    """One figure with its aim, and the same of other libraries."""

    def __init__(
        self, name: str, value: float, aim: float, *, unit: str = "", at_least: bool = False
    ) -> None:
        holds = value >= aim if at_least else value <= aim
        super().__init__(
            figure=name, measured=value, aim=aim, unit=unit, at_least=at_least, holds=holds
        )

    def cells(self) -> list[str]:
        """Return the row as text."""
        bound = "at least" if self["at_least"] else "at most"
        unit = self["unit"]
        return [
            self["figure"],
            f"{self['measured']:,.2f} {unit}".rstrip(),
            f"{bound} {self['aim']:,g} {unit}".rstrip(),
            "yes" if self["holds"] else "no",
        ]


def figures(speed: dict[str, Any], parts: dict[str, Any], kept: dict[str, Any]) -> Iterator[Row]:
    """Yield each figure with its aim."""
    kinds = speed["speed"]
    for kind, aim in (("unique", 6), ("with a query", 6), ("stream", 10)):
        times = kinds[kind][OURS][f"times faster than {SCRAPY}"]["median"]
        yield Row(f"{kind}: times Scrapy's default", times, aim, at_least=True)
    times = kinds["unique"][OURS][f"times faster than {DISCARDER}"]["median"]
    yield Row(f"unique: times {DISCARDER}", times, 18, at_least=True)
    times = kinds["new hosts"]["preset aggressive"][f"times faster than {SCRAPY}"]["median"]
    yield Row("new hosts, aggressive: times Scrapy's default", times, 3, at_least=True)
    for count in (10, 100):
        of_rules = kinds["learned rules"][f"{count} learned rules of each kind"]
        times = of_rules[f"times faster than {SCRAPY}"]["median"]
        yield Row(
            f"{count} learned rules of each kind: times Scrapy's default", times, 1, at_least=True
        )
    everything = parts["parts"][safety.EVERYTHING]
    yield Row(
        "all parts over plain Scrapy, of its CPU", everything["over plain Scrapy"], safety.AIM_SHARE
    )
    yield Row(
        "all parts over plain Scrapy, a page",
        everything["ms over plain Scrapy"],
        safety.AIM_MS,
        unit="ms",
    )
    yield Row(
        "rules for 100,000 domains", speed["domains"]["100000"]["start-up seconds"], 0.5, unit="s"
    )
    yield Row("import", speed["import"]["milliseconds"], 20, unit="ms")
    pending = speed["memory"]["pending request"]["scrapy-urlcanon"]
    yield Row("memory of a pending request", pending, 200, unit="B")
    yield Row("store: a page at rest", kept["bytes a page"], 1500, unit="B")
    yield Row("store: rows a second", kept["rows a second"], 5000, at_least=True)
    yield Row(
        "learning from a million rows of it",
        kept["learning, s"] * _MILLION / kept["rows"],
        30,
        unit="s",
    )


def contestants(speed: dict[str, Any]) -> list[str]:
    """Return a table of all contestants, in microseconds."""
    kinds = {kind: found for kind, found in speed["speed"].items() if kind != "learned rules"}
    names = (OURS, "preset aggressive", SCRAPY, DISCARDER, *LIBRARIES)
    rows = [
        [name, *(f"{found[name]['microseconds']:.2f}" for found in kinds.values())]
        for name in names
    ]
    return [table(["us a URL", *kinds], rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="less of each, in under a minute")
    parser.add_argument("--size", type=int, default=10_000, help="URLs of a kind in a round")
    parser.add_argument("--pages", type=int, default=600, help="pages of a crawl")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of a store")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.quick:
        options.size, options.pages, options.rows, options.rounds = 300, 40, 2_000, 1
    speed = fingerprints.run(fingerprints.CORPUS, options.size, options.rounds)
    speed["domains"] = {str(count): found for count, found in speed["domains"].items()}
    parts = safety.measure(options.pages, 30_000, options.rounds)
    kept = store.measure(options.rows)
    rows = list(figures(speed, parts, kept))
    tables = contestants(speed)
    tables.append(table(["figure", "measured", "aim", "holds"], [row.cells() for row in rows]))
    write("bench", {"conditions": conditions(), "figures": rows}, tables)


if __name__ == "__main__":
    main()
