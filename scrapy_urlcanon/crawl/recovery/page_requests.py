"""Updates the state of each page from what happens to its requests, and schedules rescues.

Our middlewares, the scheduler's drops and Scrapy's signals call it for each request and response.
"""

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
from scrapy_urlcanon.crawl.recovery.least_depths import LeastDepths
from scrapy_urlcanon.crawl.recovery.page_states import CONTENT, GOT, LED, Event, Fate, State
from scrapy_urlcanon.crawl.recovery.page_urls import PageUrls
from scrapy_urlcanon.crawl.recovery.pages_asked_for import PagesAskedFor
from scrapy_urlcanon.crawl.recovery.passed_on import PassedOn
from scrapy_urlcanon.crawl.scheduling.engine import on_idle, scheduler_of
from scrapy_urlcanon.crawl.scheduling.seen import record_as_seen, takes_note_of
from scrapy_urlcanon.crawl.settings import DELTAFETCH
from scrapy_urlcanon.crawl.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Mapping

    from scrapy.crawler import Crawler

    from scrapy_urlcanon.crawl.dropped.drop import Drop
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.recovery.page_lives import PageLives
    from scrapy_urlcanon.crawl.settings import CrawlSettings

_LOOKED_AT: Final = 100
"""How many delivered responses are checked for completion each time a request is sent or dropped. A
crawl with slow item pipelines has thousands at once."""


