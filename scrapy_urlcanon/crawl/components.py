"""The components of the plugin that Scrapy constructs, and their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.crawl.callbackmiddleware import UrlCanonCallbackMiddleware
from scrapy_urlcanon.crawl.downloadermiddleware import UrlCanonDownloaderMiddleware
from scrapy_urlcanon.crawl.recovery.failed_downloads import UrlCanonFailureMiddleware
from scrapy_urlcanon.crawl.spidermiddleware import UrlCanonSpiderMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_LAST = 1_000_000


def add_middlewares(settings: BaseSettings) -> None:
    """Put the middlewares in their places, but for those that *settings* have put elsewhere."""
    put = settings.setdefault_in_component_priority_dict
    # Closest to the engine: it sees responses and exceptions after the redirect and retry
    # middlewares have decided, and requests before another one drops them.
    put("DOWNLOADER_MIDDLEWARES", UrlCanonDownloaderMiddleware, 40)
    # Closest to the network.
    put("DOWNLOADER_MIDDLEWARES", UrlCanonFailureMiddleware, _LAST)
    # Closest to the engine: it sees the URLs as the other middlewares left them.
    put("SPIDER_MIDDLEWARES", UrlCanonSpiderMiddleware, 20)
    # Closest to the spider.
    put("SPIDER_MIDDLEWARES", UrlCanonCallbackMiddleware, _LAST)
