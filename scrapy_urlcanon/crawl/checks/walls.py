"""Pages in whose place a site showed something else for a while, such as a captcha."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.own_requests import RELEASED, marked
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.pages.same_page import UNBOUNDED, sampled_lines
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.checks.dropped_variants import DroppedVariants
    from scrapy_urlcanon.crawl.checks.fetch_budget import FetchBudget
    from scrapy_urlcanon.crawl.checks.page_contents import PageContents
    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.stats import CrawlStats
    from scrapy_urlcanon.pages.same_page import PageDigest

logger = logging.getLogger(__name__)

_SEVERAL = 2
"""So many pages, which the rules keep apart, show the same where it stands in their place."""
_MORE_PAGES = 1.1
"""After so many times as many pages it is looked at again, where a spider is fed as it idles."""


class Walls:
    """Lets through other URLs of pages that a site answered with something else for a while.

    A captcha, "slow down" or a form to log in with the status 200 is what the callback had of the
    page, and its other URLs were dropped for that. When there is nothing else to fetch one of these
    is let through for each content that several pages show. Where its page shows something else by
    now, one is for each of the others. Where it is as before, as a form to log in that stands there
    for good, that was all.

    :param variants: what was dropped of pages that the spider has.
    :param contents: what these showed.
    :param budget: bounds how many contents are looked at, after the one that most pages show.
    """

    def __init__(
        self,
        crawler: Crawler,
        variants: DroppedVariants,
        contents: PageContents,
        budget: FetchBudget,
        stats: CrawlStats,
    ) -> None:
        self._crawler = crawler
        self._variants = variants
        self._contents = contents
        self._budget = budget
        self._stats = stats
        # By what several pages show: the page of which another URL was let through.
        self._asked: dict[int, bytes] = {}
        self._next = 1
        """With how many pages it is looked at again."""
        self._is_told_soon = False
        """Whether anything was let through since it was last looked at."""
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    def spider_idle(self) -> None:
        """Let through what may show its page by now, and had nothing but a wall in its place."""
        if self._budget.pages < self._next and not self._is_told_soon:
            return
        self._next = int(self._budget.pages * _MORE_PAGES) + 1
        self._is_told_soon = False
        groups = self._groups()
        for look, drops in groups.items():
            is_over = self._is_over(look, groups)
            if is_over:
                logger.info(
                    "%(pages)s showed the same for a while, as behind a captcha: fetched under "
                    "another URL.",
                    {"pages": count_of(len(drops), "page")},
                    extra={"spider": self._crawler.spider},
                )
                for drop in drops.values():
                    self._let_through(drop)
            elif is_over is None and len(drops) >= _SEVERAL and self._is_affordable():
                page, drop = next(iter(drops.items()))
                self._asked[look] = page
                self._budget.begin()
                self._budget.end(1)
                self._let_through(drop)

    def _groups(self) -> dict[int, dict[bytes, Drop]]:
        """Return the oldest drop of each page, by what that showed; that of most pages first."""
        found: dict[int, dict[bytes, Drop]] = {}
        for drop in self._variants.drops:
            content = None if drop.is_skipped else self._contents.get(drop.fingerprint)
            if content:
                found.setdefault(_look_of(content), {}).setdefault(drop.fingerprint, drop)
        return dict(sorted(found.items(), key=lambda each: -len(each[1])))

    def _is_over(self, look: int, groups: Mapping[int, Sized]) -> bool | None:
        """Tell whether the page that was asked for shows no wall by now; None if that is open."""
        asked = self._asked.get(look)
        content = asked and self._contents.get(asked)
        if not content:
            return None
        now = _look_of(content)
        if now == look:
            return False
        is_another_wall = now in self._asked or len(groups.get(now, ())) >= _SEVERAL
        return None if is_another_wall else True

    def _is_affordable(self) -> bool:
        return not self._asked or self._budget.has_room(Need.LITTLE_KNOWN)

    def _let_through(self, drop: Drop) -> None:
        self._is_told_soon = True
        self._variants.forget(drop.request)
        self._stats.inc(Stat.AUDIT_ASKED_AGAIN)
        self._crawler.engine.crawl(marked(drop.request, RELEASED))


def _look_of(content: PageDigest) -> int:
    """Return what is the same of all pages behind a wall, which may say a number of its own.

    As that of the request. A wall is short, and pages that differ in nothing but numbers are so in
    their titles. Of a longer page not all lines are known.
    """
    lines, limit = sampled_lines(content)
    is_whole = limit == UNBOUNDED
    return hash((content.title, frozenset(lines)) if is_whole else content.digest)
