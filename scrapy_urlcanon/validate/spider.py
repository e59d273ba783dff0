"""Fetches pairs of URLs that rules make one, and finds out which rules hold."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.crawl.reading import page_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.pages.same_page import PageDigest
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
        """Go on with the pair of which *response* is the first page, or judge it."""
        check: RuleCheck = kwargs["check"]
        pair: tuple[str, str] = kwargs["pair"]
        first: PageDigest | None = kwargs["first"]
        if response.status >= HTTPStatus.BAD_REQUEST:
            check.judge(pair, None)
            yield from self._next(check)
            return
        content = page_of(response).digest
        if first is None:
            yield self._request(pair[1], check, pair, content)
            return
        check.judge(pair, (first, content))
        yield from self._next(check)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next pair: this one says nothing."""
        kwargs = failure.request.cb_kwargs
        kwargs["check"].judge(kwargs["pair"], None)
        yield from self._next(kwargs["check"])

    def _next(self, check: RuleCheck) -> Iterator[Request]:
        if check.pairs and check.outcome is Outcome.OPEN:
            pair = check.pairs.pop()
            yield self._request(pair[0], check, pair, None)

    def _request(
        self, url: str, check: RuleCheck, pair: tuple[str, str], first: PageDigest | None
    ) -> Request:
        return Request(
            url,
            self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={"verbatim_url": True},
            cb_kwargs={"check": check, "pair": pair, "first": first},
        )
