"""Measures functions against each other on a machine that does other things as well.

All of them get the same work in small chunks, in a random order in each chunk, so that
whatever else the machine does falls on all alike. What counts is the ratio of two of them
within one round, and of these the median.
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

    Each round has URLs of its own, that nobody was asked for before. The requests are made before
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
    """Return how many times what *other* takes *name* takes: median, least and greatest round."""
    values = [result[name] / result[other] for result in results]
    return {"median": median(values), "least": min(values), "greatest": max(values)}
