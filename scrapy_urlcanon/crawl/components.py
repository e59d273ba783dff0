"""The components of the plugin that Scrapy constructs, and their places."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from scrapy_urlcanon.crawl.callbackmiddleware import UrlCanonCallbackMiddleware
from scrapy_urlcanon.crawl.crawl import is_run
from scrapy_urlcanon.crawl.downloadermiddleware import UrlCanonDownloaderMiddleware
from scrapy_urlcanon.crawl.recovery.failed_downloads import UrlCanonFailureMiddleware
from scrapy_urlcanon.crawl.spidermiddleware import UrlCanonSpiderMiddleware

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_LAST = sys.maxsize
"""Behind whatever number a project gives."""
_PLACES: Mapping[str, Mapping[type, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        # Closest to the engine: it sees responses and exceptions after the redirect and retry
        # middlewares have decided, and requests before another one drops them.
        UrlCanonDownloaderMiddleware: 40,
        # Closest to the network.
        UrlCanonFailureMiddleware: _LAST,
    },
    "SPIDER_MIDDLEWARES": {
        # Closest to the engine: it sees the URLs as the other middlewares left them.
        UrlCanonSpiderMiddleware: 20,
        # Closest to the spider.
        UrlCanonCallbackMiddleware: _LAST,
    },
}


def add_middlewares(settings: BaseSettings) -> None:
    """Put the middlewares in their places, but for those that *settings* have put elsewhere."""
    for name, components in _PLACES.items():
        for component, place in components.items():
            settings.setdefault_in_component_priority_dict(name, component, place)


def warn_of_absent(settings: BaseSettings) -> None:
    """Say which of the middlewares *settings* have turned off, with None for a place."""
    for name, components in _PLACES.items():
        present = [*map(load_object, build_component_list(settings.getwithbase(name)))]
        for component in components:
            if not any(isinstance(each, type) and issubclass(each, component) for each in present):
                logger.warning(
                    "%(name)s has no %(component)s: without it less is known of what becomes of "
                    "requests, so that duplicates are fetched, and pages may be missed. To turn "
                    "the plugin off set URLCANON_ENABLED to False.",
                    {"name": name, "component": component.__name__},
                )


def leave_job_alone(crawler: Crawler) -> None:
    """Have no job where a page is shown only, as by ``scrapy shell``, which has no spider yet.

    It would take what waits in ``JOBDIR`` out of the queue, for a spider that does nothing with it.
    """
    if crawler.spider is None or not is_run(crawler):
        crawler.settings.set("JOBDIR", None, "cmdline")
