"""Measures what a fingerprint costs: time, memory, start-up.

    python -m benchmarks.fingerprints --help

The fingerprinters are called as Scrapy calls them, ``fingerprint(request)``, on requests that
were made before the clock starts. Writes ``benchmarks/results/fingerprints.md`` and ``.json``.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import fingerprinters, memory, startup
from benchmarks.fingerprinters import DISCARDER, SCRAPY, contestants
from benchmarks.interleaved import measure, medians, ratios
from benchmarks.results import conditions, say, table, write
from benchmarks.workloads import domains_of, of_learned_rules, read_corpus, workloads

if TYPE_CHECKING:
    from benchmarks.fingerprinters import Contestant, Library
    from benchmarks.workloads import Workload

CORPUS = Path(__file__).parents[2] / "shared" / "corpora" / "top100.txt.gz"
_KNOWN_DOMAINS = 500
_PENDING = 50_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="URLs, gzip, one a line")
    parser.add_argument("--size", type=int, default=20_000, help="URLs of a kind in a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    run(options.corpus, options.size, options.rounds)


def run(corpus_path: Path, size: int, rounds: int) -> dict[str, Any]:
    """Measure all, and write and return it."""
    logging.disable(logging.WARNING)
    corpus = read_corpus(corpus_path)
    competing = contestants(domains_of(corpus, _KNOWN_DOMAINS))
    data: dict[str, Any] = {"conditions": conditions(), "rounds": rounds, "speed": {}}
    tables = [_conditions(data)]
    learned = of_learned_rules(size, rounds), fingerprinters.of_learned_rules()
    pairs = [(workload, competing) for workload in workloads(corpus, size, rounds)]
    for workload, contestants_of_it in (*pairs, learned):
        say(f"fingerprints: {workload.name}")
        results, text = _speed(workload, contestants_of_it)
        data["speed"][workload.name] = results
        tables.append(text)
    say("fingerprints: memory, start-up")
    data["memory"] = memory.measure(corpus[: min(_PENDING, size)])
    data["import"] = startup.import_cost(rounds)
    data["domains"] = startup.many_domains((10, 100_000), rounds)
    tables += _others(data)
    write("fingerprints", data, tables)
    return data


def _conditions(data: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in data["conditions"].items()) + "."


def _speed(workload: Workload, competing: list[Contestant | Library]) -> tuple[dict[str, Any], str]:
    results = measure(competing, workload.rounds)
    rows = []
    urls = [url for one in workload.rounds for url in one]
    data: dict[str, Any] = {"urls": len(urls), "distinct": len(set(urls))}
    for name, microseconds in medians(results).items():
        others = [other for other in (SCRAPY, DISCARDER) if other in results[0]]
        data[name] = {"microseconds": microseconds}
        data[name] |= {
            f"times faster than {other}": ratios(results, other, name) for other in others
        }
        of_scrapy = ratios(results, SCRAPY, name)
        spread = f"{of_scrapy['median']:.2f} ({of_scrapy['least']:.2f}-{of_scrapy['greatest']:.2f})"
        rest = [f"{ratios(results, other, name)['median']:.1f}" for other in others[1:]]
        rows.append([name, f"{microseconds:.2f}", spread, *rest])
    title = f"{workload.name}: {data['urls']:,} URLs, {data['distinct']:,} distinct"
    header = [title, "us", "times Scrapy's speed", "times duplicate-url-discarder's"]
    return data, table(header[: len(rows[0])], rows)


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
