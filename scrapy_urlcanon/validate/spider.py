"""Fetches pairs of URLs that rules make one, and finds out which rules hold."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from attrs import define, field
from scrapy import Request, Spider

from scrapy_urlcanon.canonicalizer.rules import Skip
from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.pages.shown import Shown
from scrapy_urlcanon.pages.verdict import Comparison, Judgement, Side, Verdict
from scrapy_urlcanon.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.validate.rule_check import RuleCheck

_NOT_SEEN = "its page is where the crawl has not been"

SETTINGS: Mapping[str, Any] = {
    # The two URLs of a pair are to be fetched both, whatever the rules say of them.
    "URLCANON_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    # What belongs to the crawls of the project.
    "JOBDIR": None,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "DEPTH_LIMIT": 0,
    # An error is an answer: that this pair says nothing.
    "HTTPERROR_ALLOW_ALL": True,
}
"""Settings that :class:`ValidationSpider` needs, over those of the project."""


@define
class _Attempt:
    """What is under way for one pair of a check."""

    check: RuleCheck
    pair: tuple[str, str]
    comparison: Comparison | None = None
    shown: Shown | None = None
    """What a URL that is to be skipped showed at first."""
    places: list[str] = field(factory=list)
    """Other URLs at which its page may be; the next one last."""
    page: str = ""
    """By what its page is known to other attempts; the second URL of the pair where empty."""


class ValidationSpider(Spider):
    """Fetches the pairs of each check, one after the other, until its outcome is known.

    A URL that is to be skipped is fetched before the place of its page, since it may say itself
    which that is. It speaks against its rule where it shows, twice, what is nowhere else.
    """

    name = "urlcanon_validation"

    def __init__(self, checks: Iterable[RuleCheck] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._checks = tuple(checks)

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first request of each check."""
        for check in self._checks:
            for request in self._next(check):
                yield request

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Take over what one of the URLs of a pair showed, and go on with what follows from it."""
        attempt: _Attempt = kwargs["attempt"]
        side: Side = kwargs["side"]
        if response.status >= HTTPStatus.BAD_REQUEST:
            yield from self._fail(response.url, attempt, side)
            return
        page, check = page_of(response), attempt.check
        shown = Shown(page, page.digest)
        if attempt.comparison:
            yield from self._go_on(attempt, attempt.comparison.add(side, shown))
        elif side is Side.KEPT:
            url, kept = attempt.pair
            known_as = attempt.page or kept
            attempt.comparison = Comparison(
                page.digest, check.site.noise, kept, url, page=known_as, common=check.common
            )
            first = attempt.shown
            yield from self._go_on(
                attempt,
                attempt.comparison.add(Side.VARIANT, first) if first else Side.VARIANT,
            )
        elif attempt.shown:
            yield from self._go_on(attempt, check.alone(attempt.pair[0], attempt.shown, shown))
        else:
            attempt.shown = shown
            yield from self._look_for(attempt, response.url, page.canonical)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next pair: this one says nothing."""
        yield from self._fail(failure.request.url, **failure.request.cb_kwargs)

    def _look_for(self, attempt: _Attempt, *named: str) -> Iterator[Request]:
        """Have fetched where the page of a URL that is to be skipped may be.

        :param named: where it says that this is; texts may be empty.
        """
        check, (_, known) = attempt.check, attempt.pair
        elsewhere = [url for url in named if check.crawled.is_fetched(url)]
        # The crawl has seen more than one page that declares: it has the last word.
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
        attempt.comparison = None
        return self._request(Side.KEPT, attempt)

    def _fail(self, url: str, attempt: _Attempt, side: Side) -> Iterator[Request]:
        """Try again what failed, where a pair has come so far; else go on with what follows."""
        reason = f"{shown_url(url)} failed"
        judgement: Judgement | Side = Judgement(Verdict.CANNOT_TELL, reason)
        if attempt.comparison:
            judgement = attempt.comparison.failed(side, reason)
        yield from self._go_on(attempt, judgement)

    def _go_on(self, attempt: _Attempt, judgement: Judgement | Side) -> Iterator[Request]:
        """Go on with what is to be fetched for a verdict, or with what follows from it."""
        if isinstance(judgement, Side):
            yield self._request(judgement, attempt)
        elif judgement.verdict is not Verdict.SAME and attempt.places:
            yield self._at_next_place(attempt)
        else:
            attempt.check.add(attempt.pair, judgement)
            yield from self._next(attempt.check)

    def _next(self, check: RuleCheck) -> Iterator[Request]:
        if check.pairs and check.outcome is Outcome.OPEN:
            side = Side.VARIANT if check.option == Skip.name else Side.KEPT
            yield self._request(side, _Attempt(check, check.pairs.pop()))

    def _request(self, side: Side, attempt: _Attempt) -> Request:
        return Request(
            attempt.pair[side is Side.KEPT],
            self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={"verbatim_url": True},
            cb_kwargs={"attempt": attempt, "side": side},
        )
