"""Measures time and memory of ``scrapy urlcanon learn`` for a file.

``python -m benchmarks.learn.scale [--large]``, or ``... scale ROWS DOMAINS``. The runs, but for one
of a chosen size, are written to ``benchmarks/results/learn-scale.md`` and ``.json``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from hashlib import sha1
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.results import conditions, table, write

RUNS = ((100_000, 50), (1_000_000, 500), (100_000, 1), (1_000_000, 1))
"""The rows and domains of the compared runs."""

LARGE_RUNS = ((10_000_000, 5_000), (10_000_000, 1))
"""Ten times as many, which take ten minutes each."""

_COLUMNS = "url\tstatus\tmain_sha1\tsimhash64\tbytes\tcanonical\tredirect\n"


def write_observations(path: Path, rows: int, domains: int) -> None:
    """Write observations of shops with a session, a sort order, a print view.

    Slugs and pagination.
    """
    draw = Random(rows + domains)
    per_domain = rows // domains
    with path.open("w", encoding="utf-8") as file:
        file.write(_COLUMNS)
        for number in range(rows):
            domain = number % domains
            item = draw.randrange(per_domain // 3 + 1)
            kind = draw.randrange(6)
            host = f"www.shop{domain}.example.com" if domains == 1 else f"www.shop{domain}.com"
            path_, params = f"/section{item % 17}/product/{item}", []
            if kind == 0:
                params.append(f"sid={draw.getrandbits(64):016x}")
            elif kind == 1:
                params += [f"sort={draw.choice(('name', 'price'))}", f"ref={draw.randrange(99)}"]
            elif kind == 2:  # noqa: PLR2004
                path_ += "/print"
            elif kind == 3:  # noqa: PLR2004
                params.append(f"color={draw.randrange(9)}")
            content = f"{host} {item} {params if kind == 3 else ''}"  # noqa: PLR2004
            digest = sha1(content.encode()).hexdigest()
            query = f"?{'&'.join(params)}" if params else ""
            url = f"http://{host}{path_}{query}"
            file.write(f"{url}\t200\t{digest}\t{digest[:16]}\t{1000 + item % 999}\t\t\n")


def learn(path: Path, rules: Path) -> dict[str, Any]:
    """Learn from a file with the command, in one process; return time and memory."""
    command = [sys.executable, "-m", "scrapy", "urlcanon", "learn", str(path), "-o", str(rules)]
    command += ["--jobs", "1"]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    # CPU time, of the system too: what else runs on the machine does not count.
    return {
        "CPU, s": round(usage.ru_utime + usage.ru_stime, 1),
        "elapsed, s": round(time.monotonic() - start, 1),
        "memory, MB": usage.ru_maxrss // 1024,
        "rules": int(rules.read_text(encoding="utf-8").split(maxsplit=2)[1].replace(",", "")),
    }


def measure(rows: int, domains: int) -> dict[str, Any]:
    """Return time and memory of learning from so many observations of so many domains."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "observations.tsv"
        write_observations(path, rows, domains)
        size = path.stat().st_size
        cost = learn(path, Path(directory) / "urlcanon.toml")
    run = {"observations": rows, "domains": domains, "input, MB": size // 2**20, **cost}
    print(run, file=sys.stderr, flush=True)
    return run


def growth(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the factors by which time and memory exceed those of a run ten times smaller.

    Compared are runs with domains of the same size, and runs of one domain.
    """
    by_size = {(run["observations"], run["domains"]): run for run in runs}
    rows = []
    for (observations, domains), run in by_size.items():
        smaller = by_size.get((observations // 10, domains if domains == 1 else domains // 10))
        if smaller is not None:
            ratios = [run[name] / smaller[name] for name in ("CPU, s", "memory, MB")]
            rows.append([f"{observations:,}", f"{domains:,}", *(f"{r:.1f}" for r in ratios)])
    return rows


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="*", type=int, metavar="ROWS DOMAINS")
    parser.add_argument("--large", action="store_true", help="ten million observations too")
    options = parser.parse_args()
    if options.size:
        rows, domains = options.size
        measure(rows, domains)
        return 0
    started = conditions()
    runs = [measure(*size) for size in RUNS + (LARGE_RUNS if options.large else ())]
    tables = [
        ", ".join(f"{name} {value}" for name, value in started.items()) + ".",
        table(list(runs[0]), [[f"{value:,}" for value in run.values()] for run in runs]),
        table(["ten times as many", "domains", "times the CPU", "times the memory"], growth(runs)),
    ]
    write("learn-scale", {"conditions": started, "runs": runs}, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
