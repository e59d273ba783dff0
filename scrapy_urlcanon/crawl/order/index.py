"""Stores which requests wait in the queue of a job, and where, so that the next run finds them."""

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
"""Written when a run ends in order, and only then."""
_STATE: Final = "scrapy_urlcanon.order"
"""The first element of what the scheduler stores for this queue; Scrapy's own queues reject it."""


def write(directory: Path, waiting: Waiting) -> list[Any]:
    """Store what waits; return what the scheduler has to store, with checksums of all files."""
    data = pickle.dumps(waiting, protocol=4)
    (directory / FILE).write_bytes(data)
    segments = {path.name: crc32(path.read_bytes()) for path in segments_in(directory)}
    return [_STATE, crc32(data), segments]


def is_of_order(stored: object) -> bool:
    """Tell whether what the scheduler *stored* comes from this queue."""
    return isinstance(stored, list) and stored[:1] == [_STATE]


def read(directory: Path, stored: list[Any]) -> Waiting:
    """Return what :func:`write` stored.

    :raises ValueError: if the file is damaged.
    :raises OSError: if it cannot be read.
    """
    _, checksum, _ = stored
    # A job is trusted, as Scrapy's queue is.
    found: Waiting = pickle.loads(_checked(directory / FILE, checksum))  # noqa: S301
    return found


def check_queue(job: Path) -> None:
    """Check that no requests of a *job* wait in this queue; for a run without ``URLCANON_ORDER``.

    :raises ConfigurationError: if some do, since Scrapy's queue cannot read them.
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
    """Return why the queue of a job cannot be read, or None if it can.

    :param queue: the file in which the scheduler stored the state of the queue.
    """
    try:
        stored = json.loads(queue.read_text(encoding="utf-8"))
        if is_of_order(stored):
            _, checksum, segments = stored
            _checked(queue.parent / FILE, checksum)
            for name, checksum in segments.items():
                _checked(queue.parent / name, checksum)
    except FileNotFoundError as error:
        # A job that never ended in order has neither file.
        return str(error) if queue.exists() else None
    except (OSError, ValueError) as error:
        return f"{queue}: {error}"
    return None


def _checked(path: Path, checksum: int) -> bytes:
    """Return the content of the file at *path*.

    :raises ValueError: if it does not have *checksum*.
    """
    data = path.read_bytes()
    if crc32(data) != checksum:
        raise ValueError(f"{path} is not what the last run wrote there")
    return data
