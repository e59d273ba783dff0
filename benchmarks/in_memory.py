"""Crawls without a network, so that only the CPU of a crawl is measured."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers.base import BaseDownloadHandler


def process_of(
    site: type[BaseDownloadHandler], pages: int, settings: dict[str, Any]
) -> CrawlerProcess:
    """Return a process that crawls *pages* pages, which *site* makes, and logs nothing.

    With 0 pages the spider has to end by itself.
    """
    logging.disable(logging.WARNING)
    return CrawlerProcess(
        {
            **settings,
            "CLOSESPIDER_PAGECOUNT": pages,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_HANDLERS": {"http": site},
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
        },
        install_root_handler=False,
    )
