"""Fetches pairs of URLs that rules make one, and finds out which rules hold."""

from __future__ import annotations

from hashlib import blake2b
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from attrs import define, field
from scrapy import Request, Spider

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.crawl.sequential import Outcome, outcome_of
from scrapy_urlcanon.crawl.similarity import Content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer.configuration import Configuration

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
class Trial:
    """One rule and what was found about it."""

    option: str
    layer: str
    """File and pattern, as in ``urlcanon.toml['example.com']``."""
    pairs: list[tuple[str, str]] = field(factory=list)
    """URLs, and what the rule makes of each; those still to be fetched, the next one last."""
    right: int = 0
    """Pairs that showed one page."""
    wrong: int = 0
    """Pairs that showed two."""
    unjudged: int = 0
    """Pairs of which one could not be fetched, or that cannot be compared."""
    example: tuple[str, str] | None = None
    """The first pair that showed two pages."""
    _pages: dict[bytes, str] = field(factory=dict, init=False)

    @property
    def outcome(self) -> Outcome:
        """What is known so far."""
        return outcome_of(self.right, self.wrong)

    def judge(self, pair: tuple[str, str], pages: tuple[Content, Content] | None) -> None:
        """Take over what the *pages* of *pair* show; None where one could not be fetched."""
        is_same = pages and pages[0].is_same_page(pages[1])
        if pages and is_same and self._pages.setdefault(pages[1].digest, pair[1]) != pair[1]:
            # A page that many URLs share, such as a form to log in, agrees with every rule.
            is_same = None
        if is_same is None:
            self.unjudged += 1
        elif is_same:
            self.right += 1
        else:
            self.wrong += 1
            self.example = self.example or pair


def trials_of(configuration: Configuration, urls: Iterable[str], *, most: int) -> list[Trial]:
    """Return a trial of each rule of *configuration*, with pairs that *urls* make.

    A pair is what one rule alone does to a URL, whatever the others do. Pairs of which *urls*
    has one only come first: what was learned from those URLs has not seen them. Which ones they
    are does not depend on chance.

    >>> from scrapy_urlcanon.canonicalizer.configuration import Configuration
    >>> rules = {"a.example": {"drop_params": ["sid"], "www": "strip"}}
    >>> configuration = Configuration.load("scrapy", rules=[("rules", rules)])
    >>> for trial in trials_of(configuration, ["http://www.a.example/?sid=1"], most=5):
    ...     print(trial.option, trial.pairs)
    drop_params [('http://a.example/?sid=1', 'http://a.example/')]
    www [('http://www.a.example/?sid=1', 'http://a.example/?sid=1')]

    :param most: how many pairs there are for one rule at most.
    """
    trials = {
        (option, rule_set.layer): Trial(option, rule_set.layer)
        for origin in configuration.origins
        for rule_set in origin
        for option in rule_set.options
    }
    canonicalizer = Canonicalizer.from_configuration(configuration)
    seen = set(urls)
    found: dict[tuple[str, str], set[tuple[str, str]]] = {key: set() for key in trials}
    for url in seen:
        for step in canonicalizer.explain(url).steps:
            # Values of several patterns may have had a part in one step.
            if (step.option, step.layer) in trials:
                found[step.option, step.layer].add((step.before, step.after))
    for key, trial in trials.items():
        trial.pairs = sorted(found[key], key=lambda pair: _order(pair, seen))[:most][::-1]
    return list(trials.values())


def _order(pair: tuple[str, str], seen: set[str]) -> tuple[bool, bytes]:
    digest = blake2b(" ".join(pair).encode(errors="replace"), digest_size=8).digest()
    return seen.issuperset(pair), digest


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
