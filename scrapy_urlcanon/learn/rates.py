"""How often captures of a site differ that should agree: its rate of change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import at_most, likelihood, lower_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_urlcanon.learn.operations.base import Operation

#: URLs that agree, and tell how often a capture differs that should agree.
MIN_AGREEING = 20

#: How often captures differ at most where nothing but a candidate itself shows any that do.
USUAL = 0.02

#: What is added to the captures that differ, of those that were looked at and one more: where other
#: candidates tell too by Jeffreys' prior; elsewhere captures that differ are rare.
_PRIOR, _PRIOR_ALONE = 0.5, 0.1

#: Captures that differ, and those that agree, which are known of a site before it was seen: a beta
#: distribution. Of 41 archived sites whose pages declare others, most have no such pair that
#: differs, and one of ten has 5 % and more, which is one capture of forty. Whichever of these sites
#: is left out, the mean is 0.6 to 0.8 %.
_OF_SITES = (0.15, 22.0)

#: That captures changed must be so many times as likely as content: what is as likely is no proof.
_ODDS = 1.5


class Rate(NamedTuple):
    """How often captures differ that should agree."""

    mean: float = 0.0
    """What is expected; 0 where nothing tells."""
    most: float = USUAL
    """What the URLs that other candidates make one leave possible."""
    is_alone: bool = False
    """Whether no other candidate tells."""
    of_sites: tuple[float, float] | None = None
    """What is known of sites and of pages with few URLs: captures that differ, and those that
    agree; None where others tell without bias."""

    def explains(self, changed: int, of: int, chance: float) -> bool:
        """Tell whether as many of some URLs may but have changed.

        By what is known of sites they may if that is more likely than that they are content, of
        which any share is as likely, up to one URL of each two.

        :param chance: how probable as many must be at the rate of the site itself.
        """
        if 1.0 - at_most(changed - 1, of, self.mean) >= chance:
            return True
        return self.of_sites is not None and (
            likelihood(changed, of, *self.of_sites) * (1 + of // 2) >= _ODDS
        )


NO_RATE = Rate()

#: Where the rate is not known yet.
ANY_RATE = Rate(1.0, 1.0)


class Seen(NamedTuple):
    """What the URLs that a candidate makes one show of the rate."""

    trials: int
    """URLs that agree and tell without bias."""
    agreeing: int
    """All that agree."""
    moved: int
    """Those that should."""


class Pairs(NamedTuple):
    """What pages show that have too few URLs to tell which of these has changed."""

    agree: int = 0
    differ: int = 0


class Rates:
    """The rate of a site, as each candidate is to see it.

    A parameter that selects something on one page of ten looks like captures that change. So what
    differs by a candidate is held against what differs by others: these show what captures do, and
    no more than that if they are right.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._seen: dict[frozenset[str], Seen] = {}
        self._pairs: list[tuple[Sequence[Operation], Pairs]] = []

    def add(self, candidate: Sequence[Operation], seen: Seen) -> None:
        """Add what a candidate shows."""
        about = _about(candidate)
        self._seen[about] = max(self._seen.get(about, seen), seen)

    def add_pairs(self, candidate: Sequence[Operation], pairs: Pairs) -> None:
        """Add what one that may be right shows by pages with few URLs."""
        if pairs.agree >= MIN_AGREEING:
            self._pairs.append((candidate, pairs))

    def beside(self, candidate: Sequence[Operation]) -> Rate:
        """Return the rate, bounded by the candidates that are about something else, or more.

        The one that bounds it best is right: content adds to what captures do.
        """
        about = _about(candidate)
        seen = [seen for to, seen in self._seen.items() if to != about]
        bounds = [self._bound(*counts) for counts in _clear(seen)]
        most = min(bounds, default=USUAL)
        agreeing, moved = max(_clear(self._seen.values()), default=(0, 0))
        mean = (moved + (_PRIOR if bounds else _PRIOR_ALONE)) / (agreeing + moved + 1)
        rate = Rate(min(mean, most) if agreeing else 0.0, most, is_alone=not bounds)
        if any(one.trials >= MIN_AGREEING for one in seen):
            return rate
        # Nor do those of the candidate itself tell that captures differ more often than usual.
        trials, own = max(((one.trials, one.moved) for one in self._seen.values()), default=(0, 0))
        agree, differ = self._pairs_beside(candidate)
        if trials >= MIN_AGREEING:
            agree, differ = agree + trials, differ + min(own, int(USUAL * trials))
        return rate._replace(of_sites=(_OF_SITES[0] + differ, _OF_SITES[1] + agree))

    def _pairs_beside(self, candidate: Sequence[Operation]) -> Pairs:
        """Return what the other candidate shows by which fewest differ.

        The content that a parameter selects is also in what others do that are about it. So these
        tell that captures differ seldom, and never that they differ more often than on most sites.
        """
        others = [(to, pairs) for to, pairs in self._pairs if to != candidate]
        to, best = min(others, key=lambda one: self._bound(*one[1]), default=(candidate, Pairs()))
        is_usual = best.differ * _OF_SITES[1] <= best.agree * _OF_SITES[0]
        return best if is_usual or _about(candidate).isdisjoint(_about(to)) else Pairs()

    def _bound(self, agree: int, differ: int) -> float:
        return 1.0 - lower_bound(agree, differ, self._confidence)


def _about(candidate: Sequence[Operation]) -> frozenset[str]:
    return frozenset[str]().union(*(step.subjects for step in candidate))


def _clear(seen: Iterable[Seen]) -> list[tuple[int, int]]:
    """Return the URLs that agree, and those that should, where enough do.

    They are those that tell without bias, where there are any.
    """
    found = list(seen)
    unbiased = [(one.trials, one.moved) for one in found if one.trials >= MIN_AGREEING]
    return unbiased or [(one.agreeing, one.moved) for one in found if one.agreeing >= MIN_AGREEING]
