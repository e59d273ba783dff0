"""Proposes lists of parameters to keep, for paths where parameters have made-up names.

Some pages are linked with parameters whose *names* are made up: a timestamp that defeats caches, a
token, the words of a search. A list of names to drop would never be complete, and each name is on
too few URLs to show anything. So each name counts as one trial: if there are enough names that are
on one or two URLs, and none of them made a difference, other such names are taken to make none
either. All other names are kept: those on more URLs that were not found to be noise may select
content, and so may those of the rest of the site.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS
from scrapy_urlcanon.learn.location import name_of, readable
from scrapy_urlcanon.learn.operations.parameters import KeepOnly
from scrapy_urlcanon.learn.scope import Scope, scopes_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import NUMBER, is_protected

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.thresholds import Thresholds

_TRACKING = frozenset(TRACKING_PARAMS)

MAX_URLS = 2
"""A name that is on more URLs than this is not taken for made up."""

MIN_NOISE = 0.8
"""What the lower confidence bound of the share of noise among made-up names must reach. With 95 %
confidence 0.8 takes 14 names."""

MAX_KEPT = 20
"""How many names a list may have. A longer one probably has noise in it."""


def allow_lists(
    groups: Groups, dropped: Callable[[Scope], set[str]], thresholds: Thresholds
) -> Iterator[tuple[Scope, KeepOnly, set[int]]]:
    """Yield the lists of parameters to keep that the made-up names of a site suggest.

    Each comes with the narrowest scope that has enough evidence, and the pages that suggest it.
    Parameters that accepted rules drop must be gone from the URLs already.

    :param dropped: returns the parameters that accepted rules drop in a scope. They are left out of
        the list, which would keep them.
    """
    counts = _counts(groups)
    rare = {name for name in rare_of(counts) if not is_protected(name)}
    if not are_endless(rare, thresholds):
        return
    by_scope: dict[Scope, list[Location]] = {}
    for location in sorted(groups.pages):
        if any(name_of(param) in rare for param in location.params):
            for scope in scopes_of(groups.site.domain, location):
                by_scope.setdefault(scope, []).append(location)
    usual = {name for name, count in counts.items() if name not in rare}
    done: list[Scope] = []
    # The narrowest first: one script ignores parameters that it does not know, not the whole site.
    for scope in sorted(by_scope, key=lambda s: (-len(s.segments), -len(s.host), s)):
        if not scope.is_expressible or any(scope.contains(narrower) for narrower in done):
            continue
        noise, pages = _noise(by_scope[scope], rare, groups)
        if not are_endless(noise, thresholds):
            continue
        done.append(scope)
        seen = {name_of(p) for location in by_scope[scope] for p in location.params} & counts.keys()
        shapes = Counter(_shape(name) for name in noise)
        # A name of the same shape as several noisy ones is noise, even if it was not compared.
        alike = {name for name in rare & seen if shapes[_shape(name)] >= MIN_PROPOSERS}
        kept = (usual | seen) - noise - alike - dropped(scope)
        if len(kept) <= MAX_KEPT:
            yield scope, KeepOnly(tuple(sorted(kept, key=readable))), pages


def rare_of(counts: Mapping[str, int]) -> set[str]:
    """Return the names that are on at most :data:`MAX_URLS` URLs.

    :param counts: on how many URLs each name is.
    """
    return {name for name, count in counts.items() if count <= MAX_URLS}


def are_endless(names: Collection[str], thresholds: Thresholds) -> bool:
    """Tell whether *names*, none of which made a difference, are enough to believe it of others."""
    return lower_bound(len(names), 0, thresholds.confidence) >= MIN_NOISE


def _counts(groups: Groups) -> Counter[str]:
    """Return how many URLs have each parameter, without the well-known tracking parameters."""
    counts: Counter[str] = Counter()
    for location in groups.pages:
        counts.update({name_of(param) for param in location.params})
    for name in [name for name in counts if name in _TRACKING or name.startswith("utm_")]:
        del counts[name]
    return counts


def _shape(name: str) -> str:
    return NUMBER.sub("0", readable(name))


def _noise(
    locations: Collection[Location], rare: AbstractSet[str], groups: Groups
) -> tuple[set[str], set[int]]:
    """Return the made-up names that were compared, and the pages that show they are noise.

    Both are empty if one of the names made a difference.
    """
    noise: set[str] = set()
    pages: set[int] = set()
    forms: dict[Location, Location] = {}
    for location in locations:
        page = groups.pages[location]
        if page == NO_EVIDENCE:
            continue
        names = {name_of(param) for param in location.params} & rare
        bare = location._replace(
            params=tuple([p for p in location.params if name_of(p) not in names])
        )
        known = groups.pages.get(bare)
        if known is None or known == NO_EVIDENCE:
            first = forms.setdefault(bare, location)
            if first is location:
                continue
            known = groups.pages[first]
        if known != page or not isinstance(page, int):
            return set(), set()
        noise |= names
        pages.add(page)
    return noise, pages
