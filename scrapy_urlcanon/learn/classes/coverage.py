"""How much of a site a crawl has seen, and how many pages have no other URL though some are unseen.

Of a crawl that was cut short many URLs are missing, so that a page which is found elsewhere may not
have been *seen* elsewhere. How many such pages there are if all have another URL follows from the
share of the URLs that was seen.
"""

from __future__ import annotations

from collections import Counter
from math import comb, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.confidence import lower_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Fewer URLs, or pages, than this tell no share.
MIN_URLS = 20

#: Where no more than this share of the URLs was seen, anything may be due to what was not.
_MIN_SHARE = 0.4

#: Other URLs of a page that are counted; of a page with more of them, that it has some is sure.
_MANY = 6

#: The share of pages without another URL that must not be likely.
_MAX_ALONE = 0.19

#: The standard error of that share, where pages have one URL or none, above which it is unknown.
_MAX_ERROR = 0.08

#: By up to so many standard errors what was seen differs from what is true by chance, and by more
#: than so many it next to never does.
_CHANCE, _SURE = 1.64, 3.0

#: So many standard errors less than it may be the share without another URL must be. What is not
#: known of the share that was seen is one of two reasons to err.
_LESS = 1.64

#: After so many rounds of EM the likelihood is as good as at its largest.
_ROUNDS = 60


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


class Alone:
    """What is known of how many pages of a class have no other URL, by how many of them were seen.

    If a crawl has seen a share of the URLs, how many it has seen of a page that has so many is
    distributed binomially. How many pages have none, one, two and so on is then what makes that
    which was seen the most likely (nonparametric maximum likelihood, by EM), and how much less
    likely it is if a given share has none tells how sure that is (likelihood ratio).

    >>> alone = Alone([0, 1] * 200, Share(500, 1000))
    >>> alone.is_chance, alone.is_little
    (True, True)
    >>> alone = Alone([0, 0, 1] * 100, Share(500, 1000))
    >>> alone.is_chance, alone.is_for_sure, alone.is_little
    (False, True, False)
    """

    def __init__(self, counts: Iterable[int], share: Share) -> None:
        """Look at a class.

        :param counts: of each page how many URLs outside the class were seen.
        :param share: what share of the URLs was seen; neither none of them nor all.
        """
        self._pages = Counter(min(count, _MANY) for count in counts)
        self._share = share

    @property
    def is_chance(self) -> bool:
        """Whether so many pages would have been seen nowhere else if all had another URL."""
        return self._may_be_none(_CHANCE)

    @property
    def is_for_sure(self) -> bool:
        """Whether next to certainly some of the pages have no other URL."""
        return not self._may_be_none(_SURE)

    @property
    def is_little(self) -> bool:
        """Whether it is unlikely that many of the pages have no other URL."""
        least, alone_now = self._share.least, self._pages[0]
        # Of the pages that were seen nowhere else no more have no other URL.
        if lower_bound(self._pages.total() - alone_now, alone_now) >= 1.0 - _MAX_ALONE:
            return True
        if (1.0 - least) / least > _MAX_ERROR**2 * self._pages.total():
            return False
        if alone_now <= _MAX_ALONE * self._pages.total():
            return True
        share = least + self._share.error / 2
        likelihood, alone = self._fitted(share)
        less = likelihood - self._fitted(share, _MAX_ALONE)[0]
        return alone < _MAX_ALONE and less >= _LESS**2 / 2

    def _may_be_none(self, errors: float) -> bool:
        share = self._share.least
        return self._fitted(share)[0] - self._fitted(share, 0.0)[0] <= errors**2 / 2

    def _fitted(self, share: float, alone: float | None = None) -> tuple[float, float]:
        """Return how likely what was seen is at most, as a logarithm, and the share of pages alone.

        :param share: the share of the URLs that was seen.
        :param alone: the share of pages without another URL, if it is given.
        """
        several = range(1, _MANY + 2)
        chances = {n: [_chance(n, of, share) for of in several] for n in self._pages}
        none = 1.0 / (len(several) + 1) if alone is None else alone
        weights = [(1.0 - none) / len(several)] * len(several)
        likelihood = 0.0
        for _ in range(_ROUNDS):
            new, new_none, likelihood = [0.0] * len(several), 0.0, 0.0
            for n, pages in self._pages.items():
                parts = [
                    weight * chance for weight, chance in zip(weights, chances[n], strict=True)
                ]
                whole = sum(parts) + none * (n == 0)
                likelihood += pages * log(whole)
                new = [sum_ + pages * part / whole for sum_, part in zip(new, parts, strict=True)]
                new_none += pages * none * (n == 0) / whole
            if alone is None:
                none = new_none / self._pages.total()
            whole = sum(new) or 1.0
            weights = [(1.0 - none) * weight / whole for weight in new]
        return likelihood, none


def _chance(n: int, of: int, share: float) -> float:
    """Return the chance to see so many URLs of a page, or more where that is as many as count."""
    seen = range(n, of + 1) if n == _MANY else (n,)
    return sum(comb(of, i) * share**i * (1.0 - share) ** (of - i) for i in seen if i <= of)
