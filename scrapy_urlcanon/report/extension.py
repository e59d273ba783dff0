"""The extension that the add-on turns on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_urlcanon.report.writer import ReportWriter


class ReportExtension:
    """Makes the report writer of a crawl that has a ``URLCANON_REPORT``.

    :raises NotConfigured: if it has none.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ReportWriter:
        """Return the report writer of *crawler*."""
        if not crawler.settings.get("URLCANON_REPORT"):
            raise NotConfigured
        # Most crawls write no report, and every crawl would wait for the import.
        from scrapy_urlcanon.report.writer import ReportWriter  # noqa: PLC0415

        return ReportWriter.from_crawler(crawler)
