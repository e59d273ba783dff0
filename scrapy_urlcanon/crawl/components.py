"""Registers the plugin's components in Scrapy's settings, each at its place."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_urlcanon.crawl.callbackmiddleware import UrlCanonCallbackMiddleware
from scrapy_urlcanon.crawl.downloadermiddleware import UrlCanonDownloaderMiddleware
from scrapy_urlcanon.crawl.recovery.failed_downloads import UrlCanonFailureMiddleware
from scrapy_urlcanon.crawl.scheduling.engine import is_local, is_run
from scrapy_urlcanon.crawl.settings import SCRAPY, name_of, value_of
from scrapy_urlcanon.crawl.spidermiddleware import UrlCanonSpiderMiddleware
from scrapy_urlcanon.exceptions import ConfigurationError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

REPORT = "scrapy_urlcanon.report.writer.ReportWriter"
"""By its path: the report imports the crawl, not the other way round."""
ORDER = "scrapy_urlcanon.crawl.order.queue.NoveltyPriorityQueue"
_LAST = sys.maxsize
"""After all components of the project, whatever their numbers."""
_PLACES: Mapping[str, Mapping[type, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        # Nearest to the engine: it sees responses and exceptions after the redirect and retry
        # middlewares, and requests before any other middleware can drop them.
        UrlCanonDownloaderMiddleware: 40,
        # Nearest to the network.
        UrlCanonFailureMiddleware: _LAST,
    },
    "SPIDER_MIDDLEWARES": {
        # Nearest to the engine: it sees the URLs as the other middlewares left them.
        UrlCanonSpiderMiddleware: 20,
        # Nearest to the spider.
        UrlCanonCallbackMiddleware: _LAST,
    },
}


def add_components(settings: BaseSettings) -> None:
    """Register what *settings* ask for, except components that they place themselves.

    :raises ConfigurationError: if the duplicate filter is not that of ``URLCANON_SEEN_SET``.
    """
    if value_of("seen_set", settings) != SCRAPY:
        _set_dupefilter(settings)
    if value_of("order", settings):
        settings.set("SCHEDULER_PRIORITY_QUEUE", ORDER, "addon")
        _leave_depth_out(settings)
    # Loaded only if needed, for a faster start: most crawls write no report.
    if settings.get(name_of("report")):
        settings.setdefault_in_component_priority_dict("EXTENSIONS", load_object(REPORT), 0)
    for name, components in _PLACES.items():
        for component, place in components.items():
            settings.setdefault_in_component_priority_dict(name, component, place)


def _leave_depth_out(settings: BaseSettings) -> None:
    """Let the depth of a page not change priorities: each depth would be a priority of its own.

    The order would then only choose among pages of one depth, as in a project that is set to crawl
    breadth first, and an endless chain of pages would have to be ended depth by depth.
    """
    name = "DEPTH_PRIORITY"
    is_at_work = settings["SCHEDULER_PRIORITY_QUEUE"] == ORDER and is_local(settings)
    if is_at_work and settings.getint(name):
        logger.warning(
            "%(name)s has no effect: %(setting)s decides which request comes next, whatever its "
            "depth. Priorities that the spider sets still hold.",
            {"name": name, "setting": name_of("order")},
        )
        settings.set(name, 0, settings.getpriority(name) or 0)


def _set_dupefilter(settings: BaseSettings) -> None:
    from scrapy_urlcanon.crawl.seen_sets.dupefilter import SeenSetDupeFilter  # noqa: PLC0415

    name = "DUPEFILTER_CLASS"
    priority = settings.getpriority(name)
    if priority == SETTINGS_PRIORITIES["command"]:
        # Only `scrapy shell` sets it, and drops nothing.
        return
    current = load_object(settings[name])
    if priority and not issubclass(current, SeenSetDupeFilter):
        message = (
            f"it has no effect with {name} = {global_object_name(current)!r}: set only one of them"
        )
        raise ConfigurationError([Problem(name_of("seen_set"), message)])
    settings.set(name, SeenSetDupeFilter, "addon")


def warn_of_absent(settings: BaseSettings) -> None:
    """Warn of our middlewares that *settings* turn off by ``None`` as their place."""
    for name, components in _PLACES.items():
        present = [*map(load_object, build_component_list(settings.getwithbase(name)))]
        for component in components:
            if not any(isinstance(each, type) and issubclass(each, component) for each in present):
                logger.warning(
                    "%(name)s has no %(component)s: without it the plugin does not see what "
                    "becomes of requests, so duplicates are fetched and pages may be missed. To "
                    "turn the plugin off, set URLCANON_ENABLED to False.",
                    {"name": name, "component": component.__name__},
                )


def leave_job_alone(crawler: Crawler) -> None:
    """Ignore ``JOBDIR`` if a page is only shown, as by ``scrapy shell``.

    That would take waiting requests out of the queue, for a spider that does nothing with them.
    """
    if not is_run(crawler):
        crawler.settings.set("JOBDIR", None, "cmdline")
