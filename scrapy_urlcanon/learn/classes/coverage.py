"""Estimates what share of a site's URLs a crawl has seen, and how many pages have only one URL.

A crawl that was cut short lacks many URLs, so a page that has another URL may not have been *seen*
under it. How many such pages to expect follows from the share of the URLs that was seen.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import comb, exp, log, sqrt
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import at_most, lower_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_URLS = 20
"""A share is not estimated from fewer URLs, or pages, than this."""

_MIN_SHARE = 0.4
"""If the crawl has seen less than this share of the URLs, nothing follows from what is missing."""

_MANY = 6
"""Up to how many other URLs of a page are counted. A page with more surely has another URL."""

_MAX_ERROR, _MAX_ALONE = 0.08, 0.19
"""When there are enough pages to estimate how many have no other URL: the standard error of that
share is at most the first number (if each page has one other URL or none), or the share of pages
that were seen nowhere else is at most the second."""

_SHARES = (
    *((0.01, 0.015), (0.02, 0.01), (0.03, 0.015), (0.05, 0.02), (0.07, 0.025), (0.1, 0.03)),
    *((0.13, 0.03), (0.16, 0.035), (0.2, 0.045), (0.25, 0.05), (0.3, 0.075), (0.4, 0.1)),
    (0.5, 0.55),
)
"""Possible shares of pages without another URL, each with its weight: the width of the interval
that it stands for. Small shares lie closer together, since they are harder to tell from none."""

_NONE_OR_SHARES = ((0.0, 1.0), *_SHARES)

_ERRORS = ((-1.0, 0.25), (0.0, 0.5), (1.0, 0.25))
"""How far the true share of seen URLs may be from the estimate, in standard errors, each with its
probability."""

_ROUNDS, _MORE_ROUNDS = 60, 12
"""How many rounds of EM (expectation maximization) bring the likelihood close to its maximum: for
the first of the shares, and for each of the next, which begins where the one before ended."""


class Share(NamedTuple):
    """How many URLs were seen, of how many that the site is known to have.

    >>> share = Share(30, 40)
    >>> round(share.error, 2), round(share.least, 2)
    (0.07, 0.68)
    """

    seen: int = 0
    of: int = 0

    @property
    def error(self) -> float:
        """The standard error of the share."""
        share = self.seen / self.of
        return sqrt(share * (1.0 - share) / self.of)

    @property
    def least(self) -> float:
        """The share less its standard error."""
        return self.seen / self.of - self.error


def largest(shares: Iterable[Share]) -> Share | None:
    """Return the share that is largest after its standard error is taken off, or None.

    Each share is a low estimate, since it knows the site by a part only; but the largest of several
    that differ by chance would be too high. Shares from too few URLs, and too low ones, are left
    out.

    >>> largest([Share(19, 19), Share(30, 50), Share(290, 500), Share(200, 500)])
    Share(seen=290, of=500)
    """
    known = [share for share in shares if share.of >= MIN_URLS and share.least >= _MIN_SHARE]
    return max(known, key=lambda share: (share.least, share), default=None)


def together(shares: Iterable[Share]) -> Share:
    """Return the sum of the shares that differ from the largest one by no more than chance.

    The shares must be about different pages.

    >>> together([Share(29, 55), Share(34, 66), Share(37, 76), Share(0, 80)])
    Share(seen=100, of=197)
    """
    told = [share for share in shares if share.of >= MIN_URLS]
    best = max(told, key=lambda share: (share.least, share), default=Share())
    alike = [share for share in told if share.seen / share.of + share.error >= best.least]
    return Share(sum(share.seen for share in alike), sum(share.of for share in alike))


def confirmed(known: Share | None, other: Share | None) -> Share | None:
    """Return the sum of two shares if they differ by no more than chance, otherwise *known*.

    If one of them is None, the other one is returned.

    >>> confirmed(Share(50, 100), Share(28, 50)), confirmed(Share(50, 100), Share(48, 50))
    (Share(seen=78, of=150), Share(seen=50, of=100))
    >>> confirmed(None, Share(28, 50))
    Share(seen=28, of=50)
    """
    if known is None or other is None:
        return known or other
    differ = abs(known.seen / known.of - other.seen / other.of)
    if differ > known.error + other.error:
        return known
    return Share(known.seen + other.seen, known.of + other.of)


def may_have_changed(seen: Iterable[tuple[int, int]], rate: float, chance: float) -> bool:
    """Tell whether change explains that pages seen at one URL of a class have fewer other URLs.

    If a page changes between two captures, the later capture looks like a page that has no other
    URL. A page that two URLs of the class show has not changed between them, so such pages tell the
    true share without another URL. The excess among the pages seen at one URL is put down to change
    if change produces as many with a probability of *chance*.

    :param seen: for each page, at how many URLs of the class and how many others it was seen.
    :param rate: the highest rate at which captures differ.
    :param chance: how probable such an excess must be.

    >>> several, one = [(2, 1)] * 70 + [(2, 0)] * 30, [(1, 1)] * 60
    >>> [may_have_changed([*several, *one, *[(1, 0)] * n], 0.02, 0.02) for n in (35, 60)]
    [True, False]
    """
    pages = [*seen]
    several = [not others for urls, others in pages if urls > 1]
    one = [not others for urls, others in pages if urls == 1]
    if not several or not one:
        return False
    more = round(sum(one) - len(one) * sum(several) / len(several))
    return more <= 0 or 1.0 - at_most(more - 1, sum(urls for urls, _ in pages), rate) >= chance


class Alone:
    """Estimates which share of the pages of a class have no other URL.

    If a crawl has seen a known share of all URLs, the number of URLs that it has seen of one page
    has a binomial distribution. How many pages have one, two or more other URLs is estimated by
    nonparametric maximum likelihood, computed by EM. The share without another URL is then inferred
    by Bayes: the prior is one half for no such page, and the other half is uniform over the shares.

    >>> alone = Alone([0, 1] * 200, Share(500, 1000))
    >>> round(alone.none, 2), round(alone.expected, 3)
    (0.94, 0.003)
    >>> alone = Alone([0, 0, 1] * 100, Share(500, 1000))
    >>> round(alone.none, 2), round(alone.expected, 2)
    (0.0, 0.33)
    """

    def __init__(self, counts: Iterable[int], share: Share) -> None:
        """Take the counts of a class.

        :param counts: for each page, how many URLs outside the class were seen.
        :param share: the share of the URLs that was seen; neither none nor all of them.
        """
        self._pages = Counter(min(count, _MANY) for count in counts)
        self._share = share

    def are_few(self, most: float) -> bool:
        """Tell whether at most a share of *most* of the pages is expected to have no other URL."""
        return self._are_enough and self.expected <= most

    @property
    def none(self) -> float:
        """The probability that each page has another URL."""
        return self._likely[0]

    @property
    def expected(self) -> float:
        """The expected share of pages without another URL."""
        return sum(
            chance * alone for chance, (alone, _) in zip(self._likely[1:], _SHARES, strict=True)
        )

    @property
    def _are_enough(self) -> bool:
        """Whether there are enough pages for an estimate (:data:`_MAX_ERROR`)."""
        least, alone, pages = self._share.least, self._pages[0], self._pages.total()
        # Every page without another URL was seen nowhere else, so there are no more of them.
        return (1.0 - least) / least <= _MAX_ERROR**2 * pages or (
            lower_bound(pages - alone, alone) >= 1.0 - _MAX_ALONE
        )

    @cached_property
    def _likely(self) -> list[float]:
        """The probability of each share in :data:`_NONE_OR_SHARES`."""
        known, error = self._share.seen / self._share.of, self._share.error
        seen = [(min(max(known + off * error, 0.01), 0.99), weight) for off, weight in _ERRORS]
        fitted = [(weight, self._fitted(share)) for share, weight in seen]
        most = max(likelihood for _, likelihoods in fitted for likelihood in likelihoods)
        parts = [
            width * sum(weight * exp(likelihoods[n] - most) for weight, likelihoods in fitted)
            for n, (_, width) in enumerate(_NONE_OR_SHARES)
        ]
        return [part / sum(parts) for part in parts]

    def _fitted(self, share: float) -> list[float]:
        """Return the maximum log-likelihood of the counts for each of :data:`_NONE_OR_SHARES`.

        :param share: the share of the URLs that was seen.
        """
        several = range(1, _MANY + 2)
        rows = [
            (pages, [_chance(n, of, share) for of in several], n == 0)
            for n, pages in self._pages.items()
        ]
        weights = [1.0 / len(several)] * len(several)
        found: list[float] = []
        for alone, _ in _NONE_OR_SHARES:
            likelihood = 0.0
            for _ in range(_MORE_ROUNDS if found else _ROUNDS):
                new, likelihood = [0.0] * len(several), 0.0
                for pages, chances, is_none in rows:
                    parts = [*map(mul, weights, chances)]
                    whole = (1.0 - alone) * sum(parts) + alone * is_none
                    likelihood += pages * log(whole)
                    new = [
                        sum_ + pages * part / whole for sum_, part in zip(new, parts, strict=True)
                    ]
                whole = sum(new)
                weights = [weight / whole for weight in new]
            found.append(likelihood)
        return found


def _chance(n: int, of: int, share: float) -> float:
    """Return the probability to see *n* of the *of* URLs of a page, or more if *n* is the limit."""
    seen = range(n, of + 1) if n == _MANY else (n,)
    return sum(comb(of, i) * share**i * (1.0 - share) ** (of - i) for i in seen if i <= of)
