"""The titles of the pages that a job has got, from run to run."""

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
    """Keeps them by their hashes, of 8 bytes each, in a file of the job.

    It is gone while a run goes on, and written when that ends: one that was killed leaves none, and
    then nobody knows them.

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
        """Return the titles of all runs before; None where they are not known."""
        if not has_begun(self._directory):
            return frozenset()
        try:
            return frozenset(array("Q", self._path.read_bytes()))
        except (OSError, ValueError):
            return None

    def begin(self) -> None:
        """Note that a run begins."""
        with suppress(OSError):
            self._path.unlink()

    def end(self, titles: Iterable[int]) -> None:
        """Write *titles*, those of all runs, if that is possible."""
        new = self._path.with_suffix(".new")
        # Where it is not, it is as if the run had been killed.
        with suppress(OSError):
            new.write_bytes(array("Q", titles).tobytes())
            new.replace(self._path)
