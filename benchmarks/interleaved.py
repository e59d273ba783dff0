"""Compares the speed of functions on a machine that does other work as well.

All of them get the same work in small chunks, in random order within each chunk, so that other
work on the machine affects all alike. The result is the median over the rounds of the ratio of
two functions within one round.
"""

from __future__ import annotations

import gc
import random
from statistics import median
from time import thread_time_ns
from typing import TYPE_CHECKING
from urllib.parse import clear_cache

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.fingerprinters import Contestant

_CHUNK = 1000


def measure(contestants: list[Contestant], rounds: list[list[str]]) -> list[dict[str, float]]:
    """Return the CPU time per URL of each contestant, in microseconds, in each round.

    Each round has URLs of its own, which no contestant had before. The requests are made before
    the clock starts.
    """
    choose = random.Random(3)
    results = []
    gc.disable()
    made = {contestant.name: contestant.make() for contestant in contestants}
    try:
        for urls in rounds:
            spent = dict.fromkeys(made, 0)
            for start in range(0, len(urls), _CHUNK):
                chunk = urls[start : start + _CHUNK]
                for name in choose.sample(list(made), len(made)):
                    spent[name] += _time(made[name], chunk)
                gc.collect(0)
            results.append({name: time / len(urls) / 1000 for name, time in spent.items()})
            gc.collect()
    finally:
        gc.enable()
    return results


def _time(fingerprint: Callable[[Request], bytes], urls: list[str]) -> int:
    requests = [Request(url) for url in urls]
    # The parser of the standard library remembers the last URLs: not those of the others.
    clear_cache()
    start = thread_time_ns()
    for request in requests:
        fingerprint(request)
    return thread_time_ns() - start


def medians(results: list[dict[str, float]]) -> dict[str, float]:
    """Return the median over the rounds, by name."""
    return {name: median(result[name] for result in results) for name in results[0]}


def ratios(results: list[dict[str, float]], name: str, other: str) -> dict[str, float]:
    """Return the time of *name* divided by that of *other*: median, least and greatest round."""
    values = [result[name] / result[other] for result in results]
    return {"median": median(values), "least": min(values), "greatest": max(values)}
