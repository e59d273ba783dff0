"""Measures four processes on one frontier in Redis: losses with kills and restarts, and speed.

``make soak-redis`` runs it as ``python -m benchmarks.shared_frontier [pages]``, with ``tests``
and ``example_project`` on the path. A site of 20,000 URLs: 60 % of the pages have three, and of
2 % of the pages all but one of these are dead. Four runs: undisturbed; with one process killed
(-9) in the middle and another one joining; with Redis restarted; and with scrapy-redis alone.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from ecosystem.conftest import RedisServer
from ecosystem.shared_frontier import Processes, big_site, expected_of, wait_for
from loopback import Loopback

from benchmarks import results

if TYPE_CHECKING:
    from collections.abc import Callable

ALONE = {
    "ADDONS": {},
    # Else the first process to end would have the others fetch everything again.
    "SCHEDULER_PERSIST": True,
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
}


def kill_one(processes: Processes, redis: RedisServer) -> None:
    del redis
    processes.running[0].kill()
    processes.start()


def restart_redis(processes: Processes, redis: RedisServer) -> None:
    del processes
    redis.stop()
    sleep(2)
    redis.start()


def run(
    size: int,
    trouble: Callable[[Processes, RedisServer], None] | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="redis") as name:
        directory = Path(name)
        redis = RedisServer(directory)
        redis.start()
        with Loopback(big_site(size)) as server:
            processes = Processes(directory, redis, server.proxies, settings)
            for _ in range(4):
                processes.start()
            wait_for(lambda: server.hits)
            started = monotonic()
            if trouble:
                wait_for(lambda: len(server.hits) > size // 2)
                trouble(processes, redis)
            processes.wait()
            seconds = monotonic() - started
        redis.stop()
        got = processes.got()
    return {
        "pages": size + 1,
        "requests": len(server.hits),
        "lost": len(expected_of(size) - set(got)),
        "got twice": sum(got.values()) - len(got),
        "seconds": seconds,
    }


def main() -> None:
    # 20,000 URLs are some 9,100 pages.
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 9_100
    planned: dict[str, dict[str, Any]] = {
        "four processes": {},
        "one killed, one joining": {"trouble": kill_one},
        "Redis restarted": {"trouble": restart_redis},
        "scrapy-redis alone": {"settings": ALONE},
    }
    runs = {}
    for name, options in planned.items():
        results.say(f"{size + 1:,} pages, {name}")
        runs[name] = run(size, **options)
    rows = [
        [
            name,
            f"{found['requests']:,}",
            f"{found['lost']:,}",
            f"{found['got twice']:,}",
            f"{found['requests'] / found['seconds']:.0f}",
            f"{found['pages'] / found['seconds']:.0f}",
        ]
        for name, found in runs.items()
    ]
    header = ["run", "requests", "pages lost", "got twice", "requests a second", "pages a second"]
    results.write(
        "shared-frontier",
        {"conditions": results.conditions(), **json.loads(json.dumps(runs))},
        [results.table([f"{size + 1:,} pages", *header[1:]], rows)],
    )


if __name__ == "__main__":
    main()
