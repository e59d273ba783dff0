"""How much of a site a crawl has seen, and how many pages have no other URL though some are unseen.

Of a crawl that was cut short many URLs are missing, so that a page which is found elsewhere may not
have been *seen* elsewhere. How many such pages there are if all have another URL follows from the
share of the URLs that was seen.
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
"""Fewer URLs, or pages, than this tell no share."""

_MIN_SHARE = 0.4
"""Where no more than this share of the URLs was seen, anything may be due to what was not."""

_MANY = 6
"""Other URLs of a page that are counted; of a page with more of them, that it has some is sure."""

_MAX_ERROR, _MAX_ALONE = 0.08, 0.19
"""The standard error of the share of pages without another URL, where pages have one URL or none,
above which it is unknown; unless next to all of the pages were seen elsewhere: all but this
share of them at most."""

_SHARES = (
    *((0.01, 0.015), (0.02, 0.01), (0.03, 0.015), (0.05, 0.02), (0.07, 0.025), (0.1, 0.03)),
    *((0.13, 0.03), (0.16, 0.035), (0.2, 0.045), (0.25, 0.05), (0.3, 0.075), (0.4, 0.1)),
    (0.5, 0.55),
)
"""Shares of pages without another URL, each with how much of all shares it stands for. Small ones
lie closer, since they are harder to tell from none."""

_NONE_OR_SHARES = ((0.0, 1.0), *_SHARES)

_ERRORS = ((-1.0, 0.25), (0.0, 0.5), (1.0, 0.25))
"""What share of the URLs was seen, in standard errors from what is known of it, with how likely
each is."""

_ROUNDS, _MORE_ROUNDS = 60, 12
"""After so many rounds of EM the likelihood is as good as at its largest, and after so many more
for the next share."""


class Share(NamedTuple):
    """How many of the URLs that a site is known to have were seen.

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
        """What the share is at least, but for chance."""
        return self.seen / self.of - self.error


def largest(shares: Iterable[Share]) -> Share | None:
    """Return the share that is at least the largest, if any says enough.

    What is known of a site by a part of it only is less than the share that was seen. But the
    largest of several that differ by chance is more.

    >>> largest([Share(19, 19), Share(30, 50), Share(290, 500), Share(200, 500)])
    Share(seen=290, of=500)
    """
    known = [share for share in shares if share.of >= MIN_URLS and share.least >= _MIN_SHARE]
    return max(known, key=lambda share: (share.least, share), default=None)


def together(shares: Iterable[Share]) -> Share:
    """Return what several shares say that differ by no more than chance from the largest.

    Each is of other pages than the others.

    >>> together([Share(29, 55), Share(34, 66), Share(37, 76), Share(0, 80)])
    Share(seen=100, of=197)
    """
    told = [share for share in shares if share.of >= MIN_URLS]
    best = max(told, key=lambda share: (share.least, share), default=Share())
    alike = [share for share in told if share.seen / share.of + share.error >= best.least]
    return Share(sum(share.seen for share in alike), sum(share.of for share in alike))


def confirmed(known: Share | None, other: Share | None) -> Share | None:
    """Return what one share says, with another one that differs from it by no more than chance.

    Where the other one says something else it is left out, and where it is the only one it is all
    that is known.

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


def may_have_changed(
    seen: Iterable[tuple[int, int]],
    rate: float,
    chance: float,
) -> bool:
    """Tell whether pages of a class that were seen at one of its URLs may be captures that changed.

    A capture that changed shows what no other URL does, and is no page that has no other URL. What
    two URLs of the class show has not changed between them. So these pages tell how many have no
    other URL, unless more of the others were seen at no other place than changes make.

    :param seen: of each page how many URLs of the class it was seen at, and how many others.
    :param rate: how often captures differ at most.
    :param chance: how probable it must be that these are as many.

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
    """What is known of how many pages of a class have no other URL, by how many of them were seen.

    If a crawl has seen a share of the URLs, how many it has seen of a page that has so many is
    distributed binomially. How many pages have one, two and so on is then what makes that which was
    seen the most likely (nonparametric maximum likelihood, by EM). Before anything was seen, that
    all pages have another URL is as likely as that some have none, and of these every share is as
    likely as any other; what was seen makes some of that likelier (Bayes).

    >>> alone = Alone([0, 1] * 200, Share(500, 1000))
    >>> round(alone.none, 2), round(alone.expected, 3)
    (0.94, 0.003)
    >>> alone = Alone([0, 0, 1] * 100, Share(500, 1000))
    >>> round(alone.none, 2), round(alone.expected, 2)
    (0.0, 0.33)
    """

    def __init__(self, counts: Iterable[int], share: Share) -> None:
        """Look at a class.

        :param counts: of each page how many URLs outside the class were seen.
        :param share: what share of the URLs was seen; neither none of them nor all.
        """
        self._pages = Counter(min(count, _MANY) for count in counts)
        self._share = share

    def are_few(self, most: float) -> bool:
        """Tell whether no larger share of the pages is expected to have no other URL."""
        return self._are_enough and self.expected <= most

    @property
    def none(self) -> float:
        """How likely it is that each page has another URL."""
        return self._likely[0]

    @property
    def expected(self) -> float:
        """What share of the pages is expected to have no other URL."""
        return sum(
            chance * alone for chance, (alone, _) in zip(self._likely[1:], _SHARES, strict=True)
        )

    @property
    def _are_enough(self) -> bool:
        """Whether there are so many pages that they tell anything."""
        least, alone, pages = self._share.least, self._pages[0], self._pages.total()
        # Of the pages that were seen nowhere else no more have no other URL.
        return (1.0 - least) / least <= _MAX_ERROR**2 * pages or (
            lower_bound(pages - alone, alone) >= 1.0 - _MAX_ALONE
        )

    @cached_property
    def _likely(self) -> list[float]:
        """How likely it is that no page has no other URL, and that each of some shares has none."""
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
        """Return how likely what was seen is at most if no page has no other URL, and if some have.

        As logarithms, each found from where the one before was.

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
    """Return the chance to see so many URLs of a page, or more where that is as many as count."""
    seen = range(n, of + 1) if n == _MANY else (n,)
    return sum(comb(of, i) * share**i * (1.0 - share) ** (of - i) for i in seen if i <= of)
