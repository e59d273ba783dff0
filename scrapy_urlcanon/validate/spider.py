"""Fetches pairs of URLs that rules make one, and finds out which rules hold."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.reading import page_of
from scrapy_urlcanon.pages.verdict import Comparison, Judgement, Shown, Side, Verdict
from scrapy_urlcanon.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.validate.rule_check import RuleCheck

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


class ValidationSpider(Spider):
    """Fetches the pairs of each check, one after the other, until its outcome is known."""

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
        check: RuleCheck = kwargs["check"]
        pair: tuple[str, str] = kwargs["pair"]
        comparison: Comparison | None = kwargs["comparison"]
        if response.status >= HTTPStatus.BAD_REQUEST:
            yield from self._fail(response.url, kwargs)
            return
        page = page_of(response)
        if comparison is None:
            site = check.site
            comparison = Comparison(page.digest, site.noise, pair[1], pair[0], common=check.common)
            yield self._request(Side.VARIANT, check, pair, comparison)
            return
        judgement = comparison.add(kwargs["side"], Shown(page, page.digest))
        if isinstance(judgement, Side):
            yield self._request(judgement, check, pair, comparison)
        else:
            yield from self._end(check, pair, judgement)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next pair: this one says nothing."""
        yield from self._fail(failure.request.url, failure.request.cb_kwargs)

    def _fail(self, url: str, kwargs: dict[str, Any]) -> Iterator[Request]:
        """Try again what failed, where a pair has come so far; else go on with the next one."""
        check, pair, comparison = kwargs["check"], kwargs["pair"], kwargs["comparison"]
        reason = f"{shown_url(url)} failed"
        judgement = comparison.failed(kwargs["side"], reason) if comparison else None
        if isinstance(judgement, Side):
            yield self._request(judgement, check, pair, comparison)
        else:
            yield from self._end(check, pair, Judgement(Verdict.CANNOT_TELL, reason))

    def _end(
        self, check: RuleCheck, pair: tuple[str, str], judgement: Judgement
    ) -> Iterator[Request]:
        check.add(pair, judgement)
        yield from self._next(check)

    def _next(self, check: RuleCheck) -> Iterator[Request]:
        if check.pairs and check.outcome is Outcome.OPEN:
            yield self._request(Side.KEPT, check, check.pairs.pop(), None)

    def _request(
        self, side: Side, check: RuleCheck, pair: tuple[str, str], comparison: Comparison | None
    ) -> Request:
        return Request(
            pair[side is Side.KEPT],
            self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={"verbatim_url": True},
            cb_kwargs={"check": check, "pair": pair, "comparison": comparison, "side": side},
        )
