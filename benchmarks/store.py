"""Measures the observation store: rows a second, bytes a page at rest, and learning from it.

python -m benchmarks.store --help
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.processes import result_of
from benchmarks.results import conditions, say, table, write
from benchmarks.safety import page_of
from scrapy_urlcanon.learn.learning import learn
from scrapy_urlcanon.learn.processes import usable_processors
from scrapy_urlcanon.learn.readers.store import Stores
from scrapy_urlcanon.learn.store import ObservationStore
from scrapy_urlcanon.pages.page import Page

_PAGES_OF_A_SITE = 2_000
_VARIANTS = 10


def fill(path: Path, rows: int, variants: int) -> tuple[float, float]:
    """Write *rows* rows; return rows a second and bytes a row.

    The pages are read before the clock starts.

    :param variants: how many URLs show one page.
    """
    texts_of_a_site = _PAGES_OF_A_SITE // variants
    choose = random.Random(1)
    spent = 0.0
    with ObservationStore(path) as store:
        store.begin(datetime.now(timezone.utc), ())
        for first in range(0, rows, _PAGES_OF_A_SITE):
            host = f"www.site{first}.example"
            many = min(_PAGES_OF_A_SITE, rows - first)
            texts = [
                page_of(host, n, _PAGES_OF_A_SITE, 30_000).decode()
                for n in range(min(texts_of_a_site, many))
            ]
            pages: list[Page] = []
            for number in range(many):
                known, sid = number % texts_of_a_site, choose.randrange(10**6)
                url = f"http://{host}/page{known}.html" + (f"?sid={sid}" if number % 2 else "")
                pages.append(Page(url, b"x", texts[known]))
                if known == number:
                    _ = pages[-1].signature
                else:
                    pages[-1].__dict__["signature"] = pages[known].signature
                _ = pages[-1].canonical
            start = perf_counter()
            for number, page in enumerate(pages):
                key = first + number % texts_of_a_site
                store.add(page, status=200, key=key)
                # As the recorder keeps them where each page has 40 links: of a page eight, the 16th
                # and the 32nd.
                linked = [first + other for other in choose.choices(range(len(texts)), k=10)]
                store.add_links(host.removeprefix("www."), key, linked)
            store.flush()
            spent += perf_counter() - start
    return rows / spent, path.stat().st_size / rows


def most_memory() -> float:
    """Return the peak memory of this process in MB.

    ``ru_maxrss`` would be that of the parent process, if that is more.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--learn", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        start, jobs = perf_counter(), usable_processors()
        learn(Stores([options.learn]), jobs=jobs)
        elapsed = perf_counter() - start
        # All processes were waited for by now.
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            json.dumps(
                [
                    elapsed,
                    process_time() + used.ru_utime + used.ru_stime,
                    most_memory() + jobs * used.ru_maxrss / 1024,
                ]
            )
        )
    else:
        measure(options.rows)


def measure(rows: int) -> dict[str, Any]:
    """Measure all, and write and return it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "observations.sqlite")
        say(f"store: {rows:,} rows")
        speed, size_of_variant = fill(path, rows, _VARIANTS)
        _, size = fill(Path(directory, "pages.sqlite"), max(rows // _VARIANTS, 1_000), 1)
        say("store: learning from it")
        seconds, processors, memory = result_of("store", "--learn", path)
    data = {
        "conditions": conditions(),
        "rows": rows,
        "rows a second": speed,
        "bytes a page": size,
        "bytes a variant": size_of_variant,
        "learning, s": seconds,
        "learning, CPU s": processors,
        "learning, MB": memory,
    }
    cells = [
        ["rows a second", f"{speed:,.0f}"],
        ["bytes a page", f"{size:,.0f}"],
        [f"bytes a row where {_VARIANTS} show a page", f"{size_of_variant:,.0f}"],
        ["learning, s", f"{seconds:.1f}"],
        ["learning, s of all processors", f"{processors:.1f}"],
        ["learning, MB", f"{memory:.0f}"],
    ]
    write("store", data, [table([f"store of {rows:,} rows", ""], cells)])
    return data


if __name__ == "__main__":
    main()
