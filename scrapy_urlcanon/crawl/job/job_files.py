"""Tells from the files in ``JOBDIR`` whether runs without a journal have used the job."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.job.journal import FILE as JOURNAL
from scrapy_urlcanon.crawl.order.index import FILE as INDEX
from scrapy_urlcanon.crawl.order.index import QUEUE
from scrapy_urlcanon.crawl.seen_sets.stored import count_in, files_in
from scrapy_urlcanon.crawl.settings import SCRAPY_FILE

if TYPE_CHECKING:
    from pathlib import Path


def has_begun(directory: Path) -> bool:
    """Tell whether Scrapy has stored requests of the job in *directory*, or may have."""
    if count_in(directory):
        return True
    seen = directory / SCRAPY_FILE
    try:
        if seen.exists() and seen.stat().st_size:
            return True
        return bool(json.loads((directory / QUEUE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        # Scrapy creates the first of these files at once, but a run that failed to start, none of
        # the others.
        return False
    except (OSError, ValueError):
        return True


def is_resumed(directory: Path) -> bool:
    """Tell whether an earlier run has used the job in *directory*."""
    # A run that was killed early leaves a journal, though Scrapy has stored nothing yet.
    return (directory / JOURNAL).exists() or has_begun(directory)


def was_killed_since(journal: Path) -> bool:
    """Tell whether a run without *journal* took requests from the queue and was killed.

    A run that ends stores the state of the queue last, after its journal if it has one. The run may
    have been one without the plugin.
    """
    directory = journal.parent
    try:
        written = journal.stat().st_mtime_ns
        state = directory / QUEUE
        if state.stat().st_mtime_ns > written:
            return False
        files = chain(state.parent.rglob("*"), files_in(directory), [directory / SCRAPY_FILE])
        return any(
            path.stat().st_mtime_ns > written
            for path in files
            # A run that is killed does not write the index.
            if path.is_file() and path.name != INDEX
        )
    except OSError:
        return False
