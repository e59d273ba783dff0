"""Fetches pairs of URLs that rules make one, and finds out which rules hold."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from scrapy_urlcanon.confidence import Outcome
from scrapy_urlcanon.pages.similarity import Content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.validate.trials import Trial

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
    """Fetches the pairs of each trial, one after the other, until its outcome is known."""

    name = "urlcanon_validation"

    def __init__(self, trials: Iterable[Trial] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._trials = tuple(trials)

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first request of each trial."""
        for trial in self._trials:
            for request in self._next(trial):
                yield request

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Go on with the pair of which *response* is the first page, or judge it."""
        trial: Trial = kwargs["trial"]
        pair: tuple[str, str] = kwargs["pair"]
        first: Content | None = kwargs["first"]
        if response.status >= HTTPStatus.BAD_REQUEST:
            trial.judge(pair, None)
            yield from self._next(trial)
            return
        content = Content.of(response)
        if first is None:
            yield self._request(pair[1], trial, pair, content)
            return
        trial.judge(pair, (first, content))
        yield from self._next(trial)

    def failed(self, failure: Any) -> Iterator[Request]:
        """Go on with the next pair: this one says nothing."""
        kwargs = failure.request.cb_kwargs
        kwargs["trial"].judge(kwargs["pair"], None)
        yield from self._next(kwargs["trial"])

    def _next(self, trial: Trial) -> Iterator[Request]:
        if trial.pairs and trial.outcome is Outcome.OPEN:
            pair = trial.pairs.pop()
            yield self._request(pair[0], trial, pair, None)

    def _request(
        self, url: str, trial: Trial, pair: tuple[str, str], first: Content | None
    ) -> Request:
        return Request(
            url,
            self.parse,
            errback=self.failed,
            dont_filter=True,
            meta={"verbatim_url": True},
            cb_kwargs={"trial": trial, "pair": pair, "first": first},
        )
