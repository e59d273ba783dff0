"""Measures what is kept in memory, with tracemalloc."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING

from scrapy import Request

from benchmarks.fingerprinters import SCRAPY, Contestant, ours, parameters
from scrapy_urlcanon.canonicalizer import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Callable

_BOUND = 10_000


def _kept(work: Callable[[], object]) -> int:
    """Return the bytes that are kept after *work*, with its result."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return kept


def pending_request(contestant: Contestant, urls: list[str]) -> float:
    """Return the bytes kept for each waiting request: its bookkeeping, and all caches."""
    fingerprint = contestant.make()
    requests = [Request(url) for url in urls]

    def work() -> None:
        for request in requests:
            fingerprint(request)

    return _kept(work) / len(requests)


def seen_fingerprint(contestant: Contestant, urls: list[str]) -> float:
    """Return the bytes kept for each fingerprint without a request, beside the dupefilter's."""
    fingerprint = contestant.make()

    def work() -> None:
        for url in urls:
            fingerprint(Request(url))

    return _kept(work) / len(urls)


def cached_host(preset: str) -> dict[str, float]:
    """Return the bytes kept per host while all fit, and how many MiB any number of hosts take."""
    return {
        "bytes": _hosts(preset, _BOUND - 1) / (_BOUND - 1),
        "MiB for ten times as many": _hosts(preset, 10 * _BOUND - 1) / 2**20,
    }


def _hosts(preset: str, count: int) -> int:
    canonicalizer = Canonicalizer(preset=preset)
    canonicalizer.canonicalize("http://example.com/")

    def work() -> None:
        for number in range(count):
            canonicalizer.canonicalize(f"https://www.site{number}.example.com/index")

    return _kept(work)


def measure(urls: list[str]) -> dict[str, object]:
    """Return all figures, in bytes."""
    plugin = ours("scrapy-urlcanon", {"*": {"drop_params": parameters(10)}})
    canonical = [url for url in urls if Canonicalizer().canonicalize(url) == url]
    changed = [f"{url.partition('#')[0].partition('?')[0]}?utm_source=a" for url in urls]
    return {
        "pending request": {
            c.name: pending_request(c, urls) for c in (Contestant(SCRAPY, {}), plugin)
        },
        "seen fingerprint of a canonical URL": seen_fingerprint(plugin, canonical),
        "seen fingerprint of another URL": seen_fingerprint(plugin, changed),
        "cached host": cached_host("safe"),
        "cached host, preset aggressive": cached_host("aggressive"),
    }
