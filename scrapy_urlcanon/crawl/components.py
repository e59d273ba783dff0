"""The components of the plugin that Scrapy constructs, and their places."""

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
"""By its path, as in any setting: the report is built on the crawl, not the crawl on it."""
ORDER = "scrapy_urlcanon.crawl.order.queue.NoveltyPriorityQueue"
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


def add_components(settings: BaseSettings) -> None:
    """Put what *settings* call for in its place, but for what they have put elsewhere.

    :raises ConfigurationError: if the duplicate filter is not that of ``URLCANON_SEEN_SET``.
    """
    if value_of("seen_set", settings) != SCRAPY:
        _set_dupefilter(settings)
    if value_of("order", settings):
        settings.set("SCHEDULER_PRIORITY_QUEUE", ORDER, "addon")
        _leave_depth_out(settings)
    # Most crawls write no report, and every crawl would wait for the import.
    if settings.get(name_of("report")):
        settings.setdefault_in_component_priority_dict("EXTENSIONS", load_object(REPORT), 0)
    for name, components in _PLACES.items():
        for component, place in components.items():
            settings.setdefault_in_component_priority_dict(name, component, place)


def _leave_depth_out(settings: BaseSettings) -> None:
    """Have the depth of a page change no priority: each would be one of its own.

    The order would have nothing to choose but among pages of one depth, as where the settings of a
    project ask for a breadth-first crawl, and a chain without an end would end depth by depth.
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
        # Nobody set it but `scrapy shell`, which drops nothing.
        return
    current = load_object(settings[name])
    if priority and not issubclass(current, SeenSetDupeFilter):
        message = (
            f"it has no effect with {name} = {global_object_name(current)!r}: set only one of them"
        )
        raise ConfigurationError([Problem(name_of("seen_set"), message)])
    settings.set(name, SeenSetDupeFilter, "addon")


def warn_of_absent(settings: BaseSettings) -> None:
    """Say which of the middlewares *settings* have turned off, with None for a place."""
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
    """Have no job where a page is shown only, as by ``scrapy shell``.

    It would take what waits in ``JOBDIR`` out of the queue, for a spider that does nothing with it.
    """
    if not is_run(crawler):
        crawler.settings.set("JOBDIR", None, "cmdline")
