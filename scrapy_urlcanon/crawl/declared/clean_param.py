"""Adopts the ``Clean-param`` rules that sites declare in robots.txt: ``URLCANON_CLEAN_PARAM``."""

from __future__ import annotations

import logging
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import signals

from scrapy_urlcanon.crawl.answers import is_cut_short
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.crawl.software.authority import authority_of
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.redaction import shown_url
from scrapy_urlcanon.rule_files.clean_param import MOST_NAMES, read_clean_param

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.crawl.rule_changes import RuleChanges

logger = logging.getLogger(__name__)

_LARGEST_ROBOTS = 512_000
"""The most bytes of a robots.txt that are read. RFC 9309, section 2.5, requires at least 500
KiB."""
_MOST_RULES = 100_000
"""The most rules of all sites together; each takes some 600 bytes."""


class CleanParamRules:
    """Adopts the ``Clean-param`` lines of each robots.txt that the crawl fetches anyway.

    Off by default, since site owners declare too much. Names that select content on most sites are
    logged and not adopted.
    """

    def __init__(self, crawler: Crawler, rule_changes: RuleChanges) -> None:
        self._rule_changes = rule_changes
        self._crawler = crawler
        self._taken = 0
        # By host: the names that its ports declare, which are held against each of its URLs.
        self._names: Counter[str] = Counter()
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            logger.warning(
                "%(setting)s has no effect, since no robots.txt is fetched: ROBOTSTXT_OBEY is off.",
                {"setting": name_of("clean_param")},
            )
        crawler.signals.connect(self.response_received, signals.response_received)

    def response_received(self, response: Response, request: Request) -> None:
        """Read *response* if it is the robots.txt of a site."""
        # Wherever it was redirected to, it is the robots.txt of the site that was asked.
        url = next(iter(sources_of(request)), request.url)
        if response.status != HTTPStatus.OK or urlsplit(url).path != "/robots.txt":
            return
        robots = response.body[:_LARGEST_ROBOTS]
        if len(response.body) > _LARGEST_ROBOTS or is_cut_short(response):
            # The last line may be incomplete, and name another parameter or path.
            robots = robots.rpartition(b"\n")[0]
        declared = read_clean_param(robots)
        host, rule_sets = declared.rule_sets(url)
        names = sum(len(rule.params) for rule in declared.rules)
        is_too_much = self._names[host] and self._names[host] + names > MOST_NAMES
        if is_too_much or self._taken + len(declared.rules) > _MOST_RULES:
            Stat.CLEAN_PARAM_NOT_TAKEN.inc(self._crawler, len(declared.rules))
            return
        self._taken += len(declared.rules)
        Stat.CLEAN_PARAM_TAKEN.inc(self._crawler, len(declared.rules))
        Stat.CLEAN_PARAM_NOT_TAKEN.inc(self._crawler, len(declared.problems))
        for problem in declared.problems:
            logger.info(
                "Clean-param of %(url)s: %(problem)s", {"url": shown_url(url), "problem": problem}
            )
        if declared.rules:
            self._names[host] += names
            # Each port has a robots.txt of its own (RFC 9309, section 2.3).
            self._rule_changes.declare(host, f"Clean-param of {authority_of(url)}", rule_sets)
