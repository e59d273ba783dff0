"""Fetches pages again for which the site showed a wall, such as a captcha, for a while."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from attrs import define, field

from scrapy_urlcanon.crawl.checks.fetch_budget import Need
from scrapy_urlcanon.crawl.own_requests import RELEASED, marked
from scrapy_urlcanon.crawl.scheduling.engine import on_idle
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
    from scrapy_urlcanon.pages.same_page import PageDigest

logger = logging.getLogger(__name__)

_SEVERAL = 2
"""How many pages must show the same content, without being merged, for it to count as a wall."""
_MORE_PAGES = 1.1
"""A spider that gets new requests whenever it is idle is idle often. Walls are searched again once
it has this many times as many pages as at the last search."""


@define(eq=False)
class Walls:
    """Lets other URLs of pages through that were fetched while the site showed a wall.

    With status 200 the callback takes the wall (a captcha, "slow down", a log-in form) for the
    page, and the other URLs of the page are dropped as duplicates. So when the spider is idle, each
    content that several pages show is tested: one dropped URL of one of these pages is fetched. If
    it shows something else, the wall is gone, and one URL of each of the other pages is let through
    too. If it shows the same, as a log-in form that stays does, nothing more is fetched.

    :param variants: the dropped variants of pages that the spider has.
    :param contents: what these pages showed.
    :param budget: limits how many contents are tested. The most common one always is.
    """

    _crawler: Crawler
    _variants: DroppedVariants
    _contents: PageContents
    _budget: FetchBudget
    # By the look of a wall: the page whose variant was fetched to test it.
    _asked: dict[int, bytes] = field(init=False, factory=dict)
    _next: int = field(init=False, default=1)
    """The number of pages at which walls are searched again."""
    _has_let_through: bool = field(init=False, default=False)
    """Whether a request was let through whose outcome has to be checked."""

    def __attrs_post_init__(self) -> None:
        on_idle(self._crawler, self.spider_idle, awaits_start=True)

    def spider_idle(self) -> None:
        """Test contents that may be walls, and let pages through whose wall is gone."""
        if self._budget.pages < self._next and not self._has_let_through:
            return
        self._next = int(self._budget.pages * _MORE_PAGES) + 1
        self._has_let_through = False
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
        """Return the oldest drop of each page, grouped by look, the most common look first."""
        found: dict[int, dict[bytes, Drop]] = {}
        for drop in self._variants.drops:
            content = None if drop.is_skipped else self._contents.get(drop.fingerprint)
            if content:
                found.setdefault(_look_of(content), {}).setdefault(drop.fingerprint, drop)
        return dict(sorted(found.items(), key=lambda each: -len(each[1])))

    def _is_over(self, look: int, groups: Mapping[int, Sized]) -> bool | None:
        """Tell whether the page that was tested shows something else now; None if unknown."""
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
        self._has_let_through = True
        self._variants.forget(drop.request)
        Stat.AUDIT_ASKED_AGAIN.inc(self._crawler)
        # What it shows is not what the first URL shows: that is asked for anew by audits.
        self._contents.lend(drop.fingerprint)
        self._crawler.engine.crawl(marked(drop.request, RELEASED, in_doubt=True))


def _look_of(content: PageDigest) -> int:
    """Return a hash of the title and the lines without numbers, the same for each copy of a wall.

    A wall may show a number that changes, such as a request id. Pages that differ only in numbers
    usually have these in their titles too. The look of a long page, whose lines are not all known,
    is its digest; a wall is short.
    """
    lines, limit = sampled_lines(content)
    is_whole = limit == UNBOUNDED
    return hash((content.title, frozenset(lines)) if is_whole else content.digest)
