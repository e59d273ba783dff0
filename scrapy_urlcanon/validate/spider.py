"""The spider of ``validate``, which fetches pairs of URLs that rules merge, and compares them."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from attrs import define, field
from scrapy import Request, Spider, signals
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.answers import is_cut_short, is_success
from scrapy_urlcanon.crawl.checks.site_evidence import parts_dropped
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.pages.shown import Shown
from scrapy_urlcanon.pages.verdict import MOST_FETCHES, Comparison, Judgement, Side, Verdict
from scrapy_urlcanon.wording import status_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.validate.rule_check import RuleCheck

_NOT_SEEN = "its page is where the crawl has not been"
SILENT = "its host does not answer"
_RETURNS = "urlcanon_returns"
"""The key in ``request.meta`` that says whether its visitor has been there before."""

APART: Mapping[str, Any] = {
    "URLCANON_ENABLED": False,
    # Parts that the project's settings name themselves would be on in spite of that.
    "URLCANON_RECORD": None,
    "URLCANON_REPORT": None,
    "URLCANON_SEEN": None,
    "URLCANON_TAKE_UP": None,
    "JOBDIR": None,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    # Not a queue that other processes share.
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
}
"""Settings for a crawl by a command, so that it touches nothing of the project's own crawls."""

SETTINGS: Mapping[str, Any] = {
    **APART,
    "HTTPCACHE_ENABLED": False,
    # This spider yields no items.
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "DEPTH_LIMIT": 0,
    # An error is an answer too: the pair is no evidence.
    "HTTPERROR_ALLOW_ALL": True,
}
"""Settings that :class:`ValidationSpider` needs, over those of the project."""


@define
class _Attempt:
    """The fetches of one pair."""

    check: RuleCheck
    pair: tuple[str, str]
    comparison: Comparison | None = None
    kept: Shown | None = None
    """What the second URL showed first."""
    led_to: str = ""
    """The URL to which the second one was redirected."""
    shown: Shown | None = None
    """What a URL that ``skip`` skips showed first."""
    places: list[str] = field(factory=list)
    """Other URLs at which its page may be, the next one last."""
    page: str = ""
    """The key of its page; if empty, that is the second URL of the pair."""
    has_cookies: bool = False
    """Whether the site has set cookies, and so can tell this visitor from others."""

    @property
    def known_as(self) -> str:
        """The key of its page for other attempts."""
        return self.page or self.pair[1]

    def compare(self, comparison: Comparison, side: Side, shown: Shown) -> Judgement | Side:
        """Add what a fetch showed; return the verdict, or what to fetch next."""
        judgement = comparison.add(side, shown)
        if self.check.common.is_of_another(shown.digest, self.known_as):
            # The first time it was taken for a page of its own.
            self.check.site.note_shared(shown.texts, parts_dropped(*self.pair))
        return judgement

    def end(self, judgement: Judgement) -> None:
        """Report what the pair showed to the check."""
        seen = self.comparison.seen if self.comparison else None
        variants, kept = (seen.variants, seen.kept) if seen else ([], [])
        if self.kept:
            kept = [self.kept, *kept]
        if self.shown and not variants:
            variants = [self.shown]
        self.check.add(self.pair, judgement, variants, kept, self.led_to)
        if self.has_cookies and self.check.evidence.is_last_shared:
            # Perhaps a page that asks each visitor once whether cookies may be set.
            self.check.is_returning = True


@define
class _Control:
    """Other pages, fetched to find out whether the site shows the same for all of its URLs."""

    check: RuleCheck
    page: str
    """The key of the page of the pairs."""
    urls: list[str]
    """The URLs to fetch, the next one last."""
    strangers: list[tuple[str, Shown]] = field(factory=list)


