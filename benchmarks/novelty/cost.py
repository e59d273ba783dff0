"""Measures what the order costs: ``python -m benchmarks.novelty.cost``.

One site of pages with 40 links each is crawled with the order off and on, in turn.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.novelty.cases import NOVELTY
from benchmarks.novelty.crawling import BREADTH_FIRST, PLUGIN, Crawled, Task, crawl
from benchmarks.results import conditions, table, write

if TYPE_CHECKING:
    from collections.abc import Mapping

_OFF = {**PLUGIN, **BREADTH_FIRST, "URLCANON_PROFILES": False}
_ENQUEUED = "scheduler/enqueued"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty.cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of off and on (5)")
    parser.add_argument("--fetches", type=int, default=1500, help="of each crawl (1,500)")
    options = parser.parse_args()
    costs, slower, peaks = [], [], []
    for number in range(1, options.rounds + 1):
        off, on = _crawl(_OFF, options.fetches), _crawl(NOVELTY, options.fetches)
        costs.append((on.cpu - off.cpu) / on.stats[_ENQUEUED] * 1e6)
        slower.append(on.cpu / len(on.news) / (off.cpu / len(off.news)) - 1)
        peaks.append((on.peak - off.peak) / 1024)
        print(
            f"round {number}: off {off.cpu:.1f} s, on {on.cpu:.1f} s of CPU for"
            f" {on.stats[_ENQUEUED]:,} requests: {costs[-1]:.0f} us each, {slower[-1]:+.1%}",
            flush=True,
        )
    found = {
        "us per request scheduled": round(median(costs), 1),
        "CPU per fetch, more": round(median(slower), 3),
        "MiB, more": round(median(peaks), 1),
        "rounds": options.rounds,
        "fetches": options.fetches,
        **conditions(),
    }
    rows = [[name, str(value)] for name, value in found.items()]
    write("novelty-cost", found, [table(["the order's cost", "median"], rows)])
    return 0


def _crawl(settings: Mapping[str, Any], fetches: int) -> Crawled:
    return crawl(Task(("http://wide.example/",), fetches, settings, (("wide", 1),)))


if __name__ == "__main__":
    sys.exit(main())
