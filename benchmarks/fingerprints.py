"""Measures what a fingerprint costs: time, memory, start-up.

    python benchmarks/fingerprints.py --help

The fingerprinters are called as Scrapy calls them, ``fingerprint(request)``, on requests that
were made before the clock starts. Writes ``benchmarks/results/fingerprints.md`` and ``.json``.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memory
import startup
from fingerprinters import DISCARDER, SCRAPY, contestants
from interleaved import measure, medians, ratios
from results import conditions, table, write
from workloads import domains_of, read_corpus, workloads

if TYPE_CHECKING:
    from fingerprinters import Contestant
    from workloads import Workload

CORPUS = Path(__file__).parents[2] / "shared" / "corpora" / "top100.txt.gz"
_KNOWN_DOMAINS = 500
_PENDING = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="URLs, gzip, one a line")
    parser.add_argument("--size", type=int, default=100_000, help="URLs of each kind, at most")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    corpus = read_corpus(options.corpus)
    competing = contestants(domains_of(corpus, _KNOWN_DOMAINS))
    data: dict[str, Any] = {"conditions": conditions(), "rounds": options.rounds, "speed": {}}
    tables = [_conditions(data)]
    for workload in workloads(corpus, options.size):
        results, text = _speed(workload, competing, options.rounds)
        data["speed"][workload.name] = results
        tables.append(text)
    data["memory"] = memory.measure(corpus[:_PENDING])
    data["import"] = startup.import_cost(2 * options.rounds + 1)
    data["domains"] = startup.many_domains((10, 100_000), options.rounds)
    tables += _others(data)
    write("fingerprints", data, tables)


def _conditions(data: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in data["conditions"].items()) + "."


def _speed(
    workload: Workload, competing: list[Contestant], rounds: int
) -> tuple[dict[str, Any], str]:
    results = measure(competing, workload.urls, rounds)
    rows = []
    data: dict[str, Any] = {"urls": len(workload.urls), "distinct": len(set(workload.urls))}
    for name, microseconds in medians(results).items():
        of_scrapy, of_discarder = ratios(results, SCRAPY, name), ratios(results, DISCARDER, name)
        data[name] = {
            "microseconds": microseconds,
            "times faster than Scrapy's default": of_scrapy,
            "times faster than duplicate-url-discarder": of_discarder,
        }
        spread = f"{of_scrapy['median']:.2f} ({of_scrapy['least']:.2f}-{of_scrapy['greatest']:.2f})"
        rows.append([name, f"{microseconds:.2f}", spread, f"{of_discarder['median']:.1f}"])
    title = f"{workload.name}: {data['urls']:,} URLs, {data['distinct']:,} distinct"
    header = [title, "us", "times Scrapy's speed", "times duplicate-url-discarder's"]
    return data, table(header, rows)


def _others(data: dict[str, Any]) -> list[str]:
    figures = []
    for what, value in data["memory"].items():
        items = value.items() if isinstance(value, dict) else [("", value)]
        figures += [[f"{what} {which}".strip(), f"{number:,.1f}"] for which, number in items]
    domains = [
        [
            f"{count:,}",
            f"{result['start-up seconds']:.3f}",
            f"{result['microseconds per host']:.2f}",
        ]
        for count, result in data["domains"].items()
    ]
    cost = data["import"]
    return [
        table(["memory", "bytes, where not said"], figures),
        table(
            ["import, over Scrapy's", ""],
            [
                ["CPU, ms", f"{cost['milliseconds']:.0f}"],
                ["for comparison Scrapy's, ms", f"{cost['milliseconds of Scrapy']:.0f}"],
                ["resident memory, MiB", f"{cost['MiB']:.1f}"],
            ],
        ),
        table(["domains with rules", "start-up, s", "look-up of a new host, us"], domains),
    ]


if __name__ == "__main__":
    main()
