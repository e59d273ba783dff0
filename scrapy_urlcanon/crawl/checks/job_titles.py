"""Keeps the titles of the pages that a job has fetched, from one run to the next."""

from __future__ import annotations

from array import array
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.job.job_files import has_begun

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "urlcanon.titles"


class JobTitles:
    """Stores the 8-byte hashes of titles in a file of the job directory.

    The file is deleted when a run begins and written when it ends. So after a run that was killed
    it is missing, and the titles count as unknown.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     titles = JobTitles(Path(folder))
    ...     before = titles.read()
    ...     titles.begin()
    ...     titles.end([1, 2])
    ...     _ = (Path(folder) / "requests.seen").write_text("a page")
    ...     after = titles.read()
    >>> before, after
    (frozenset(), frozenset({1, 2}))
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / FILE

    def read(self) -> frozenset[int] | None:
        """Return the titles of all earlier runs, or None if they are not known."""
        if not has_begun(self._directory):
            return frozenset()
        try:
            return frozenset(array("Q", self._path.read_bytes()))
        except (OSError, ValueError):
            return None

    def begin(self) -> None:
        """Delete the file, since a run begins."""
        with suppress(OSError):
            self._path.unlink()

    def end(self, titles: Iterable[int]) -> None:
        """Write *titles*, those of all runs. An error of the disk is ignored."""
        new = self._path.with_suffix(".new")
        # If it cannot be written, the next run finds none, as after a kill.
        with suppress(OSError):
            new.write_bytes(array("Q", titles).tobytes())
            new.replace(self._path)
