"""Where all parameters but a few may go: the names of the noise have no end there.

Some pages are linked with parameters whose very names are made up: a time in place of a name
against caches, a token, the words of a search. No list of names to drop is ever complete, and each
of them is on too few URLs to show anything. So here the *names* are the trials: of the names that
are on a URL or two, many were looked at, and none of them made a difference. What is on more URLs,
and did not turn out to be noise, selects content for all that is known, and is kept; so is what
the rest of the site has.
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

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.thresholds import Thresholds

_TRACKING = frozenset(TRACKING_PARAMS)

MAX_URLS = 2
"""On more URLs than this a name is no longer made up."""

MIN_NOISE = 0.8
"""What the lower bound of the share of noise among made-up names must reach; 0.8 takes 14 of them.
"""

MAX_KEPT = 20
"""Names that a list may have: with more it lists the noise."""


def allow_lists(
    groups: Groups, dropped: Callable[[Scope], set[str]], thresholds: Thresholds
) -> Iterator[tuple[Scope, KeepOnly, set[int]]]:
    """Yield the lists of parameters to keep that the made-up names of a site suggest.

    Each comes with the narrowest scope that has all of the evidence, and the pages that suggest it.
    The noise that is known by its name must be gone from the URLs; ``dropped`` tells, of a scope,
    what it is, as the list would bring it back.
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
    # The narrowest first: a template ignores what it does not know, a site does not.
    for scope in sorted(by_scope, key=lambda s: (-len(s.segments), -len(s.host), s)):
        if not scope.is_expressible or any(scope.contains(narrower) for narrower in done):
            continue
        noise, pages = _noise(by_scope[scope], rare, groups)
        if not are_endless(noise, thresholds):
            continue
        done.append(scope)
        seen = {name_of(p) for location in by_scope[scope] for p in location.params} & counts.keys()
        shapes = Counter(_shape(name) for name in noise)
        # What was made up like others need not have been looked at.
        alike = {name for name in rare & seen if shapes[_shape(name)] >= MIN_PROPOSERS}
        kept = (usual | seen) - noise - alike - dropped(scope)
        if len(kept) <= MAX_KEPT:
            yield scope, KeepOnly(tuple(sorted(kept, key=readable))), pages


def rare_of(counts: Mapping[str, int]) -> set[str]:
    """Return the names that are on no more URLs than made-up ones are.

    :param counts: on how many URLs each name is.
    """
    return {name for name, count in counts.items() if count <= MAX_URLS}


def are_endless(names: Collection[str], thresholds: Thresholds) -> bool:
    """Tell whether so many made-up names without a difference say that of those not seen yet."""
    return lower_bound(len(names), 0, thresholds.confidence) >= MIN_NOISE


def _counts(groups: Groups) -> Counter[str]:
    """Return how many URLs have each parameter, but for those that any preset but one drops."""
    counts: Counter[str] = Counter()
    for location in groups.pages:
        counts.update({name_of(param) for param in location.params})
    for name in [name for name in counts if name in _TRACKING or name.startswith("utm_")]:
        del counts[name]
    return counts


def _shape(name: str) -> str:
    return NUMBER.sub("0", readable(name))


def _noise(
    locations: Collection[Location], rare: Collection[str], groups: Groups
) -> tuple[set[str], set[int]]:
    """Return the made-up names, where none made a difference, and the pages that say so."""
    noise: set[str] = set()
    pages: set[int] = set()
    forms: dict[Location, Location] = {}
    for location in locations:
        page = groups.pages[location]
        if page == NO_EVIDENCE:
            continue
        names = {name_of(param) for param in location.params} & set(rare)
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