class PageRequests:
    """Follows each request from sending to callback and updates the state of its page.

    A page is known by the fingerprint that its requests share. Retries and redirects of a request
    count for its page too. If a request brings its callback nothing, dropped variants are fetched
    in its place, one after another and each with its own callback and meta, until one brings the
    page.

    :param is_whole: whether all requests that the duplicate filter recorded were made in this run
        and process, so that the outcome of each is known here.
    :param make_lives: makes the :class:`.PageLives`; called with its parameters.
    """

    def __init__(
        self,
        crawler: Crawler,
        fingerprints: PageFingerprints,
        settings: CrawlSettings,
        *,
        is_whole: bool,
        make_lives: Callable[..., PageLives[Request]],
    ) -> None:
        self._crawler = crawler
        self._fingerprints = fingerprints
        self._settings = settings
        self._is_whole = is_whole
        self.lives = make_lives(
            self._fetch,
            max_pages=settings.remembered_pages,
            max_waiting=settings.rescue_max_pending,
            max_bytes=settings.pending_max_bytes,
            parts=parts_of,
        )
        """The states of all pages."""
        self.pages = PagesAskedFor(fingerprints, crawler.settings, self._state)
        """The pages that each request is for."""
        self._deliveries = Deliveries(self._callback)
        self._no_successes: WeakSet[Request] = WeakSet()
        self.passed_on = PassedOn(
            fingerprints,
            lambda page, callback, depth: self.restore(page, callback, Event.GOT, depth),
        )
        """The pages that audits passed on to the spider."""
        self._refused: Request | None = None
        self.urls = PageUrls(fingerprints)
        """By which URL each callback got a page."""
        self._depths = LeastDepths(
            settings.remembered_pages, is_limited=bool(crawler.settings.getint("DEPTH_LIMIT"))
        )
        self._is_fetching = False
        self.on_had: list[Callable[[Request], None]] = []
        """Called with each request whose callback got content and returned without an exception."""
        self.on_raised: list[Callable[[Response], None]] = []
        """Called with each response whose callback, or an item of it, raised, and with each whose
        callback asks for its page again."""
        self.on_asked: list[Callable[[bytes, str, tuple[bytes, str]], object]] = []
        """Called with a page, the callback that asks for it by a second step, and that step."""
        self.on_renamed: list[Callable[[Mapping[bytes, bytes]], None]] = []
        """Called with a mapping from old fingerprints of pages to new ones."""
        for signal in (signals.spider_error, signals.item_error):
            crawler.signals.connect(self.raised, signal)
        on_idle(crawler, self.spider_idle)
        crawler.signals.connect(self.spider_closed, signals.spider_closed)

    # Queries.

    def is_deeper(self, page: bytes, request: Request) -> bool:
        """Tell whether *request* is at a smaller depth than *page* was requested at before."""
        depth = self._depths.of(page)
        return depth is not None and request.meta.get("depth", 0) < depth

    def is_had_for(self, request: Request, page: bytes) -> bool:
        """Tell whether *page* was had and the callback of *request* does not wait for it."""
        return self.lives.is_had(page) and not self.lives.awaits(page, self._callback(request))

    def as_asked_for(self, request: Request, response: Response) -> Request:
        """Return *request* as it was before a middleware sent it to a scraping service.

        Such a middleware gives *response* the URL of the page.
        """
        url = response.url
        if url == request.url or domain_of(url) == domain_of(request.url):
            return request
        return with_url(self.pages.as_sent_to(url, request), url)

    def takes_its_place(self, request: Request, page: bytes) -> bool:
        """Tell whether *request*, a rescue, is now the representative of *page*.

        It is if no callback got the page by its first URL, and no other callback expects it.
        """

        def is_stood_for(callback: Hashable) -> bool:
            state = self.lives.state(page, callback)
            if state is State.EXPECTED:
                return callback != self._callback(request)
            return state in GOT and self.urls.got_by(page, callback) is None

        return not any(map(is_stood_for, self.lives.callbacks))

    def got_by(self, request: Request, page: bytes) -> str | None:
        """Return the URL by which the callback of *request* got *page*; None for its first."""
        return self.urls.got_by(page, self._callback(request))

    def is_for_one_callback(self, request: Request, other: Request) -> bool:
        """Tell whether both requests have the same callback."""
        return self._callback(request) == self._callback(other)

    def rename(self, names: Mapping[bytes, bytes], *, besides: Container[str] = ()) -> None:
        """Replace the fingerprints of pages after the rules have changed.

        :param names: the new fingerprint for each old one.
        :param besides: URLs that are about to be requested, and so must not be recorded as seen.
        """
        # First, before anything is fetched for two pages that become one.
        for listener in self.on_renamed:
            listener(names)
        self.pages.rename(names)
        self._deliveries.rename(names)
        for page, new in names.items():
            self.lives.rename(page, new)
            self._depths.rename(page, new)
            for callback in self.lives.callbacks:
                self.urls.rename(page, new, callback)
        for page, callback, its_page, request in self.urls.take_apart():
            self._deliveries.split(page, callback, its_page)
            for variant in self.lives.split(page, callback, its_page):
                self.offer(variant)
            if not request.dont_filter and request.url not in besides:
                record_as_seen(self._crawler, request)

    # Events, roughly in the order in which they happen to a request.

    def sent(self, request: Request) -> None:
        """Note that *request* goes to the downloader."""
        self._sweep()
        if not is_for_the_spider(request):
            return
        page = self._fingerprints.page(request)
        self.pages.note(request, page)
        self._depths.note(page, request.meta.get("depth", 0))
        if begins_rescue(request):
            Stat.RESCUE_SENT.inc(self._crawler)
        callback = self._callback(request)
        is_rewritten = own_mark_of(request, REWRITTEN) is not None
        is_noted = takes_note_of(self._crawler, request)
        is_recorded = is_noted or is_rewritten or self._settings.record_start
        self.lives.sent(page, callback, is_recorded=is_recorded)
        if is_rewritten and self._settings.rescue:
            # The original URL waits, in case the canonical URL brings nothing.
            original = original_of(request)
            self.lives.dropped(page, callback, as_sent(original.url), original)

    def failed(self, request: Request) -> None:
        """Note that *request* failed for good, after all retries."""
        if request not in self.pages:
            # Another middleware refused it before it reached ours.
            self.sent(request)
        if is_for_the_spider(request):
            self._end(request)

    def scraped(self, response: Response) -> None:
        """Note that *response* goes to the spider middlewares."""
        request = response.request
        if request is None:
            return
        if mark_of(request, AUDIT):
            self.passed_on.note(request)
        elif is_for_the_spider(request):
            self.passed_on.forget(request)
            if request not in self.pages:
                # Another middleware answered it before it reached ours.
                self.sent(request)
            asked = self.as_asked_for(request, response)
            if asked is not request:
                self.pages.note_elsewhere(request, asked)
            self._deliveries.expect(request)

    def delivered(self, response: Response) -> None:
        """Note that a callback is given *response*, and with it content of its pages."""
        request = response.request
        if request is None or not is_for_the_spider(request):
            return
        if request in self.passed_on:
            if is_success(response):
                self._deliveries.note(request, ())
            return
        callback, pages = self._callback(request), self.pages.shown_by(response, request)
        if pages is None:
            return
        page = self.pages.own(request)
        if not pages[page]:
            self._no_successes.add(request)
        if not is_unrecorded(request):
            # Only for pages that it lacked: otherwise two pages that link each other would keep
            # resetting each other's depth and never reach the limit.
            lacking = [page for page in pages if self.lives.state(page, callback) not in CONTENT]
            self._depths.lower(request, lacking)
        urls = (request.url, *sources_of(request))
        self._withdraw(request, urls, callback)
        self.urls.led(request, urls, pages, callback)
        new = self._bring(pages, callback)
        self.urls.brought(request, answered_by(request, response), page, pages, callback)
        self._deliveries.note(request, tuple(new))
        if any(map(pages.get, new)) and mark_of(request, RESCUE):
            Stat.RESCUED.inc(self._crawler)

    def asked_again(self, request: Request, response: Response) -> None:
        """Note that the callback of *response* yields *request*, a second step for the same page.

        It may be a form to send. The callback has the page only when that has come too.
        """
        brought, to = response.request, self.pages.own(request)
        pages = brought and self._deliveries.pages_of(brought)
        if not brought or not pages:
            return
        page, callback = self._fingerprints.page(brought, request.url), self._callback(brought)
        step = to, self._callback(request)
        if not page or page not in pages:
            return
        is_own = step == (page, callback)
        for asked in () if is_own else self.on_asked:
            asked(page, callback, step)
        if self.lives.asked_again(page, callback, step):
            if is_own:
                self._deliveries.note(brought, tuple(each for each in pages if each != page))
                self._no_successes.add(brought)
            for listener in self.on_raised:
                listener(response)

    def dropped(self, drop: Drop) -> None:
        """Keep the dropped request until its page is had, or fetch it if the page is missed."""
        request = drop.request
        self._sweep()
        callback = self._callback(request)
        if drop.is_declared:
            # The page that declared this URL as canonical takes its place: the spider had that.
            pages = self.pages.redirected_to(request)
            for source in self._bring(pages, callback):
                if pages[source]:
                    self.lives.confirmed(source, callback)
            return
        if own_mark_of(request, RESCUE, AUDIT):
            self._refused = request
            return
        page = self._fingerprints.page(request)
        variant, fate = original_of(request), None
        # An exact repetition need not wait: it would bring what the first request brings. A
        # rewritten request, or one that a rescue for another callback led to, is no repetition.
        is_repeat = drop.asks_the_same and drop.is_asked and not self._settings.changes_urls
        if variant is not request or not is_repeat or self.pages.is_of_rescue(request):
            fate = self.offer(variant, page)
        self._withdraw(request, sources_of(request), callback)
        if variant is request and fate is Fate.FETCHED:
            # The pages redirected to it are noted when it is sent, and must not count twice.
            return
        redirected = self.pages.redirected_to(request).items()
        sources = {source: is_same and drop.is_exact for source, is_same in redirected}
        self.urls.led(request, sources_of(request), sources, callback)
        self.lives.redirected(page, callback, sources)

    def offer(self, variant: Request, page: bytes | None = None) -> Fate | None:
        """Keep *variant* until its *page* is had, or fetch it if that is missed."""
        mark = mark_of(variant, SKIPPED)
        page = page or self._fingerprints.page(variant, mark["place"] if mark else None)
        if page is None:
            return None
        callback, url = self._callback(variant), as_sent(variant.url)
        is_less_deep = self._depths.note(page, variant.meta.get("depth", 0))
        if is_less_deep and self.lives.is_had(page):
            # It was had at a greater depth, where the limit cut off links that it allows here.
            self.lives.cut_off(page, callback)
        elif self.urls.has_led(page, callback, url):
            # Fetched again, this URL would count as the second URL that leads elsewhere.
            return Fate.FORGOTTEN
        return self.lives.dropped(page, callback, url, variant)

    def ask_anew(self, drop: Drop) -> bool:
        """Fetch the dropped request if the first URL of its page gave an error in place of it.

        The callback, which handles errors, had two of them, and a wrong rule may have merged these.

        :return: whether the request is fetched, or waits for another one that is.
        """
        request = drop.request
        page, callback = self._fingerprints.page(request), self._callback(request)
        if not self.urls.has_led(page, callback, drop.first):
            return False
        self.lives.cut_off(page, callback)
        fate = self.lives.dropped(page, callback, as_sent(request.url), request)
        if fate is Fate.FORGOTTEN:
            # It is one of those that gave an error.
            self.lives.led(page, callback)
            self.lives.confirmed(page, callback)
        return fate is not Fate.FORGOTTEN

    def offer_original(self, request: Request) -> None:
        """Let the URL that *request* was rewritten from wait for its page, as :meth:`sent` does."""
        if mark_of(request, REWRITTEN) and self._settings.rescue:
            self.offer(original_of(request), self._fingerprints.page(request))

    def got_before(self, request: Request) -> None:
        """Note that an earlier run got the page of *request* and the pages redirected to it."""
        callback = self._callback(request)
        for page in self._bring(self.pages.of(request), callback):
            self.lives.confirmed(page, callback)

    def is_delivered(self, request: Request) -> bool:
        """Tell whether the callback is at work on content that *request* brought."""
        return self._deliveries.pages_of(request) is not None

    def got_no_success(self, request: Request) -> bool:
        """Tell whether *request* did not bring all of its page, or second steps have yet to."""
        return request in self._no_successes

    def restore(self, page: bytes, callback: str, event: Event, depth: int | None) -> None:
        """Apply what became of *page* for *callback* in an earlier run of the job.

        :param event: the outcome of the request: ``GOT``, ``LED`` or ``ENDED``.
        :param depth: the depth of the request, if it is known.
        """
        lives = self.lives
        if depth is not None:
            self._depths.note(page, depth)
        lives.sent(page, callback)
        if lives.is_asking(page, callback):
            # Whether it has the page depends on its second steps.
            lives.confirmed(page, callback)
            return
        moves = {Event.GOT: lives.got, Event.LED: lives.led, Event.ENDED: lives.ended}
        moves[event](page, callback)
        lives.confirmed(page, callback)

    def raised(self, response: object) -> None:
        """Take back the pages of a callback that raised, perhaps halfway (``spider_error``).

        Or of which a pipeline did not take an item (``item_error``).
        """
        if not isinstance(response, Response):
            return
        request = response.request
        if request and self.is_delivered(request):
            for page in self._deliveries.take(request):
                self.lives.raised(page, self._callback(request))
            for listener in self.on_raised:
                listener(response)

    def spider_idle(self) -> None:
        """End requests that vanished without a signal, so that variants are fetched."""
        sends = self.lives.sends
        self._sweep(len(self._deliveries))
        self.lives.end_all(sends)
        # Not if another receiver of this signal has scheduled something.
        if self._is_whole and not scheduler_of(self._crawler).has_pending_requests():
            self.lives.release()

    def spider_closed(self) -> None:
        """Set the stats that are known only at the end."""
        if self.lives.given_up:
            Stat.RESCUE_GIVEN_UP.set(self._crawler, self.lives.given_up)

    def _sweep(self, count: int = _LOOKED_AT) -> None:
        """Confirm the pages of finished responses; end those that no callback was given.

        :param count: how many responses are checked; the next call goes on with the others.
        """
        # Not while a variant is being scheduled: it may be dropped, which calls this again.
        if not self._deliveries or self._is_fetching:
            return
        for request, pages in self._deliveries.take_done(at_work(self._crawler), count):
            if pages is None:
                self._end(request)
                continue
            for page in pages:
                self.lives.confirmed(page, self._callback(request))
            self.passed_on.had(request, self._callback(request))
            for listener in self.on_had:
                listener(request)

    def _end(self, request: Request) -> None:
        callback = self._callback(request)
        self._withdraw(request, (request.url, *sources_of(request)), callback)
        for page in {*self.pages.of(request), *self.pages.asked_elsewhere(request)}:
            self.lives.ended(page, callback)

    def _withdraw(self, request: Request, urls: Iterable[str], callback: str) -> None:
        """Let no request for *urls*, those of *request*, wait any longer."""
        for url in urls:
            page = self._fingerprints.page(request, url)
            if page:
                self.lives.withdraw(page, callback, as_sent(url))

    def _bring(self, pages: Mapping[bytes, bool], callback: str) -> list[bytes]:
        """Note that *callback* is given content of *pages*; return those that it had not had.

        :param pages: for each whether it is content of the page itself, as far as can be told.
        """
        lives = self.lives
        led = {page for page in pages if lives.state(page, callback) in LED}
        if led:
            # It may still be at work on what another request led to, which no longer counts.
            self._deliveries.take_back(led, callback)
        return [
            page
            for page, is_own in pages.items()
            if (lives.got if is_own else lives.led)(page, callback)
        ]

    def _state(self, page: bytes, request: Request) -> State:
        return self.lives.state(page, self._callback(request))

    def _callback(self, request: Request) -> str:
        return callback_of(request, self._crawler.spider)

    def _fetch(self, page: bytes, variant: Request) -> bool:
        """Schedule *variant* as a rescue; return whether the scheduler took it."""
        if self.urls.has_led(page, self._callback(variant), as_sent(variant.url)):
            # While it waited, a URL that Scrapy takes for the same one led elsewhere.
            return False
        copy = rescue_of(variant, self._crawler.spider)
        if self._crawler.settings.getbool(DELTAFETCH):
            # scrapy-deltafetch stores pages by fingerprint, and a rescue has one of its own.
            copy.meta.setdefault("deltafetch_key", page)
        self._is_fetching = True
        try:
            self._crawler.engine.crawl(copy)
        finally:
            self._is_fetching = False
        if self._refused is copy:
            # The duplicate filter dropped it: this URL was sent before.
            self._refused = None
            return False
        return True
