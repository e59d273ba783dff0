"""The file in which the queue of a job writes down what waits, and where."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from scrapy_urlcanon.crawl.order.stores import segments_in
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from scrapy_urlcanon.crawl.order.lane import State

    Waiting = dict[str, dict[int, State]]
    """What waits, by download slot and priority."""

QUEUE: Final = Path("requests.queue", "active.json")
"""Where Scrapy's scheduler stores the state of its queue, in the directory of a job."""
FILE: Final = "urlcanon.index"
"""Is written where a run ends, and by no other."""
_STATE: Final = "scrapy_urlcanon.order"
"""Stands first in what the scheduler stores of the queue; Scrapy's own queues refuse it."""


def write(directory: Path, waiting: Waiting) -> list[Any]:
    """Write down what waits; return what the scheduler is to store, with the sums of all files."""
    data = pickle.dumps(waiting, protocol=4)
    (directory / FILE).write_bytes(data)
    segments = {path.name: crc32(path.read_bytes()) for path in segments_in(directory)}
    return [_STATE, crc32(data), segments]


def is_of_order(stored: object) -> bool:
    """Tell whether what the scheduler stored is of a queue in this order."""
    return isinstance(stored, list) and stored[:1] == [_STATE]


def read(directory: Path, stored: list[Any]) -> Waiting:
    """Return what was written down last.

    :raises ValueError: if it is not whole.
    :raises OSError: if it cannot be read.
    """
    _, checksum, _ = stored
    # A job is trusted, as Scrapy's queue is.
    found: Waiting = pickle.loads(_checked(directory / FILE, checksum))  # noqa: S301
    return found


def check_queue(job: Path) -> None:
    """See to it that what waits in the directory of a *job* waits in no order: none is set.

    :raises ConfigurationError: if it waits in ours, which Scrapy's queue cannot read.
    """
    state = job / QUEUE
    try:
        is_ours = is_of_order(json.loads(state.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return
    if is_ours:
        message = (
            "expected 'novelty', in which this job began: without it nobody can read what waits "
            f"in {state.parent}. Set it, or begin another JOBDIR"
        )
        raise ConfigurationError([Problem(name_of("order"), message)])


def problem_of(queue: Path) -> str | None:
    """Say why what waits in a job cannot be read, or return None.

    :param queue: the file in which the scheduler stored its state.
    """
    try:
        stored = json.loads(queue.read_text(encoding="utf-8"))
        if is_of_order(stored):
            _, checksum, segments = stored
            _checked(queue.parent / FILE, checksum)
            for name, checksum in segments.items():
                _checked(queue.parent / name, checksum)
    except FileNotFoundError as error:
        # Of a job that never ended there is neither.
        return str(error) if queue.exists() else None
    except (OSError, ValueError) as error:
        return f"{queue}: {error}"
    return None


def _checked(path: Path, checksum: int) -> bytes:
    """Return what is in the file at *path*, if that has *checksum*."""
    data = path.read_bytes()
    if crc32(data) != checksum:
        raise ValueError(f"{path} is not what the last run wrote there")
    return data