class ValidationSpider(Spider):
    """Fetches the pairs of each check one after the other, until its outcome is known.

    A URL that ``skip`` skips is fetched before the places of its page, since it may name one. It
    speaks against its rule if it shows, twice, a page that is nowhere else.

    Each fetch is that of a new visitor. Otherwise a site that keeps a choice in a cookie, such as a
    language, would show the page of one URL at the other. If several pages show the same and the
    site sets cookies, each visitor fetches each page twice.
    """

    name = "urlcanon_validation"

    def __init__(self, checks: Iterable[RuleCheck] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._checks = tuple(checks)
        self._visitors = count()
        self._answering: set[str] = set()
        self._silences: Counter[str] = Counter()

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first request of each check."""
        self.crawler.signals.connect(self._note_answer, signals.headers_received)
        for check in self._checks:
            for request in self._next(check):
                yield request

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Note what a URL of a pair showed, and yield the next request."""
        attempt: _Attempt = kwargs["attempt"]
        side: Side = kwargs["side"]
        request = cast("Request", response.request)
        self._note_answer(request)
        attempt.has_cookies |= b"Set-Cookie" in response.headers
        if self._is_to_return(request, attempt.check):
            yield self._request(side, attempt, visitor=request.meta["cookiejar"])
            return
        reason = _no_page(response)
        if reason:
            yield from self._fail(reason, attempt, side)
            return
        page, check = page_of(response), attempt.check
        shown = Shown(page, page.digest)
        if attempt.comparison:
            yield from self._go_on(attempt, attempt.compare(attempt.comparison, side, shown))
        elif side is Side.KEPT:
            url, kept = attempt.pair
            attempt.kept, attempt.led_to = shown, response.url
            comparison = attempt.comparison = Comparison(
                page.digest, check.site.noise, kept, url, page=attempt.known_as, common=check.common
            )
            first = attempt.shown
            yield from self._go_on(
                attempt,
                attempt.compare(comparison, Side.VARIANT, first) if first else Side.VARIANT,
            )
        elif attempt.shown:
            yield from self._go_on(attempt, check.alone(attempt.pair[0], attempt.shown, shown))
        else:
            attempt.shown = shown
            yield from self._look_for(attempt, response.url, page.canonical)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next pair, since this one is no evidence."""
        yield from self._fail(self._no_answer(failure), **failure.request.cb_kwargs)

    def parse_stranger(self, response: Response, control: _Control) -> Iterator[Request]:
        """Note what a page other than that of the pairs shows, and go on with the next one."""
        request = cast("Request", response.request)
        if self._is_to_return(request, control.check):
            yield self._at_stranger(control, visitor=request.meta["cookiejar"])
            return
        url = control.urls.pop()
        is_other = control.check.pages.page_of(response.url) != control.page
        if is_other and not _no_page(response):
            page = page_of(response)
            control.strangers.append((url, Shown(page, page.digest)))
        yield from self._go_on_with(control)

    def stranger_failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next page."""
        control: _Control = failure.request.cb_kwargs["control"]
        control.urls.pop()
        yield from self._go_on_with(control)

    def _note_answer(self, request: Request) -> None:
        self._answering.add(urlsplit(request.url).netloc)

    def _no_answer(self, failure: Any) -> str:
        """Return why there was no response."""
        error = failure.value
        if isinstance(error, IgnoreRequest):
            # By Scrapy or by a middleware of the project.
            return _IGNORED.get(str(error), "the project does not let it be fetched")
        self._silences[urlsplit(failure.request.url).netloc] += 1
        return f"it cannot be fetched ({type(error).__name__})"

    def _is_to_return(self, request: Request, check: RuleCheck) -> bool:
        return check.is_returning and not request.meta[_RETURNS]

    def _look_for(self, attempt: _Attempt, *named: str) -> Iterator[Request]:
        """Yield the next request for places where the page of a skipped URL may be.

        :param named: the places that the page itself names; may be empty strings.
        """
        check, (_, known) = attempt.check, attempt.pair
        elsewhere = [url for url in named if check.crawled.is_fetched(url)]
        # The place that the crawl knows is tried last and decides: it rests on more than this one
        # page.
        places = dict.fromkeys((known, *filter(check.crawled.shows_a_page, reversed(elsewhere))))
        attempt.places = [place for place in places if place]
        attempt.page = next(iter(attempt.places), "")
        if attempt.places:
            yield self._at_next_place(attempt)
        elif elsewhere:
            yield from self._go_on(attempt, Judgement(Verdict.CANNOT_TELL, _NOT_SEEN))
        else:
            yield self._request(Side.VARIANT, attempt)

    def _at_next_place(self, attempt: _Attempt) -> Request:
        attempt.pair = attempt.pair[0], attempt.places.pop()
        attempt.comparison = attempt.kept = None
        return self._request(Side.KEPT, attempt)

    def _fail(self, reason: str, attempt: _Attempt, side: Side) -> Iterator[Request]:
        """Try again if the comparison has begun, otherwise go on with the next pair."""
        judgement: Judgement | Side = Judgement(Verdict.CANNOT_TELL, reason)
        if attempt.comparison:
            judgement = attempt.comparison.failed(side, reason)
        yield from self._go_on(attempt, judgement)

    def _go_on(self, attempt: _Attempt, judgement: Judgement | Side) -> Iterator[Request]:
        """Fetch what a verdict still needs, or go on with the next pair after it."""
        if isinstance(judgement, Side):
            yield self._request(judgement, attempt)
        elif judgement.verdict is not Verdict.SAME and attempt.places:
            yield self._at_next_place(attempt)
        else:
            attempt.end(judgement)
            yield from self._next(attempt.check)

    def _next(self, check: RuleCheck) -> Iterator[Request]:
        page = check.evidence.page_to_control
        if page is not None:
            yield from self._go_on_with(_Control(check, page, check.pages.near(page)[::-1]))
            return
        side = Side.VARIANT if check.is_skip else Side.KEPT
        while check.pairs and check.outcome is Outcome.OPEN:
            attempt = _Attempt(check, check.pairs.pop())
            if not self._is_silent(attempt.pair[side is Side.KEPT]):
                yield self._request(side, attempt)
                return
            attempt.end(Judgement(Verdict.CANNOT_TELL, SILENT))
        # No further pair is fetched once the outcome of the rule is known.
        check.pairs.clear()

    def _go_on_with(self, control: _Control) -> Iterator[Request]:
        if control.urls:
            yield self._at_stranger(control)
        else:
            control.check.evidence.control(control.strangers)
            yield from self._next(control.check)

    def _at_stranger(self, control: _Control, visitor: int | None = None) -> Request:
        url = control.urls[-1]
        return self._visit(url, self.parse_stranger, self.stranger_failed, visitor, control=control)

    def _is_silent(self, url: str) -> bool:
        """Tell whether the host of *url* has never answered, though it was asked several times."""
        host = urlsplit(url).netloc
        return host not in self._answering and self._silences[host] >= MOST_FETCHES

    def _request(self, side: Side, attempt: _Attempt, visitor: int | None = None) -> Request:
        url = attempt.pair[side is Side.KEPT]
        return self._visit(url, self.parse, self.failed, visitor, attempt=attempt, side=side)

    def _visit(
        self,
        url: str,
        callback: Callable[..., Any],
        errback: Callable[..., Any],
        visitor: int | None,
        **kwargs: Any,
    ) -> Request:
        """Return a request for *url*.

        :param visitor: the number of a visitor who has been there before; None for a new one.
        """
        is_new = visitor is None
        meta = {
            "verbatim_url": True,
            "cookiejar": next(self._visitors) if is_new else visitor,
            _RETURNS: not is_new,
        }
        return Request(
            url, callback, errback=errback, dont_filter=True, meta=meta, cb_kwargs=kwargs
        )


def _no_page(response: Response) -> str:
    """Return why *response* is not the page that was asked for; empty if it is."""
    if is_cut_short(response):
        return "it was cut short"
    return "" if is_success(response) else status_text(response.status)


_IGNORED = {
    "Forbidden by robots.txt": "robots.txt forbids it",
    "max redirections reached": "it leads from one URL to the next without end",
}
"""Our message, by Scrapy's message about a request that it gives up."""
