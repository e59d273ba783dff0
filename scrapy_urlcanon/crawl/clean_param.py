"""Rules that the sites of a crawl declare: Clean-param in robots.txt."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import signals

from scrapy_urlcanon.crawl.state import CrawlState

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

CLEAN_PARAM_SETTING = "URLCANON_CLEAN_PARAM"

_OK = 200
_LARGEST_ROBOTS = 512_000
"""Bytes that are read; a crawler has to read 500 KiB (RFC 9309, section 2.5)."""


class DeclaredRules:
    """Takes over the ``Clean-param`` lines of each robots.txt that the crawl fetches anyway.

    Off by default, since owners declare too much. Names that select content on most sites
    are reported and not taken.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = CrawlState.of(crawler)
        if not crawler.settings.getbool(CLEAN_PARAM_SETTING):
            return
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            logger.warning(
                "%(setting)s has no effect, since no robots.txt is fetched: ROBOTSTXT_OBEY is off.",
                {"setting": CLEAN_PARAM_SETTING},
            )
        crawler.signals.connect(self.response_received, signals.response_received)

    def response_received(self, response: Response, request: Request) -> None:
        """Read *response* where it is the robots.txt of a site."""
        # Wherever a redirect leads, it is the robots.txt of the site that was asked.
        url = request.meta.get("redirect_urls", [request.url])[0]
        if response.status != _OK or urlsplit(url).path != "/robots.txt":
            return
        # Few crawls ask for it, and all would wait for the import.
        from scrapy_urlcanon.rule_files.clean_param import read_clean_param  # noqa: PLC0415

        declared = read_clean_param(response.body[:_LARGEST_ROBOTS])
        stats = self._crawler.stats
        stats.inc_value("urlcanon/clean_param/taken", len(declared.rules))
        stats.inc_value("urlcanon/clean_param/not_taken", len(declared.problems))
        for problem in declared.problems:
            logger.info("Clean-param of %(url)s: %(problem)s", {"url": url, "problem": problem})
        if declared.rules:
            self._state.declare(url, declared)
