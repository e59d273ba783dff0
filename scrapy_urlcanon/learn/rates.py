"""Estimates the rate of change of a site: how often a capture differs because its page changed."""

from __future__ import annotations

import re
from bisect import insort
from functools import lru_cache
from math import log
from operator import add, mul
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import at_most, binomial, lower_bound
from scrapy_urlcanon.learn.location import value_of
from scrapy_urlcanon.learn.operations.base import apply_all
from scrapy_urlcanon.learn.vocabulary import SWITCHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations.base import Operation

_FIELD, _ENDS = re.compile(r"\{\w+\}"), re.compile("[/?&]")

MIN_AGREEING = 20
"""The least number of agreeing URLs from which a rate is estimated."""

USUAL = 0.02
"""The upper bound of the rate if no other candidate tells it."""

_OF_SITES = (0.15, 22.0)
"""The prior of the rate, a beta distribution: so many captures that differ, and that agree. On most
of 41 archived sites whose pages declare other URLs no such pair differs; on one of ten 5 % or more
do, which is one capture of forty. Whichever site is left out, the mean is 0.6 to 0.8 %."""

_STEP = 1.5
"""The rates that are considered, up to 17 %, are this factor apart."""
_RATES = tuple(1e-5 * _STEP**n for n in range(25))

_WIDTHS = (1.0 / (_OF_SITES[0] * log(_STEP)), *[1.0] * (len(_RATES) - 1))
"""The widths of the intervals that the rates stand for, in units of the factor. The first stands
for all lower rates too."""
_LIKELY = tuple(
    rate ** _OF_SITES[0] * (1.0 - rate) ** (_OF_SITES[1] - 1.0) * width
    for rate, width in zip(_RATES, _WIDTHS, strict=True)
)

_MOST_TOLD = 1_000
"""Counts of more URLs are scaled down to this, since more say nothing more."""

ODDS, ODDS_OF_SOLE_VALUE, ODDS_OF_SESSION = 1.25, 4.0, 0.1
"""How many times as likely as content it must be that captures changed: for most rules, for the
only value of a parameter, and for session ids. No other value tells whether the first of these is a
view that few things have; that a session selects content is not expected in the first place."""


class Rate(NamedTuple):
    """What is known of a rate of change."""

    most: float = USUAL
    """An upper bound of the rate, by the merges of other candidates."""
    is_alone: bool = False
    """Whether no other candidate gives a bound."""
    likely: tuple[float, ...] = ()
    """The probability of each of :data:`_RATES`; empty for a rate of 0."""
    is_any: bool = False
    """Whether any rate is possible, since none was estimated yet."""
    most_far: float = 1.0
    """As ``most``, for captures whose text is completely different."""
    likely_far: tuple[float, ...] = ()
    """As ``likely``, for these captures."""

    def of_which(self, far: Rate) -> Rate:
        """Return this rate with that of captures whose text is completely different."""
        return self._replace(most_far=far.most, likely_far=far.likely)

    def explains(self, changed: int, of: int, far: int = 0, odds: float = ODDS) -> bool:
        """Tell whether changes explain why *changed* of these URLs differ.

        They do if that is more likely by the factor *odds* than that some of the URLs are other
        pages, where any share of these up to one half has the same prior probability (Bayes).

        :param changed: how many URLs differ.
        :param of: how many URLs there are.
        :param far: how many URLs differ in their whole text. They must be explained by their own
            rate, since an edited page is no reason to expect them.
        :param odds: the factor.
        """
        if self.is_any:
            return True
        counts = [(self.likely, changed)]
        if far:
            counts.append((self.likely_far, far))
        for likely, differ in counts:
            by_change, by_content = (sum(map(mul, likely, way)) for way in _tell(differ, of))
            if by_change <= odds * by_content:
                return False
        return True


NO_RATE = Rate()

ANY_RATE = Rate(1.0, is_any=True)
"""A rate that was not estimated yet, and explains everything."""


