"""Fetches pages once more in whose place a site showed a wall for a while, such as a captcha."""

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
"""A content may be a wall if so many pages show it that no rule merges."""
_MORE_PAGES = 1.1
"""For a spider that gets more requests whenever it is idle: walls are looked for again once it has
so many times as many pages."""


class Walls:
    """Lets through other URLs of the pages that were behind a wall when they were fetched.

    With a status of 200 the callback took the wall (a captcha, "slow down", a log-in form) for the
    page, and the other URLs of the page were dropped as duplicates. So when the spider is idle, one
    of these is let through for each content that several pages show. If that brings something else,
    the wall is gone, and one URL of each of the other pages is let through. If it brings the same,
    as a log-in form that stays, nothing more is fetched.

    :param variants: the dropped variants of pages that the spider has.
    :param contents: what these pages showed.
    :param budget: bounds how many contents are tried; the one that most pages show always is.
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
        # By the look of a wall: the page that was asked for once more.
        self._asked: dict[int, bytes] = {}
        self._next = 1
        """The number of pages from which on walls are looked for again."""
        self._is_told_soon = False
        """Whether a request was let through whose outcome is to be looked at."""
        crawler.signals.connect(self.spider_idle, signals.spider_idle)

    def spider_idle(self) -> None:
        """Ask once more for pages that may have been behind a wall."""
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
        """Return the oldest drop of each page by the look of that; the most common look first."""
        found: dict[int, dict[bytes, Drop]] = {}
        for drop in self._variants.drops:
            content = None if drop.is_skipped else self._contents.get(drop.fingerprint)
            if content:
                found.setdefault(_look_of(content), {}).setdefault(drop.fingerprint, drop)
        return dict(sorted(found.items(), key=lambda each: -len(each[1])))

    def _is_over(self, look: int, groups: Mapping[int, Sized]) -> bool | None:
        """Tell whether the page that was asked for is no longer behind a wall; None if unknown."""
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
    """Return a hash of the title and of the lines without their numbers: the same for each wall.

    A wall may show a number that changes, such as one of the request. Pages that differ in numbers
    alone have them in their titles too. Of a long page, of which not all lines are known, the look
    is the digest: a wall is short.
    """
    lines, limit = sampled_lines(content)
    is_whole = limit == UNBOUNDED
    return hash((content.title, frozenset(lines)) if is_whole else content.digest)
