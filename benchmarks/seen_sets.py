"""Measures seen-sets of ten million URLs: memory, disk, adds, look-ups, start-up, and kills.

Run it as ``python -m benchmarks.seen_sets [URLs [SET ...]]``. Each set is filled in a process of
its own, in a temporary directory (TMPDIR). The time of making the fingerprints is subtracted.
Then processes that add to the disk set are killed 20 times at random moments, and the lost
entries are counted.
"""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
from hashlib import sha1
from itertools import count as count_from
from pathlib import Path
from time import process_time, sleep
from typing import TYPE_CHECKING, Any

from scrapy import dupefilters

from benchmarks import results
from benchmarks.processes import result_of
from scrapy_urlcanon.crawl.seen_sets.base import COMPACT_FILE, DISK_FILE
from scrapy_urlcanon.crawl.seen_sets.compact import CompactSet
from scrapy_urlcanon.crawl.seen_sets.disk import DiskSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS = ("scrapy", "compact", "compact-128", "disk")
KILLS = 20
LOOKUPS = 1_000_000
TOLD = 5_000_000


class ScrapySet(set):
    """The set of Scrapy's duplicate filter, read from a job and written to it in the same way."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            super().__init__(dupefilters._read_fingerprints(path.read_bytes()))  # noqa: SLF001
        self._path = path

    def close(self) -> None:
        # As ``RFPDupeFilter.request_seen``: each behind its length.
        self._path.write_bytes(b"".join(len(each).to_bytes(2, "big") + each for each in self))


MAKE: dict[str, Callable[[Path], Any]] = {
    "scrapy": lambda directory: ScrapySet(directory / "requests.seen"),
    "compact": lambda directory: CompactSet(64, directory / COMPACT_FILE),
    "compact-128": lambda directory: CompactSet(128, directory / COMPACT_FILE),
    "disk": lambda directory: DiskSet(directory / DISK_FILE),
}


def fingerprints(numbers: Any) -> Iterator[bytes]:
    for number in numbers:
        yield sha1(b"%d" % number).digest()


def memory() -> float:
    """Return the peak memory of this process in bytes, without the kernel's cache."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def resident() -> int:
    """Return the bytes that this process has in memory now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def per_second(count: int, seconds: float, alone: float) -> float:
    return count / max(seconds - alone, 1e-9)


def fill(kind: str, directory: Path, count: int) -> dict[str, float]:
    """Fill a set, and look up as many URLs that are in it as URLs that are not."""
    numbers = range(count)
    started = process_time()
    for _ in fingerprints(range(LOOKUPS)):
        pass
    alone = (process_time() - started) / LOOKUPS
    before = resident()
    seen = MAKE[kind](directory)
    add = seen.add
    started = process_time()
    for number, fingerprint in enumerate(fingerprints(numbers)):
        add(fingerprint)
        if number % TOLD == TOLD - 1:
            print(f"{kind}: {number + 1:,} of {count:,} URLs", file=sys.stderr, flush=True)
    adding = process_time() - started
    held = resident() - before
    chosen = random.Random(1).choices(range(2 * count), k=LOOKUPS)
    started = process_time()
    found = sum(fingerprint in seen for fingerprint in fingerprints(chosen))
    looking = process_time() - started
    assert found == sum(number < count for number in chosen)
    assert len(seen) == count
    seen.close()
    stored = sum(path.stat().st_size for path in directory.iterdir())
    return {
        "memory": held / count,
        "most memory": memory(),
        "disk": stored / count,
        "adds": per_second(count, adding, alone * count),
        "look-ups": per_second(LOOKUPS, looking, alone * LOOKUPS),
    }


def reopen(kind: str, directory: Path) -> dict[str, float]:
    """Open a stored set in a new process."""
    started = process_time()
    seen = MAKE[kind](directory)
    seconds = process_time() - started
    seen.close()
    return {"start-up": seconds}


def add_until_killed(directory: Path, first: int) -> None:
    seen = DiskSet(directory / DISK_FILE)
    for number, fingerprint in enumerate(fingerprints(count_from(first)), first + 1):
        seen.add(fingerprint)
        if number % 100 == 0:
            print(number, flush=True)


def kill(directory: Path, count: int) -> dict[str, int]:
    """Kill a process that adds to the set, and count the lost entries."""
    chance = random.Random(20)
    lost, first = 0, count
    for _ in range(KILLS):
        command = [sys.executable, "-m", "benchmarks.seen_sets"]
        command += ["--add", str(directory), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            sleep(chance.uniform(0.1, 6))
            process.send_signal(signal.SIGKILL)
            said = [int(line) for line in process.stdout.read().split("\n")[:-1]]
        added = said[-1] if said else first
        seen = DiskSet(directory / DISK_FILE)
        lost += sum(fingerprint not in seen for fingerprint in fingerprints(range(first, added)))
        sample = random.Random(first).choices(range(first), k=10_000)
        lost += sum(fingerprint not in seen for fingerprint in fingerprints(sample))
        first = len(seen)
        seen.close()
    return {"kills": KILLS, "added meanwhile": first - count, "forgotten": lost}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    kinds = tuple(sys.argv[2:]) or KINDS
    data: dict[str, Any] = {"conditions": results.conditions(), "URLs": count}
    rows = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as directory:
            found = data[kind] = result_of("seen_sets", "--fill", kind, directory, count)
            found |= result_of("seen_sets", "--reopen", kind, directory, count)
            if kind == "disk":
                data["killed"] = kill(Path(directory), count)
        rows.append(
            [
                kind,
                f"{found['memory']:.1f}",
                f"{found['most memory'] / 1e6:,.0f}",
                f"{found['disk']:.1f}",
                f"{found['adds']:,.0f}",
                f"{found['look-ups']:,.0f}",
                f"{found['start-up']:.2f}",
            ]
        )
        print(rows[-1], flush=True)
    header = ["set", "memory, B a URL", "the process, MB", "disk, B a URL"]
    header += ["adds a second", "look-ups a second", "start-up of a job, s"]
    text = [results.table(header, rows)]
    if killed := data.get("killed"):
        more, forgotten = killed["added meanwhile"], killed["forgotten"]
        said = f"The disk set was killed {KILLS} times while {more:,} more were added. "
        text.append(f"{said}Forgotten: {forgotten}.")
    name = "seen-sets" if kinds == KINDS else f"seen-sets-{'-'.join(kinds)}"
    results.write(name, data, text)


if __name__ == "__main__":
    match sys.argv[1:]:
        case "--fill", kind, directory, count:
            print(json.dumps(fill(kind, Path(directory), int(count))))
        case "--reopen", kind, directory, _:
            print(json.dumps(reopen(kind, Path(directory))))
        case "--add", directory, first:
            add_until_killed(Path(directory), int(first))
        case _:
            main()
