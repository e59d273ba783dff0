"""Says what of a job cannot be written, as on a full disk."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy_urlcanon.crawl.stats import CrawlStats

logger = logging.getLogger(__name__)


class UnwrittenFiles:
    """Says once of each file that it cannot be written, and counts how often that was so."""

    def __init__(self, stats: CrawlStats) -> None:
        self._stats = stats
        self._said: set[Path] = set()

    def note(self, path: Path, error: OSError, consequence: str) -> None:
        """Note that something could not be written to *path*.

        :param consequence: what that means for the crawl, as a whole sentence.
        """
        self._stats.inc(Stat.JOB_UNWRITTEN)
        if path in self._said:
            return
        self._said.add(path)
        logger.error(
            "%(path)s cannot be written: %(error)s. %(consequence)s",
            {"path": path, "error": error.strerror or error, "consequence": consequence},
        )
