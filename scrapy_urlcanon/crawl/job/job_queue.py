"""Watches Scrapy's queue of a job, and tells whether all that waits is stored."""

from __future__ import annotations

import json
import logging
import shutil
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.crawl.order.index import QUEUE, problem_of

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Request

    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles

logger = logging.getLogger(__name__)

_MADE_ANEW = "The crawl goes on, and the next run makes the queue anew from the journal."


class JobQueue:
    """Keeps the queue of a job from losing requests, and knows whether it has.

    :param directory: the directory of the job.
    """

    def __init__(self, directory: Path, unwritten: UnwrittenFiles) -> None:
        self._file = directory / QUEUE
        self._unwritten = unwritten
        self._is_whole = True
        self._scheduler: Any = None
        self._before = self._written()

    def is_damaged(self) -> bool:
        """Tell whether what the last run stored cannot be read, and log it."""
        problem = problem_of(self._file)
        if problem:
            logger.warning(
                "The queue of the job cannot be read: %(problem)s. It is rebuilt from the journal.",
                {"problem": problem},
            )
        return problem is not None

    def discard(self) -> None:
        """Delete what the last run stored, before the scheduler reads it."""
        shutil.rmtree(self._file.parent, ignore_errors=True)
        self._before = self._written()

    def guard(self, scheduler: Any) -> None:
        """Let *scheduler* keep requests in memory that it cannot store, and would lose."""
        self._scheduler = scheduler
        enqueue = scheduler.enqueue_request

        def enqueue_request(request: Request) -> bool:
            try:
                return bool(enqueue(request))
            except (OSError, RecursionError) as error:
                # Scrapy does not keep a request in memory either that is nested too deep to be
                # pickled.
                known = error if isinstance(error, OSError) else OSError(str(error))
                self._is_whole = False
                self._unwritten.note(self._file.parent, known, _MADE_ANEW)
                scheduler.mqs.push(request)
                for stat in ("scheduler/enqueued/memory", "scheduler/enqueued"):
                    scheduler.stats.inc_value(stat)
                return True

        if hasattr(scheduler, "mqs"):
            scheduler.enqueue_request = enqueue_request

    def is_stored(self) -> bool:
        """Tell whether Scrapy has stored its whole queue.

        A full disk may prevent that. And requests that cannot be stored, such as those with a
        lambda as their callback, stay in memory until the crawl ends.
        """
        try:
            json.loads(self._file.read_text(encoding="utf-8"))
            is_stored = self._written() != self._before
        except (OSError, ValueError):
            is_stored = False
        if not is_stored:
            error = OSError("Scrapy has not stored its queue")
            self._unwritten.note(self._file, error, _MADE_ANEW)
        in_memory = len(getattr(self._scheduler, "mqs", ()))
        if in_memory:
            logger.warning(
                "%d requests wait that Scrapy cannot store. The next run makes the queue anew from "
                "the journal.",
                in_memory,
            )
        return is_stored and self._is_whole and not in_memory

    def _written(self) -> tuple[int, int] | None:
        """Return the time and size of the file, to see later whether it was written again."""
        try:
            stat = self._file.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size
