"""Candidate rules: what the duplicates of a site suggest, to be tried on all its URLs."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import name_of, reading_order
from scrapy_urlcanon.learn.operations.base import Operation
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location

Candidate = tuple[Operation, ...]
"""Operations that are tried together, in this order."""

MAX_PAGES = 20_000
"""How many pages of one site are searched for candidates. Each candidate is still tried on all URLs
of the site."""

MIN_PROPOSERS = 3
"""How many pages must suggest a candidate. With fewer its confidence bound would be too low."""

MAX_URLS = 12
"""How many URLs of one page are compared with each other, pair by pair."""


class Duplicates:
    """The pages of a site that are still found under several URLs."""

    def __init__(self, groups: Groups) -> None:
        """Take a sample of them if there are more than :data:`MAX_PAGES`."""
        self.groups = groups
        numbers = groups.duplicates()
        if len(numbers) > MAX_PAGES:
            # Page numbers follow the order of the sorted URLs, so every n-th one gives a sample of
            # all parts of the site.
            step = len(numbers) / MAX_PAGES
            numbers = [numbers[int(i * step)] for i in range(MAX_PAGES)]
        self.clusters = [
            (page, _some_of_each_kind(sorted(groups.forms(page), key=reading_order)))
            for page in numbers
        ]
        """The number of each page with those of its URLs that are compared, in reading order."""

    def leads_back(self, source: Location, target: Location) -> bool:
        """Tell whether *target* redirects and *source* does not: the site leads the other way."""
        return target in self._redirecting and source not in self._redirecting

    @cached_property
    def _redirecting(self) -> frozenset[Location]:
        """Which of the URLs to compare redirect."""
        site = self.groups.site
        compared = chain.from_iterable(locations for _, locations in self.clusters)
        return frozenset(
            location
            for location in (compared if site.redirects else ())
            if site.locations.find(location) in site.redirects
        )

    def pairs(
        self, differing: Callable[[Location], object] | None = None
    ) -> Iterator[tuple[int, Location, Location]]:
        """Yield the number of each page with each pair of its URLs, in reading order.

        :param differing: returns a part of a URL, such as its path; pages all of whose URLs have
            the same one are left out.
        """
        for page, locations in self.clusters:
            if differing is None or len(set(map(differing, locations))) > 1:
                for one, other in combinations(locations, 2):
                    yield page, one, other


def _some_of_each_kind(locations: list[Location]) -> list[Location]:
    """Return at most :data:`MAX_URLS` of the URLs of a page, about the same number of each kind.

    Otherwise a page with links to thirty comments would show how these links differ, and nothing
    about its other URLs.
    """
    if len(locations) <= MAX_URLS:
        return locations
    times: Counter[object] = Counter()
    ranks = []
    for location in locations:
        path = NUMBER.sub("0", location.path)
        kind = location.origin, path, tuple(map(name_of, location.params))
        ranks.append(times[kind])
        times[kind] += 1
    numbers = sorted(range(len(locations)), key=ranks.__getitem__)[:MAX_URLS]
    return [locations[number] for number in sorted(numbers)]


def collect(proposals: Iterable[tuple[Candidate, int]]) -> dict[Candidate, set[int]]:
    """Return the candidates, each with the pages that suggest it."""
    found: dict[Candidate, set[int]] = {}
    for candidate, page in proposals:
        found.setdefault(candidate, set()).add(page)
    return found


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the length of the longest common prefix of two sequences."""
    number = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        number += 1
    return number