class Seen(NamedTuple):
    """What the merges of one candidate show about the rate."""

    unbiased: int
    """URLs that agree, counted so that the rate has no bias."""
    agreeing: int
    """All URLs that agree."""
    moved: int
    """URLs that should agree and differ."""


class Pairs(NamedTuple):
    """What merges show that are too small to tell which of their URLs changed."""

    agree: int = 0
    differ: int = 0
    urls: frozenset[Location] = frozenset()
    """The URLs that the candidate changes in merges that differ."""
    changes: tuple[Location, ...] = ()
    """An example of a URL that the candidate changes, or none."""


class _CandidatePairs(NamedTuple):
    """The pairs of a candidate that may be right."""

    candidate: Sequence[Operation]
    looks: frozenset[str]
    pairs: Pairs


class Rates:
    """Estimates the rate of change of a site for each candidate from the other candidates.

    A parameter that selects content on one page of ten looks like a site of which one capture of
    ten changed. So the differences in the merges of a candidate are compared with those in the
    merges of other candidates, which, if these are right, come from changes only.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._seen: dict[frozenset[str], Seen] = {}
        # Candidates of one step first, since several steps show the changes of each step; among
        # these the one with the lowest bound of the rate first.
        self._pairs: list[_CandidatePairs] = []

    def add(self, candidate: Sequence[Operation], seen: Seen) -> None:
        """Add what the large merges of a candidate show."""
        about = _about(candidate)
        self._seen[about] = max(self._seen.get(about, seen), seen)

    def add_pairs(self, candidate: Sequence[Operation], pairs: Pairs) -> None:
        """Add what the small merges of a candidate that may be right show.

        If more of them differ than agree, the candidate holds in a part of the site only, and says
        nothing about the rate.
        """
        if pairs.agree >= max(MIN_AGREEING, pairs.differ):
            found = _CandidatePairs(candidate, _looks(candidate), pairs)
            insort(self._pairs, found, key=self._place)

    def _place(self, one: _CandidatePairs) -> tuple[int, float]:
        return len(one.candidate), self._bound(one.pairs.agree, one.pairs.differ)

    def beside(
        self,
        candidate: Sequence[Operation],
        changed: Mapping[Location, Location] = MappingProxyType({}),
    ) -> Rate:
        """Return the rate, estimated from the other candidates and the prior.

        The bound is the lowest that any candidate about other parameters gives: content can only
        add to the differences that changes make.

        :param changed: more URLs with their new forms; candidates that do the same to one of them
            are not used.
        """
        about = _about(candidate)
        others = [seen for to, seen in self._seen.items() if to != about]
        bounds = [self._bound(*counts) for counts in _clear(others)]
        most = min(bounds, default=USUAL)
        # A candidate's own differences never raise the rate above the bound.
        seen = ((one.unbiased, one.moved) for one in self._seen.values())
        agree, moved = max(seen, default=(0, 0))
        of = agree + moved
        likely = _together(_LIKELY, _likelihoods(min(moved, int(most * of)), of))
        for pairs, is_apart in self._independent(candidate, changed):
            by_change, by_content = _tell(pairs.differ, pairs.agree + pairs.differ)
            # Content and no content are equally likely a priori.
            either = tuple(map(add, by_change, by_content))
            likely = _together(likely, either if is_apart else by_content)
        return Rate(most, not bounds, likely)

    def _independent(
        self, candidate: Sequence[Operation], changed: Mapping[Location, Location]
    ) -> Iterator[tuple[Pairs, bool]]:
        """Yield the pairs of other candidates, no two about the same, the best bound first.

        Each comes with whether it is also unrelated to *candidate*. The differences of a related
        candidate may be the same content, so it is only used if its rate is below that of most
        sites.
        """
        mine = [one.pairs for one in self._pairs if one.candidate == candidate]
        own = {url for pairs in mine for url in pairs.urls}
        changed = {**changed}
        changed.update((url, apply_all(candidate, url)) for one in mine for url in one.changes)
        looks = _looks(candidate)
        taken: set[str] = set()
        seen: set[Location] = set()
        for other, about, pairs in self._pairs:
            is_new = taken.isdisjoint(about) and seen.isdisjoint(pairs.urls)
            if is_new and other != candidate:
                taken |= about
                seen |= pairs.urls
                is_apart = (
                    looks.isdisjoint(about)
                    and own.isdisjoint(pairs.urls)
                    and not _does_the_same(other, changed)
                )
                if is_apart or pairs.differ * _OF_SITES[1] <= pairs.agree * _OF_SITES[0]:
                    yield pairs, is_apart

    def _bound(self, agree: int, differ: int) -> float:
        return 1.0 - lower_bound(agree, differ, self._confidence)


def _does_the_same(candidate: Sequence[Operation], changed: Mapping[Location, Location]) -> bool:
    """Tell whether a candidate maps some URL to the form that it has in *changed*."""
    return any(apply_all(candidate, url) == made for url, made in changed.items())


def _about(candidate: Sequence[Operation]) -> frozenset[str]:
    return frozenset[str]().union(*(step.subjects for step in candidate))


def _looks(candidate: Sequence[Operation]) -> frozenset[str]:
    """Return what the URLs that a candidate changes have in common.

    Candidates that share an element may show the same content: those about the same parameter or
    dropped word, and templates of the same shape. A word counts as the same in a host, a path and a
    parameter: ``amp.a.example`` has the pages of ``/amp/``.
    """
    found = set(_about(candidate))
    for step in candidate:
        words: set[str] = set()
        if step.hosts:
            name = step.hosts - {step.handle}
            words.update({*step.handle.split(".")}.difference(*(host.split(".") for host in name)))
        if step.is_template:
            found.discard(step.option.name)
            source, target = map(_ENDS.split, step.shapes)
            found.add("/".join(_FIELD.sub("{}", part) if "{" in part else "*" for part in source))
            gone = {part for part in source if "{" not in part}.difference(target)
            words.update(gone, map(value_of, gone))
        found.update(word for word in words if word and not SWITCHED.fullmatch(word))
    return frozenset(found)


@lru_cache(1024)
def _likelihoods(changed: int, of: int) -> tuple[float, ...]:
    """Return for each of the rates the probability that *changed* of these captures changed."""
    changed, of = _enough(changed, of)
    return tuple(binomial(changed, of, rate) for rate in _RATES)


@lru_cache(1024)
def _tell(changed: int, of: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return for each rate the probability of the differences, without and with content.

    With content any share of the URLs up to one half is content; captures change besides.
    """
    changed, of = _enough(changed, of)
    most = at_most(changed, of + 1, 0.5)
    by_content = (
        (at_most(changed, of + 1, rate) - most) / ((of + 1) * (0.5 - rate)) for rate in _RATES
    )
    return _likelihoods(changed, of), tuple(by_content)


def _enough(changed: int, of: int) -> tuple[int, int]:
    """Return both counts, scaled down to :data:`_MOST_TOLD` URLs if there are more."""
    return (changed * _MOST_TOLD // of, _MOST_TOLD) if of > _MOST_TOLD else (changed, of)


def _together(likely: tuple[float, ...], told: tuple[float, ...]) -> tuple[float, ...]:
    """Return the posterior probability of each rate (Bayes)."""
    both = tuple(map(mul, likely, told))
    whole = sum(both)
    return tuple(one / whole for one in both)


def _clear(seen: Iterable[Seen]) -> list[tuple[int, int]]:
    """Return counts of URLs that agree and that differ, of candidates where enough agree.

    Counts without bias are preferred if any candidate has enough.
    """
    found = list(seen)
    unbiased = [(one.unbiased, one.moved) for one in found if one.unbiased >= MIN_AGREEING]
    return unbiased or [(one.agreeing, one.moved) for one in found if one.agreeing >= MIN_AGREEING]
