"""Follows what an ordered crawl brings: reports it, ends the crawl, and stores what was learned."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from attrs import frozen
from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import default_settings
from scrapy.utils.python import global_object_name

from scrapy_urlcanon.crawl.bounded_mapping import BoundedMapping
from scrapy_urlcanon.crawl.order.left import LeftRequests
from scrapy_urlcanon.crawl.order.order import Order, Outcome
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import AUDIT, RESCUE, mark_of, retries_of
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of, slot_of, under_way
from scrapy_urlcanon.crawl.settings import name_of
from scrapy_urlcanon.crawl.stats import NO_NEWS, Stat
from scrapy_urlcanon.files import fill
from scrapy_urlcanon.novelty.kinds import Kinds, Trap
from scrapy_urlcanon.novelty.progress import Curve, Deciles, Ending, words_after
from scrapy_urlcanon.novelty.saved import pack, unpack
from scrapy_urlcanon.wording import count_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from scrapy_urlcanon.crawl.failing_files import UnwrittenFiles
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.settings import CrawlSettings

logger = logging.getLogger(__name__)

FILE: Final = "urlcanon.order"
_WARN_FETCHES, _WARN_SHARE = 50, 0.25
_EVERY: Final = 100
_SAVE_SECONDS: Final = 30.0
_SAVE_COST: Final = 200
"""Saving takes at most this fraction of the time: one in 200."""
_STAT_TRAPS: Final = 20
_KINDS: Final = "kinds"
"""The key, beside those of the order, under which the tallies of kinds of URLs are saved."""
_TRAP: Final = (
    "%(fetches)s of %(all)d for URLs like %(kind)s brought next to nothing new. They come last "
    "from now on."
)
_TRAP_AND_LINE: Final = (
    f"{_TRAP} If none of them is a page that you want (an article that a list had in full before "
    "brings nothing new either), this in %(setting)s would end them: %(line)s"
)


@frozen
class CrawlNews:
    """What an ordered crawl brought, for the report."""

    curve: tuple[tuple[int, int], ...]
    deciles: tuple[tuple[int, int, float, float], ...]
    traps: tuple[Trap, ...]
    left: dict[str, int]


class OrderedCrawl:
    """Builds the order of a crawl, measures how well it does, and ends the crawl when it is done.

    :param fingerprints: tells which requests are for one page, and which URL is canonical. None if
        Scrapy uses another fingerprinter, so that each URL is a page.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: CrawlSettings,
        unwritten: UnwrittenFiles,
        fingerprints: PageFingerprints | None,
        *,
        is_job: bool,
    ) -> None:
        self._crawler = crawler
        self._unwritten = unwritten
        are_named = crawler.settings.getbool("REFERER_ENABLED") and (
            crawler.settings["REFERRER_POLICY"] == default_settings.REFERRER_POLICY
        )
        self.order = Order(settings, self._note, self._is_under_way, are_named=are_named)
        self._kinds = Kinds()
        self._curve = Curve()
        self._deciles = Deciles()
        self._ending = Ending(settings.stop) if settings.stop else None
        self._of_redirect = crawler.settings.getint("REDIRECT_PRIORITY_ADJUST")
        self._of_retry = crawler.settings.getint("RETRY_PRIORITY_ADJUST")
        self._with_news = 0
        self._warned: set[str] = set()
        self._has_warned_of_use = False
        self._job = Path(crawler.settings["JOBDIR"], FILE) if is_job else None
        self._saved = (monotonic(), 0.0)
        name = getattr(crawler.spider or crawler.spidercls, "name", "")
        left = Path(fill(settings.left, name=name, time=datetime.now(timezone.utc)))
        self._left = LeftRequests(left, crawler.spider, adds=is_job)
        self._fingerprints = fingerprints
        # Pages of requests that were left: their variants are left too.
        self._left_pages: BoundedMapping[bytes, bool] | None = None
        self._max_left_pages = settings.remembered_pages
        self._has_warned_of_callback = False
        self._load()
        self.has_queue = False
        """Whether requests wait in the queue of this order."""
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.order.response_downloaded, signals.response_downloaded)
        crawler.signals.connect(self.spider_error, signals.spider_error)
        crawler.signals.connect(self.spider_idle, signals.spider_idle)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    @property
    def news(self) -> CrawlNews:
        """What the crawl has brought so far."""
        return CrawlNews(
            tuple(self._curve.points),
            tuple(self._deciles.rows()),
            tuple(self._kinds.traps()),
            dict(self._left.counts),
        )

    def own_priority(self, request: Request) -> int:
        """Return the priority that the spider gave *request*.

        Scrapy changes the priority of redirects and retries, though they belong to the same
        request. With a priority of their own they would form a lane with few fetches to learn from.
        """
        of_redirects = len(sources_of(request)) * self._of_redirect
        return request.priority - of_redirects - retries_of(request) * self._of_retry

    def draws(self, slot: str, priority: int) -> int:
        """Return how many requests of *slot* with this *priority* are to be drawn at random.

        :returns: 0 unless the end is being proved.
        """
        return self._ending.draws(slot, priority) if self._ending else 0

    def is_done(self, slot: str, priority: int) -> bool:
        """Tell whether the rest of *slot* with this *priority* is not worth fetching."""
        return self._ending is not None and self._ending.is_done(slot, priority)

    def is_left(self, request: Request) -> bool:
        """Tell whether *request* is a rescue for a page that was left.

        A later crawl takes up that page, and would fetch it a second time.
        """
        if not self._ending or not self._fingerprints or not mark_of(request, RESCUE):
            return False
        page_of = self._fingerprints.page
        if self._left_pages is None:
            # Made here, since few crawls need it. Earlier runs of the job may have left requests
            # too.
            self._left_pages = BoundedMapping(self._max_left_pages)
            for left in self._left.so_far():
                self._left_pages[page_of(left)] = True
        return page_of(request) in self._left_pages

    def leave(self, request: Request) -> bool:
        """Write *request* to the file of those not fetched; return whether that succeeded."""
        if mark_of(request, AUDIT):
            # A later crawl lacks the page that this was to be compared with.
            return True
        try:
            self._left.add(request)
        except ValueError as error:
            self._warn_of_foreign_callback(error)
            return False
        except OSError as error:
            self._unwritten.note(self._left.path, error, "The crawl goes on with what is left.")
            self._ending = None
            return False
        if self._left_pages is not None and self._fingerprints:
            self._left_pages[self._fingerprints.page(request)] = True
        return True

    def asks_again(self) -> None:
        """Make the engine ask for the next request soon, though there was none now."""
        # Otherwise it asks at the next response, or at its heartbeat after five seconds.
        slot = slot_of(self._crawler)
        if slot:
            slot.nextcall.schedule()

    def _canonical(self, url: str) -> str:
        return self._fingerprints.canonical(url) if self._fingerprints else url

    def is_left_in(self, path: Path) -> bool:
        """Tell whether *path* is the ``URLCANON_LEFT`` file of this crawl."""
        return path.resolve() == self._left.path.resolve()

    def makes_job_anew(self) -> None:
        """Note that all requests of this job are scheduled again, also those that were left."""
        self._left.begin_anew()

    def spider_opened(self, spider: Spider) -> None:
        """Warn if requests wait in another queue. Called when the scheduler is open."""
        self._left.opened()
        if not self.has_queue:
            name = "SCHEDULER_PRIORITY_QUEUE"
            logger.warning(
                "%(setting)s has no effect: the requests wait in %(queue)s of %(scheduler)s. Leave "
                "%(name)s and SCHEDULER unset, with scrapy_urlcanon.Addon in ADDONS.",
                {
                    "setting": name_of("order"),
                    "queue": _path_of(self._crawler.settings[name]),
                    "scheduler": _path_of(self._crawler.settings["SCHEDULER"]),
                    "name": name,
                },
                extra={"spider": spider},
            )

    def spider_error(self, response: Response | Failure) -> None:
        """Tell the order that a callback raised. Errbacks do not concern it."""
        if isinstance(response, Response):
            self.order.callback_failed(response)

    def spider_idle(self) -> None:
        """Close the crawl with a reason of its own if requests were left.

        :raises CloseSpider: in that case.
        """
        if self._left.counts and not scheduler_of(self._crawler).has_pending_requests():
            raise CloseSpider(NO_NEWS)

    def spider_closed(self, spider: Spider) -> None:
        """Set the stats, log the summary, and store what was learned."""
        self._left.closed()
        news, crawler = self.news, self._crawler
        Stat.NOVELTY_FETCHED.set(crawler, self._curve.fetches)
        Stat.NOVELTY_WORDS.set(crawler, self._curve.words)
        Stat.NOVELTY_WITH_NEWS.set(crawler, self._with_news)
        for number, fetches, expected, came in news.deciles:
            decile = str(number)
            Stat.NOVELTY_DECILE_FETCHES.set(crawler, fetches, decile=decile)
            Stat.NOVELTY_DECILE_EXPECTED.set(crawler, round(1000 * expected), decile=decile)
            Stat.NOVELTY_DECILE_OBSERVED.set(crawler, round(1000 * came), decile=decile)
        for trap in news.traps[:_STAT_TRAPS]:
            Stat.NOVELTY_TRAP.set(crawler, trap.fetches, kind=trap.kind)
        if news.left:
            Stat.NOVELTY_LEFT.set(crawler, sum(news.left.values()))
        self._save()
        if self.has_queue:
            logger.info("\n".join(self._lines(news)), extra={"spider": spider})

    def _lines(self, news: CrawlNews) -> list[str]:
        fetches = self._curve.fetches
        lines = [
            "What is new comes first",
            f"{fetches:10,}  fetches",
            f"{self._with_news:10,}    that brought enough to count as news",
            f"{self._curve.words:10,}  words in lines that no earlier page had",
        ]
        lines += [
            f"{words_after(share, news.curve):10,}    after {share} % of the fetches"
            for share in (10, 25, 50)
        ]
        if news.traps:
            lines.append("Kinds of URLs that brought next to nothing, by fetches")
            lines += [f"{trap.fetches:10,}  {trap.kind}" for trap in news.traps[:5]]
        if news.left:
            left = sum(news.left.values())
            lines.append(f"{left:10,}  not fetched, for URLCANON_TAKE_UP: {self._left.path}")
            most = sorted(news.left.items(), key=lambda item: -item[1])[:5]
            lines += [f"{count:10,}    {kind}" for kind, count in most]
        return lines

    def _is_under_way(self, request: Request) -> bool:
        return request in under_way(self._crawler)

    def _note(self, outcome: Outcome) -> None:
        taken, first, news = outcome.taken, outcome.first, outcome.news
        has_news = outcome.has_news
        self._with_news += has_news
        self._curve.add(news.new)
        self._deciles.add(taken.expected, outcome.came)
        url = self._canonical(taken.url)
        # Files whose text is not read are no trap, though they come last.
        note = partial(
            self._kinds.note,
            new=news.new,
            has_news=has_news or news.is_unread,
            is_shown=outcome.is_shown,
        )
        # A server that is out of order, or refuses to show what it usually shows, would end a crawl
        # with all of its pages left.
        says_something = outcome.is_shown or not (
            outcome.has_server_failed or self._kinds.are_shown(url)
        )
        note(url, found_on=self._canonical(taken.linked_by) if taken.linked_by else "")
        if first is not taken:
            # A rule for URLs that redirect to it would end these fetches too.
            note(self._canonical(first.url))
        if self._ending and says_something:
            self._ending.note(
                first.slot, first.priority, has_news=has_news, is_drawn=outcome.is_drawn
            )
            if taken.slot != first.slot:
                self._ending.note(taken.slot, taken.priority, has_news=has_news)
        if self._curve.fetches % _EVERY == 0:
            self._warn()
            moment, took = self._saved
            if monotonic() - moment > max(_SAVE_SECONDS, _SAVE_COST * took):
                self._save()

    def _warn(self) -> None:
        # Over all runs of a job.
        fetches = self._kinds.fetches
        for trap in self._kinds.traps(max(_WARN_FETCHES, int(fetches * _WARN_SHARE))):
            if trap.kind not in self._warned:
                self._warned.add(trap.kind)
                logger.warning(
                    _TRAP_AND_LINE if trap.setting else _TRAP,
                    {
                        "fetches": count_of(trap.fetches, "fetch", "fetches"),
                        "all": fetches,
                        "kind": trap.kind,
                        "setting": name_of("rules"),
                        "line": trap.setting,
                    },
                    extra={"spider": self._crawler.spider},
                )
        if self.order.is_of_no_use and not self._has_warned_of_use:
            self._has_warned_of_use = True
            logger.warning(
                "Every page is new, whatever its URL, as on a site that shows another text at each "
                "visit: while that is so, requests are fetched in breadth-first order.",
                extra={"spider": self._crawler.spider},
            )

    def _warn_of_foreign_callback(self, error: ValueError) -> None:
        if not self._has_warned_of_callback:
            self._has_warned_of_callback = True
            logger.warning(
                "A request that cannot be written for a later crawl is fetched, whatever is "
                "expected of it: %(error)s",
                {"error": error},
                extra={"spider": self._crawler.spider},
            )

    def _load(self) -> None:
        if self._job is None or not self._job.exists():
            return
        try:
            state = unpack(self._job.read_bytes())
            kinds = state.pop(_KINDS)
            self.order.restore(state)
            self._kinds.restore(kinds)
        except (OSError, ValueError, KeyError) as error:
            logger.warning(
                "%(path)s cannot be used: %(error)s. The crawl learns from scratch.",
                {"path": self._job, "error": error},
                extra={"spider": self._crawler.spider},
            )

    def _save(self) -> None:
        if self._job is None:
            return
        begun = monotonic()
        draft = self._job.with_suffix(".draft")
        try:
            draft.write_bytes(pack({**self.order.state(), _KINDS: self._kinds.state()}))
            draft.replace(self._job)
        except OSError as error:
            self._unwritten.note(self._job, error, "The crawl goes on, and learns anew if killed.")
        self._saved = monotonic(), monotonic() - begun


def _path_of(component: object) -> str:
    return component if isinstance(component, str) else global_object_name(component)
