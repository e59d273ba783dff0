"""What the files of a job tell of runs that wrote no journal."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.order.index import FILE as INDEX
from scrapy_urlcanon.crawl.order.index import QUEUE
from scrapy_urlcanon.crawl.seen_sets.stored import count_in, files_in
from scrapy_urlcanon.crawl.settings import SCRAPY_FILE

if TYPE_CHECKING:
    from pathlib import Path


def has_begun(directory: Path) -> bool:
    """Tell whether Scrapy has stored any request, or may have, of the job in *directory*."""
    if count_in(directory):
        return True
    seen = directory / SCRAPY_FILE
    try:
        if seen.exists() and seen.stat().st_size:
            return True
        return bool(json.loads((directory / QUEUE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        # Scrapy makes the first one at once; a run that failed to start, no other.
        return False
    except (OSError, ValueError):
        return True


def was_killed_since(journal: Path) -> bool:
    """Tell whether a run without *journal* took from the queue of its job, and did not end.

    One that ends stores the state of the queue last, as one with a journal did before that. It
    may have been without the plugin.
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
            # No run that is killed writes the index.
            if path.is_file() and path.name != INDEX
        )
    except OSError:
        return False
