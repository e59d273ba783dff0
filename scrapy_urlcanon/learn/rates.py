"""How often captures of a site differ that should agree: its rate of change."""

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
"""URLs that agree, and tell how often a capture differs that should agree."""

USUAL = 0.02
"""How often captures differ at most where nothing but a candidate itself shows any that do."""

_OF_SITES = (0.15, 22.0)
"""Captures that differ, and those that agree, which are known of a site before it was seen: a beta
distribution. Of 41 archived sites whose pages declare others, most have no such pair that
differs, and one of ten has 5 % and more, which is one capture of forty. Whichever of these sites
is left out, the mean is 0.6 to 0.8 %."""

_STEP = 1.5
"""Rates that a site may have, up to 17 %, each half as large again as the one before."""
_RATES = tuple(1e-5 * _STEP**n for n in range(25))

_WIDTHS = (1.0 / (_OF_SITES[0] * log(_STEP)), *[1.0] * (len(_RATES) - 1))
"""How likely they are before a site was seen. The first stands for all that are smaller."""
_LIKELY = tuple(
    rate ** _OF_SITES[0] * (1.0 - rate) ** (_OF_SITES[1] - 1.0) * width
    for rate, width in zip(_RATES, _WIDTHS, strict=True)
)

_MOST_TOLD = 1_000
"""More URLs say no more of a rate."""

_ODDS = 1.25
"""That captures changed must be so many times as likely as content: what is as likely is no proof.
"""


class Rate(NamedTuple):
    """How often captures differ that should agree."""

    most: float = USUAL
    """What the URLs that other candidates make one leave possible."""
    is_alone: bool = False
    """Whether no other candidate tells."""
    likely: tuple[float, ...] = ()
    """How likely each of :data:`_RATES` is; empty where nothing is known, so that none is."""
    is_any: bool = False
    """Whether it may be any, as long as it is not known yet."""
    most_far: float = 1.0
    """As ``most``, of captures whose text is another one altogether."""
    likely_far: tuple[float, ...] = ()
    """As ``likely``, of these."""

    def of_which(self, far: Rate) -> Rate:
        """Return the rate, and how often the text of what differs is another one altogether."""
        return self._replace(most_far=far.most, likely_far=far.likely)

    def explains(self, changed: int, of: int, far: int = 0, odds: float = _ODDS) -> bool:
        """Tell whether pages that changed may explain why *changed* URLs of so many differ.

        They may if that is likelier, by the *odds*, than that these URLs have content of their own;
        then any share up to one URL of two is equally likely (Bayes). So it must be of those whose
        text is *far* from the others': captures that were edited say nothing of these.
        """
        if self.is_any:
            return True
        told = [(self.likely, changed)]
        if far:
            told.append((self.likely_far, far))
        for likely, differ in told:
            by_change, by_content = (sum(map(mul, likely, way)) for way in _tell(differ, of))
            if by_change <= odds * by_content:
                return False
        return True


NO_RATE = Rate()

ANY_RATE = Rate(1.0, is_any=True)
"""Where the rate is not known yet."""


class Seen(NamedTuple):
    """What the URLs that a candidate makes one show of the rate."""

    unbiased: int
    """URLs that agree and tell without bias."""
    agreeing: int
    """All that agree."""
    moved: int
    """Those that should."""


class Pairs(NamedTuple):
    """What pages show that have too few URLs to tell which of these has changed."""

    agree: int = 0
    differ: int = 0
    urls: frozenset[Location] = frozenset()
    """The URLs of those that differ which the candidate changes."""
    changes: tuple[Location, ...] = ()
    """Some URL that the candidate changes."""


class _Told(NamedTuple):
    """What pairs show of a candidate that may be right."""

    candidate: Sequence[Operation]
    looks: frozenset[str]
    pairs: Pairs


