"""Moves the states of pages by what becomes of their requests, and fetches other URLs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.http import Response

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.crawl.answers import is_success
from scrapy_urlcanon.crawl.origins import answered_by, as_sent, sources_of
from scrapy_urlcanon.crawl.own_requests import (
    AUDIT,
    RESCUE,
    REWRITTEN,
    SKIPPED,
    is_for_the_spider,
    is_unrecorded,
    mark_of,
    original_of,
    own_mark_of,
    with_url,
)
from scrapy_urlcanon.crawl.recovery.callbacks import at_work, begins_rescue, callback_of, rescue_of
from scrapy_urlcanon.crawl.recovery.deliveries import Deliveries
from scrapy_urlcanon.crawl.recovery.held_bytes import parts_of
from scrapy_urlcanon.crawl.recovery.idle import on_idle
from scrapy_urlcanon.crawl.recovery.least_depths import LeastDepths
from scrapy_urlcanon.crawl.recovery.page_states import CONTENT, GOT, LED, Event, Fate, State
from scrapy_urlcanon.crawl.recovery.page_urls import PageUrls
from scrapy_urlcanon.crawl.recovery.pages_asked_for import PagesAskedFor
from scrapy_urlcanon.crawl.recovery.passed_on import PassedOn
from scrapy_urlcanon.crawl.scheduling.engine import scheduler_of
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen, takes_note_of
from scrapy_urlcanon.crawl.settings import DELTAFETCH
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping

    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.crawl.stats import CrawlStats

_LOOKED_AT: Final = 100
"""How many responses are looked at, whether the spider is done with them, when a request is sent or
dropped. Where pipelines take long there are thousands."""


class PageRequests:
    """Hears what becomes of each request, and moves the state of its page (:class:`.PageLives`).

    A page is known by the fingerprint that its requests share; retries and redirects of a request
    are about its page too. If a request brings its callback nothing, one dropped variant after
    another takes its place, with its own callback and meta, until one brings the page.

    :param is_whole: whether all requests that the duplicate filter recorded are of this run and
        process, so that it is known here what became of each.
    :param make_lives: makes the :class:`.PageLives`.
    """

    def __init__(
        self,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        settings: CrawlSettings,
        stats: CrawlStats,
        *,
        is_whole: bool,
        make_lives: Callable[..., PageLives[Request]],
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._settings = settings
        self._stats = stats
        self._is_whole = is_whole
        self._lives = make_lives(
            self._fetch,
            max_pages=settings.remembered_pages,
            max_waiting=settings.rescue_max_pending,
            max_bytes=settings.pending_max_bytes,
            parts=parts_of,
        )
        self.pages = PagesAskedFor(fingerprints, crawler.settings)
        """Which pages each request is about."""
        self._deliveries = Deliveries(self._callback)
        self._no_successes: WeakSet[Request] = WeakSet()
        self.passed_on = PassedOn(
            fingerprints,
            lambda page, callback, depth: self.restore(page, callback, Event.GOT, depth),
        )
        """What audits passed on to the spider."""
        self._refused: Request | None = None
        self._urls = PageUrls(fingerprints)
        self._depths = LeastDepths(
            settings.remembered_pages, is_limited=bool(crawler.settings.getint("DEPTH_LIMIT"))
        )
        self._is_fetching = False
        self.on_had: list[Callable[[Request], None]] = []
        """Are called with each request whose callback got content, is done and did not raise."""
        self.on_raised: list[Callable[[Response], None]] = []
        """Are called with each response whose callback raised, or asks for its page again."""
        self.on_asked: list[Callable[[bytes, str, tuple[bytes, str]], object]] = []
        """Are called with a page, the callback that asks for it by a second step, and that step."""
        self.on_renamed: list[Callable[[Mapping[bytes, bytes]], None]] = []
        """Are called with the old fingerprints of pages, each with the new one."""
        crawler.signals.connect(self.raised, signals.spider_error)
        on_idle(crawler, self.spider_idle)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    # What is known of a page.

    def is_deeper(self, page: bytes, request: Request) -> bool:
        """Tell whether the depth limit may cut off links of *page*, but not those of *request*."""
        depth = self._depths.of(page)
        return depth is not None and request.meta.get("depth", 0) < depth

    def is_had(self, page: bytes) -> bool:
        """Tell whether any callback has had *page*, or what it led to."""
        return self._lives.is_had(page)

    def is_had_for(self, request: Request, page: bytes) -> bool:
        """Tell whether *page* is had, and is not to come to the callback of *request* as well."""
        return self._lives.is_had(page) and not self._lives.awaits(page, self._callback(request))

    def as_asked_for(self, request: Request, response: Response) -> Request:
        """Return *request* as it was before a middleware sent it to a service that fetches pages.

        Such a middleware gives *response* the URL of the page.
        """
        url = response.url
        if url == request.url or domain_of(url) == domain_of(request.url):
            return request
        state = self._state_for(self._callback(request))
        return with_url(self.pages.as_sent_to(url, request, state), url)

    def is_got(self, page: bytes) -> bool:
        """Tell whether any callback has had content of *page* itself."""
        return self._lives.is_got(page)

    def takes_its_place(self, request: Request, page: bytes) -> bool:
        """Tell whether *request*, a rescue, stands for *page* now: the URL before it has failed."""

        def is_stood_for(callback: Hashable) -> bool:
            state = self._lives.state(page, callback)
            if state is State.EXPECTED:
                return callback != self._callback(request)
            return state in GOT and self._urls.got_by(page, callback) is None

        return not any(map(is_stood_for, self._lives.callbacks))

    def got_by(self, request: Request, page: bytes) -> str | None:
        """Return by which URL the callback of *request* got *page*; None if by the first one."""
        return self._urls.got_by(page, self._callback(request))

    def is_for_one_callback(self, request: Request, other: Request) -> bool:
        """Tell whether both requests are for the same callback."""
        return self._callback(request) == self._callback(other)

    def is_missed(self, page: bytes) -> bool:
        """Tell whether every request for *page* ended and brought nothing to anybody."""
        return self._lives.is_missed(page)

    def rename(self, names: Mapping[bytes, bytes], *, besides: Container[str] = ()) -> None:
        """Know pages by new fingerprints, *names*; *besides* are URLs that are requested next."""
        # Before anything is fetched for two pages that are one from now on.
        for listener in self.on_renamed:
            listener(names)
        self.pages.rename(names)
        self._deliveries.rename(names)
        for page, new in names.items():
            self._lives.rename(page, new)
            self._depths.rename(page, new)
            for callback in self._lives.callbacks:
                self._urls.rename(page, new, callback)
        for page, callback, its_page, request in self._urls.take_apart():
            self._deliveries.split(page, callback, its_page)
            for variant in self._lives.split(page, callback, its_page):
                self.offer(variant)
            if not request.dont_filter and request.url not in besides:
                record_as_seen(self._crawler, request)

    # What happens to it.

    def sent(self, request: Request) -> None:
        """Note that *request* goes to the downloader."""
        self._sweep()
        page = self._fingerprints.page(request) if is_for_the_spider(request) else None
        if page is None:
            return
        self.pages.note(request, page)
        self._depths.note(page, request.meta.get("depth", 0))
        if begins_rescue(request):
            self._stats.inc(Stat.RESCUE_SENT)
        callback = self._callback(request)
        is_rewritten = own_mark_of(request, REWRITTEN) is not None
        is_noted = takes_note_of(self._crawler, request)
        is_recorded = is_noted or is_rewritten or self._settings.record_start
        self._lives.sent(page, callback, is_recorded=is_recorded)
        if is_rewritten and self._settings.rescue:
            # The URL that the page linked waits, in case the canonical URL brings nothing.
            original = original_of(request)
            self._lives.dropped(page, callback, as_sent(original.url), original)

    def failed(self, request: Request) -> None:
        """Note that *request* failed for good."""
        if request not in self.pages:
            # Another middleware refused it before it came to ours.
            self.sent(request)
        if is_for_the_spider(request):
            self._end(request)

    def scraped(self, response: Response) -> None:
        """Note that *response* is passed to the spider middlewares."""
        request = response.request
        if request is None:
            return
        if mark_of(request, AUDIT):
            self.passed_on.note(request)
        elif is_for_the_spider(request):
            self.passed_on.forget(request)
            if request not in self.pages:
                # Another middleware answered it before it came to ours.
                self.sent(request)
            asked = self.as_asked_for(request, response)
            if asked is not request:
                self.pages.note_elsewhere(request, asked)
            self._deliveries.expect(request)

    def delivered(self, response: Response) -> None:
        """Note that a callback gets *response*, and with it the pages that it shows."""
        request = response.request
        if request is None or not is_for_the_spider(request):
            return
        if request in self.passed_on:
            if is_success(response):
                self._deliveries.note(request, ())
            return
        callback = self._callback(request)
        pages = self.pages.shown_by(response, request, self._state_for(callback))
        if pages is None:
            return
        if (page := self.pages.own(request)) and not pages[page]:
            self._no_successes.add(request)
        if not is_unrecorded(request):
            # For pages that it lacked alone: the depth of two that link each other would not grow.
            lacking = [page for page in pages if self._lives.state(page, callback) not in CONTENT]
            self._depths.lower(request, lacking)
        urls = (request.url, *sources_of(request))
        self._withdraw(request, urls, callback)
        self._urls.led(request, urls, pages, callback)
        new = self._bring(pages, callback)
        self._urls.brought(request, answered_by(request, response), page, pages, callback)
        self._deliveries.note(request, tuple(new))
        if any(map(pages.get, new)) and mark_of(request, RESCUE):
            self._stats.inc(Stat.RESCUED)

    def asked_again(self, request: Request, response: Response) -> None:
        """Note that the callback of *response* yields *request*, a second step to the same page.

        It may be a form. The callback has the page once this step has come too.
        """
        brought, to = response.request, self.pages.own(request)
        pages = brought and self._deliveries.pages_of(brought)
        if not brought or not pages or not to:
            return
        page, callback = self._fingerprints.page(brought, request.url), self._callback(brought)
        step = to, self._callback(request)
        if not page or page not in pages:
            return
        is_own = step == (page, callback)
        for asked in () if is_own else self.on_asked:
            asked(page, callback, step)
        if self._lives.asked_again(page, callback, step):
            if is_own:
                self._deliveries.note(brought, tuple(each for each in pages if each != page))
                self._no_successes.add(brought)
            for listener in self.on_raised:
                listener(response)

    def dropped(self, drop: Drop) -> None:
        """Have the dropped request wait for its page, or fetched if that is missed."""
        request = drop.request
        self._sweep()
        callback = self._callback(request)
        if drop.is_declared:
            # The page that declared it stands for it, and the spider has that.
            pages = self.pages.redirected_to(request)
            for source in self._bring(pages, callback):
                if pages[source]:
                    self._lives.confirmed(source, callback)
            return
        if own_mark_of(request, RESCUE, AUDIT):
            self._refused = request
            return
        page = self._fingerprints.page(request)
        if page is None:
            return
        variant, fate = original_of(request), None
        # A repeated request need not wait: it would bring what the first one brings. But if it was
        # rewritten, or is what a rescue for another callback led to, it is no repetition.
        is_repeat = drop.asks_the_same and drop.is_asked and not self._settings.changes_urls
        if (
            variant is not request
            or not is_repeat
            or self.pages.is_of_rescue(request, self._state_for(callback))
        ):
            fate = self.offer(variant, page)
        self._withdraw(request, sources_of(request), callback)
        if variant is request and fate is Fate.FETCHED:
            # What was redirected to it is noted when it is sent, and is not to count twice.
            return
        redirected = self.pages.redirected_to(request).items()
        sources = {source: is_same and drop.is_exact for source, is_same in redirected}
        self._urls.led(request, sources_of(request), sources, callback)
        self._lives.redirected(page, callback, sources)

    def offer(self, variant: Request, page: bytes | None = None) -> Fate | None:
        """Have *variant* wait for its *page*, or fetched if that is missed; return which."""
        mark = mark_of(variant, SKIPPED)
        page = page or self._fingerprints.page(variant, mark["place"] if mark else None)
        if page is None:
            return None
        callback, url = self._callback(variant), as_sent(variant.url)
        is_less_deep = self._depths.note(page, variant.meta.get("depth", 0))
        if is_less_deep and self._lives.is_had(page):
            # The limit cut off links that are within it from here: the page was had in part alone.
            self._lives.cut_off(page, callback)
        elif self._urls.has_led(page, callback, url):
            # This URL has led elsewhere before: it would be counted as a second one that did.
            return Fate.FORGOTTEN
        return self._lives.dropped(page, callback, url, variant)

    def offer_original(self, request: Request) -> None:
        """Have the URL that *request* was rewritten from wait for its page, as :meth:`sent` did."""
        if mark_of(request, REWRITTEN) and self._settings.rescue:
            self.offer(original_of(request), self._fingerprints.page(request))

    def got_before(self, request: Request) -> None:
        """Note that an earlier run has got the page of *request*, and so what redirected there."""
        callback = self._callback(request)
        for page in self._bring(self.pages.of(request), callback):
            self._lives.confirmed(page, callback)

    def is_delivered(self, request: Request) -> bool:
        """Tell whether the callback is at work on content that *request* brought."""
        return self._deliveries.pages_of(request) is not None

    def got_no_success(self, request: Request) -> bool:
        """Tell whether *request* did not bring its whole page, or a second step has to bring it."""
        return request in self._no_successes

    def restore(self, page: bytes, callback: str, event: Event, depth: int | None) -> None:
        """Note what became of *page* for *callback* in an earlier run of the job.

        :param event: what the request for it came to: ``GOT``, ``LED`` or ``ENDED``.
        :param depth: that at which it was asked for, if it is known.
        """
        lives = self._lives
        if depth is not None:
            self._depths.note(page, depth)
        lives.sent(page, callback)
        if lives.is_asking(page, callback):
            # Its second steps say whether it has the page.
            lives.confirmed(page, callback)
            return
        moves = {Event.GOT: lives.got, Event.LED: lives.led, Event.ENDED: lives.ended}
        moves[event](page, callback)
        lives.confirmed(page, callback)

    def restore_request(self, page: bytes, callback: str, request: Request) -> None:
        """Note that *callback* got *page* by *request*, not by its first URL, in such a run."""
        self._urls.know(page, callback, request)

    def restore_step(self, page: bytes, callback: str, step: tuple[bytes, str]) -> None:
        """Note that *callback* asked for *page* by *step* in an earlier run of the job."""
        self._lives.sent(page, callback)
        self._lives.got(page, callback)
        self._lives.asked_again(page, callback, step)

    @property
    def waiting(self) -> Iterator[Request]:
        """The dropped requests that wait, in the order in which they came."""
        return self._lives.waiting

    def raised(self, response: object) -> None:
        """Take back that the callback had its pages: it raised, perhaps halfway."""
        if not isinstance(response, Response):
            return
        request = response.request
        if request and self.is_delivered(request):
            for page in self._deliveries.take(request):
                self._lives.raised(page, self._callback(request))
            for listener in self.on_raised:
                listener(response)

    def spider_idle(self) -> None:
        """End requests that vanished without a signal, so that what waits for them is fetched."""
        sends = self._lives.sends
        self._sweep(len(self._deliveries))
        self._lives.end_all(sends)
        # Unless another receiver of this signal has scheduled something.
        if self._is_whole and not scheduler_of(self._crawler).has_pending_requests():
            self._lives.release()

    def spider_closed(self) -> None:
        """Complete the stats."""
        if self._lives.given_up:
            self._stats.set(Stat.RESCUE_GIVEN_UP, self._lives.given_up)

    def _sweep(self, count: int = _LOOKED_AT) -> None:
        """Confirm the pages of responses that the spider is done with; end those that brought none.

        :param count: how many responses are looked at; the others are when this is called again.
        """
        # Not while a variant is being scheduled, which may be dropped, and so end up here.
        if not self._deliveries or self._is_fetching:
            return
        for request, pages in self._deliveries.take_done(at_work(self._crawler), count):
            if pages is None:
                self._end(request)
                continue
            for page in pages:
                self._lives.confirmed(page, self._callback(request))
            self.passed_on.had(request, self._callback(request))
            for listener in self.on_had:
                listener(request)

    def _end(self, request: Request) -> None:
        callback = self._callback(request)
        self._withdraw(request, (request.url, *sources_of(request)), callback)
        for page in {*self.pages.of(request), *self.pages.asked_elsewhere(request)}:
            self._lives.ended(page, callback)

    def _withdraw(self, request: Request, urls: Iterable[str], callback: str) -> None:
        """Have no request for *urls*, those of *request*, wait: its outcome is known."""
        for url in urls:
            page = self._fingerprints.page(request, url)
            if page:
                self._lives.withdraw(page, callback, as_sent(url))

    def _bring(self, pages: Mapping[bytes, bool], callback: str) -> list[bytes]:
        """Note that *callback* gets content for *pages*; return those that it had not had.

        :param pages: each with whether it is content of the page itself, as far as can be told.
        """
        lives = self._lives
        led = {page for page in pages if lives.state(page, callback) in LED}
        if led:
            # It may still be at work on what another request led to: that does not count now.
            self._deliveries.take_back(led, callback)
        return [
            page
            for page, is_own in pages.items()
            if (lives.got if is_own else lives.led)(page, callback)
        ]

    def _state_for(self, callback: str) -> Callable[[bytes], State]:
        return lambda page: self._lives.state(page, callback)

    def _callback(self, request: Request) -> str:
        return callback_of(request, self._crawler.spider)

    def _fetch(self, page: bytes, variant: Request) -> bool:
        """Schedule *variant*, and tell whether the scheduler took it."""
        copy = rescue_of(variant, self._crawler.spider)
        if self._crawler.settings.getbool(DELTAFETCH):
            # It stores pages by the fingerprint of the request, and a rescue has one of its own.
            copy.meta.setdefault("deltafetch_key", page)
        self._is_fetching = True
        try:
            self._crawler.engine.crawl(copy)
        finally:
            self._is_fetching = False
        if self._refused is copy:
            # The duplicate filter dropped it: it was sent before.
            self._refused = None
            return False
        return True
