"""Tells which sets of seen fingerprints a job has stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.seen_sets.base import COMPACT_FILE, DISK_FILE
from scrapy_urlcanon.crawl.settings import COMPACT, COMPACT_128, DISK, SCRAPY, SCRAPY_FILE

if TYPE_CHECKING:
    from pathlib import Path


def files_in(directory: Path) -> list[Path]:
    """Return the files of sets in the *directory* of a job."""
    return sorted(directory.glob(f"{COMPACT_FILE}*"))


def is_in_another(directory: Path, kind: str) -> bool:
    """Tell whether the job in *directory* stored what it has seen in another set than *kind*.

    :param kind: the value of ``URLCANON_SEEN_SET``.
    """
    names = {
        SCRAPY: SCRAPY_FILE,
        COMPACT: COMPACT_FILE,
        COMPACT_128: COMPACT_FILE,
        DISK: DISK_FILE,
    }
    stored = {name for name in names.values() if (directory / name).exists()}
    return bool(stored) and names[kind] not in stored


def count_in(directory: Path) -> int:
    """Return about how many fingerprints the sets in the *directory* of a job hold."""
    compact, disk = directory / COMPACT_FILE, directory / DISK_FILE
    count = 0
    if compact.exists():
        from scrapy_urlcanon.crawl.seen_sets.word_file import count_in_file  # noqa: PLC0415

        count += count_in_file(compact)
    if disk.exists():
        from scrapy_urlcanon.crawl.seen_sets.disk import count_in_database  # noqa: PLC0415

        count += count_in_database(disk)
    return count