class Rates:
    """The rate of a site, as each candidate is to see it.

    A parameter that selects something on one page of ten looks like captures that change. So what
    differs by a candidate is held against what differs by others: these show what captures do, and
    no more than that if they are right.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._seen: dict[frozenset[str], Seen] = {}
        # Those of one step come first, since several together show the changes of each. Of these do
        # those that bound the rate best.
        self._pairs: list[_Told] = []

    def add(self, candidate: Sequence[Operation], seen: Seen) -> None:
        """Add what a candidate shows."""
        about = _about(candidate)
        self._seen[about] = max(self._seen.get(about, seen), seen)

    def add_pairs(self, candidate: Sequence[Operation], pairs: Pairs) -> None:
        """Add what one that may be right shows by pages with few URLs.

        Where more differ than agree it is right in some part only, which tells nothing.
        """
        if pairs.agree >= max(MIN_AGREEING, pairs.differ):
            insort(self._pairs, _Told(candidate, _looks(candidate), pairs), key=self._place)

    def _place(self, told: _Told) -> tuple[int, float]:
        return len(told.candidate), self._bound(told.pairs.agree, told.pairs.differ)

    def beside(
        self,
        candidate: Sequence[Operation],
        changed: Mapping[Location, Location] = MappingProxyType({}),
    ) -> Rate:
        """Return the rate, as all but the candidate tell it, and what is known of sites.

        The candidate that bounds it best, of those about something else, or more, is right: content
        adds to what captures do.

        :param changed: further URLs, each with another one: what makes them one is not asked.
        """
        about = _about(candidate)
        others = [seen for to, seen in self._seen.items() if to != about]
        bounds = [self._bound(*counts) for counts in _clear(others)]
        most = min(bounds, default=USUAL)
        # What a candidate alone tells of itself leaves no room for a higher rate than usual.
        told = ((one.unbiased, one.moved) for one in self._seen.values())
        agree, moved = max(told, default=(0, 0))
        of = agree + moved
        likely = _together(_LIKELY, _likelihoods(min(moved, int(most * of)), of))
        for pairs, is_apart in self._independent(candidate, changed):
            by_change, by_content = _tell(pairs.differ, pairs.agree + pairs.differ)
            # They are as likely to have some content as none.
            either = tuple(map(add, by_change, by_content))
            likely = _together(likely, either if is_apart else by_content)
        return Rate(most, not bounds, likely)

    def _independent(
        self, candidate: Sequence[Operation], changed: Mapping[Location, Location]
    ) -> Iterator[tuple[Pairs, bool]]:
        """Yield the pairs of others of which no two are about the same, the best ones first.

        With each, whether it is not about what the candidate is either. Content that a parameter
        selects is also in what others do that are about it: these tell that captures differ seldom,
        and never that they differ more often than on most sites.
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
    """Tell whether a candidate makes of some URL what is made of it."""
    return any(apply_all(candidate, url) == made for url, made in changed.items())


def _about(candidate: Sequence[Operation]) -> frozenset[str]:
    return frozenset[str]().union(*(step.subjects for step in candidate))


def _looks(candidate: Sequence[Operation]) -> frozenset[str]:
    """Return what URLs have in common that a candidate changes, as far as its kind tells.

    That is what it is about, the words that go, and of a template its shape: two that leave out
    ``view`` at different depths may show the same, and so may two words in one place. A word is one
    whether the host, the path or a parameter has it: ``amp.a.example`` has the pages of ``/amp/``.
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
    """Return the probability that so many of some captures changed, by the rate."""
    changed, of = _enough(changed, of)
    return tuple(binomial(changed, of, rate) for rate in _RATES)


@lru_cache(1024)
def _tell(changed: int, of: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return how likely it is at each rate that so many differ, as changes and with content.

    Any share of the URLs may be content, up to one of each two; captures change besides.
    """
    changed, of = _enough(changed, of)
    most = at_most(changed, of + 1, 0.5)
    by_content = (
        (at_most(changed, of + 1, rate) - most) / ((of + 1) * (0.5 - rate)) for rate in _RATES
    )
    return _likelihoods(changed, of), tuple(by_content)


def _enough(changed: int, of: int) -> tuple[int, int]:
    """Return as large a share of fewer URLs where more say nothing more."""
    return (changed * _MOST_TOLD // of, _MOST_TOLD) if of > _MOST_TOLD else (changed, of)


def _together(likely: tuple[float, ...], told: tuple[float, ...]) -> tuple[float, ...]:
    """Return how likely each rate is after something told more of it (Bayes)."""
    both = tuple(map(mul, likely, told))
    whole = sum(both)
    return tuple(one / whole for one in both)


def _clear(seen: Iterable[Seen]) -> list[tuple[int, int]]:
    """Return the URLs that agree, and those that should, where enough do.

    They are those that tell without bias, where there are any.
    """
    found = list(seen)
    unbiased = [(one.unbiased, one.moved) for one in found if one.unbiased >= MIN_AGREEING]
    return unbiased or [(one.agreeing, one.moved) for one in found if one.agreeing >= MIN_AGREEING]
