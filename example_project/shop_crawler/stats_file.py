"""Writes the stats of a crawl to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    # typing.Self requires Python 3.11
    from typing_extensions import Self


class StatsFile:
    """Extension: the final stats, as JSON, in the file that ``STATS_FILE`` names."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        """Write to *path* when the engine has stopped: no figure changes after that."""
        self._crawler = crawler
        self._path = path
        crawler.signals.connect(self._write, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, where ``STATS_FILE`` is set."""
        path = crawler.settings.get("STATS_FILE")
        if not path:
            raise NotConfigured
        return cls(crawler, Path(path))

    def _write(self) -> None:
        stats = self._crawler.stats.get_stats()
        self._path.write_text(json.dumps(stats, default=str, indent=2), encoding="utf-8")
