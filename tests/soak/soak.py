"""Kills and resumes jobs at random moments, or on a disk that fills and empties.

Run it as ``python tests/soak/soak.py [--disk] [--kills N] [--seed N]``; ``make soak-kill`` and
``make soak-disk`` do. It ends with counts, and with status 1 if a page was lost.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from itertools import count, cycle
from pathlib import Path

from killed_jobs import OPTIONS, Job

_KILLS_OF_A_JOB = 2


def main() -> int:
    """Run jobs until there were so many kills; return the status of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--disk", action="store_true", help="let the disk fill and empty")
    parser.add_argument("--kills", type=int, default=50, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first job")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    for seed, options in zip(count(arguments.seed), cycle(OPTIONS)):
        # On a full disk a job that is not killed is to be whole too.
        kills = seed % 3 if arguments.disk else _KILLS_OF_A_JOB
        with tempfile.TemporaryDirectory() as directory:
            job = Job(Path(directory), seed, options, kills=kills, disk=arguments.disk)
            outcome = job.run()
        total.update(outcome.stats)
        total.update(
            {
                "jobs": 1,
                "killed": outcome.kills,
                "pages": outcome.pages,
                "requests": outcome.requests,
                "lost": len(outcome.lost),
                "fetched twice": outcome.fetched_twice,
                "wrong": not outcome.is_right,
            }
        )
        print(
            f"{seed:4}  {options:40} {outcome.kills} kills  {outcome.pages:3} pages  "
            f"{len(outcome.lost)} lost  {outcome.fetched_twice:3} fetched twice",
            flush=True,
        )
        if not outcome.is_right:
            print(f"      lost: {sorted(outcome.lost)}\n{outcome.errors}", flush=True)
        if total["killed"] >= arguments.kills:
            break
    for name, figure in total.items():
        print(f"{figure:8,}  {name}")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
