"""Logs which files cannot be read or written, as on a full disk."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class FailingFile:
    """Logs that a file cannot be used: once, until it can be used again.

    :param lacks: what cannot be done with it, such as ``written``.
    :param consequence: what that means for the crawl, as a whole sentence.
    """

    def __init__(self, path: Path, lacks: str, consequence: str) -> None:
        self._path = path
        self._lacks = lacks
        self._consequence = consequence
        self.is_so = False
        """Whether it could not be used the last time."""

    def note(self, error: object) -> None:
        """Note that it could not be used because of *error*."""
        if not self.is_so:
            self.is_so = True
            parts = self._path, self._lacks, error, self._consequence
            logger.error("%s cannot be %s: %s. %s", *parts)


class UnwrittenFiles:
    """Logs once for each file of a job that it cannot be written, and counts how often."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._files: dict[Path, FailingFile] = {}

    def note(self, path: Path, error: OSError, consequence: str) -> None:
        """Note that *path* could not be written.

        :param consequence: as for :class:`FailingFile`.
        """
        Stat.JOB_UNWRITTEN.inc(self._crawler)
        file = self._files.setdefault(path, FailingFile(path, "written", consequence))
        file.note(error.strerror or error)
