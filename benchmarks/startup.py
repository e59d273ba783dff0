"""Measures the cost of the import, and of rules for many domains at start-up and for each host.

The memory of a process is read from ``/proc``: Linux only.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from statistics import median
from time import thread_time_ns
from typing import Any

from benchmarks.fingerprinters import domains
from scrapy_urlcanon.canonicalizer import Canonicalizer

_IMPORTS = """
import resource, time
from pathlib import Path
def now():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return time.process_time() * 1000, pages * resource.getpagesize() / 2**20
start, _ = now()
from scrapy.crawler import Crawler
from scrapy.settings import default_settings, Settings
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler
settings = Settings()
for name in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS"):
    for path in settings[f"{name}_BASE"]:
        load_object(path)
for name in ("DOWNLOADER", "SCHEDULER", "DUPEFILTER_CLASS", "REQUEST_FINGERPRINTER_CLASS"):
    load_object(settings[name])
before, size_before = now()
from scrapy_urlcanon import Addon
after, size = now()
print(after - before, size - size_before, before - start)
"""
_HOSTS = 20_000


def import_cost(rounds: int) -> dict[str, float]:
    """Return CPU time (ms) and resident memory (MiB) of importing the plugin, over Scrapy's.

    Medians over *rounds* processes, each of which first imports what Scrapy needs.
    """
    # The first one compiles the modules, as those of an installed package are.
    _, *measured = [_import() for _ in range(rounds + 1)]
    times, sizes, scrapy_times = zip(*measured, strict=True)
    return {
        "milliseconds": median(times),
        "MiB": median(sizes),
        "milliseconds of Scrapy": median(scrapy_times),
    }


def _import() -> tuple[float, ...]:
    command = [sys.executable, "-W", "ignore", "-c", _IMPORTS]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    output = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment
    ).stdout
    return tuple(map(float, output.split()))


def many_domains(counts: tuple[int, ...], rounds: int) -> dict[int, dict[str, Any]]:
    """Return the start-up time and the time to look up a new host, by number of domains."""
    rules = {count: domains(count, []) for count in counts}
    hosts = [f"www.shop{number}.example" for number in range(_HOSTS)]
    results: dict[int, dict[str, list[float]]] = {
        count: {"start-up seconds": [], "microseconds per host": []} for count in counts
    }
    choose = random.Random(4)
    for _ in range(rounds):
        gc.collect()
        for count in choose.sample(counts, len(counts)):
            start = thread_time_ns()
            canonicalizer = Canonicalizer(rules[count])
            results[count]["start-up seconds"].append((thread_time_ns() - start) / 1e9)
            find = canonicalizer._policies.for_host  # noqa: SLF001
            find("example")
            gc.disable()
            start = thread_time_ns()
            for host in hosts:
                find(host)
            spent = (thread_time_ns() - start) / 1e3
            gc.enable()
            results[count]["microseconds per host"].append(spent / _HOSTS)
    return {
        count: {name: median(values) for name, values in result.items()}
        for count, result in results.items()
    }
