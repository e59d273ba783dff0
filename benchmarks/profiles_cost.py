"""Measures the cost of recognising known programs by the first responses of a host.

    python -m benchmarks.profiles_cost --help

The responses come from memory, as in ``benchmarks/safety.py``. Each round crawls twice with
``URLCANON_PROFILES`` on and twice with it off, in turn, in processes of their own. The
difference of two crawls of one kind is the noise of the machine. The result is the ratio within
a round.
"""

from __future__ import annotations

import argparse
import json
import random
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from benchmarks.in_memory import process_of
from benchmarks.processes import result_of
from benchmarks.results import conditions, say, table, write
from benchmarks.safety import PARTS, Site, url_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

ON, OFF = "with profiles", "without"
_SETTINGS: dict[str, dict[str, Any]] = {
    name: {**PARTS["the plugin"], "URLCANON_PROFILES": name == ON} for name in (ON, OFF)
}
_HOSTS = {"3 pages of each host": 3, "30 pages of each host": 30, "600 pages of each host": 600}


class Follow(Spider):
    """Follows every link of as many hosts as asked for."""

    name = "follow"

    async def start(self) -> AsyncIterator[Request]:
        for number in range(self.settings.getint("BENCHMARK_HOSTS")):
            yield Request(url_of(f"www.site{number}.example", 0))

    def parse(self, response: Response) -> Iterator[Request]:
        yield from response.follow_all(css="a")


def crawl(name: str, pages: int, each: int) -> float:
    """Crawl *pages* pages, *each* of a host; return CPU seconds without making the pages."""
    settings = {
        **_SETTINGS[name],
        "BENCHMARK_HOSTS": max(1, pages // each),
        "BENCHMARK_PAGES": each * 2,
        "BENCHMARK_SIZE": 30_000,
    }
    process = process_of(Site, pages, settings)
    process.crawl(process.create_crawler(Follow))
    start = process_time()
    process.start()
    return process_time() - start - Site.spent / 1e9


def measure(pages: int, each: int, rounds: int) -> dict[str, Any]:
    """Return the CPU with profiles divided by that without, and the same for two crawls without."""
    choose = random.Random(9)
    ratios, control, spent = [], [], []
    for number in range(rounds):
        found: dict[str, list[float]] = {ON: [], OFF: []}
        for name in choose.sample([ON, ON, OFF, OFF], 4):
            found[name].append(result_of("profiles_cost", "--crawl", name, pages, each))
        ratios += [on / off for on, off in zip(found[ON], found[OFF], strict=True)]
        control.append(found[OFF][0] / found[OFF][1])
        spent.append((sum(found[ON]) - sum(found[OFF])) / 2 / pages * 1000)
        say(f"{each} pages of each host: round {number + 1} of {rounds}")
    return {
        "ratio": median(ratios),
        "least": min(ratios),
        "greatest": max(ratios),
        "control least": min(control),
        "control greatest": max(control),
        "ms a page": median(spent),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=600, help="pages of a crawl")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--crawl", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        name, pages, each = options.crawl
        print(json.dumps(crawl(name, int(pages), int(each))))
        return
    found = {name: measure(options.pages, each, options.rounds) for name, each in _HOSTS.items()}
    rows = [
        [
            name,
            f"{one['ratio']:.3f}",
            f"{one['least']:.2f} to {one['greatest']:.2f}",
            f"{one['control least']:.2f} to {one['control greatest']:.2f}",
            f"{one['ms a page']:+.2f}",
        ]
        for name, one in found.items()
    ]
    header = ["pages of 30 kB", "CPU with profiles over without", "least to greatest"]
    header += ["two crawls without", "ms a page"]
    data = {"conditions": conditions(), "rounds": options.rounds, "crawls": found}
    write("profiles-cost", data, [table(header, rows)])


if __name__ == "__main__":
    main()
