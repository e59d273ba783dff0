"""Where all parameters but a few may go: the names of the noise have no end there.

Some pages are linked with parameters whose very names are made up: a time in place of a name
against caches, a token, the words of a search. No list of names to drop is ever complete, and each
of them is on too few URLs to show anything. So here the *names* are the trials: of the names that
are on a URL or two, many were looked at, and none of them made a difference. What is on more URLs,
and did not turn out to be noise, selects content for all that is known, and is kept; so is what
the rest of the site has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from scrapy_urlcanon.canonicalizer.tracking import TRACKING_PARAMS
from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.location import Location, name_of
from scrapy_urlcanon.learn.operations import ANY
from scrapy_urlcanon.learn.proposals import MIN_PROPOSERS, is_protected
from scrapy_urlcanon.learn.scope import Scope, scopes_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.proposals import Candidate

_NUMBER = re.compile("[0-9]+")
_TRACKING = frozenset(TRACKING_PARAMS)

#: On more URLs than this a name is no longer made up.
MAX_URLS = 2

#: What the lower bound of the share of noise among made-up names must reach; 0.8 takes 14 of them.
MIN_NOISE = 0.8

#: Names that a list may have: with more it lists the noise.
MAX_KEPT = 20


@dataclass(frozen=True, order=True, slots=True)
class KeepParams:
    """Drop all parameters but these.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> KeepParams(("id",)).apply(locate("http://a.example/?id=7&_16=")).url
    'http://a.example/?id=7'
    """

    names: tuple[str, ...]
    """As they stand in URLs, percent-encoded."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "keep_params"

    @property
    def handle(self) -> str:
        """Any URL."""
        return ANY

    @property
    def setting(self) -> object:
        """The names, decoded."""
        return [unquote_plus(name) for name in self.names]

    def apply(self, location: Location) -> Location:
        """Drop the parameters that are not on the list."""
        kept = tuple([param for param in location.params if name_of(param) in self.names])
        return location if len(kept) == len(location.params) else Location(location.place, kept)


def allow_lists(
    groups: Groups, dropped: Callable[[Scope], set[str]], thresholds: Thresholds
) -> Iterator[tuple[Scope, Candidate, set[int]]]:
    """Yield the lists of parameters to keep that the made-up names of a site suggest.

    Each with its scope, the narrowest that has all of the evidence, and the pages that suggest it.
    The noise that is known by its name must be gone from the URLs; ``dropped`` tells, of a scope,
    what it is, as the list would bring it back.
    """
    counts = _counts(groups)
    rare = {name for name, count in counts.items() if count <= MAX_URLS and not is_protected(name)}
    if lower_bound(len(rare), 0, thresholds.confidence) < MIN_NOISE:
        return
    by_scope: dict[Scope, list[Location]] = {}
    for location in sorted(groups.pages):
        if any(name_of(param) in rare for param in location.params):
            for scope in scopes_of(groups.site.domain, location.place):
                by_scope.setdefault(scope, []).append(location)
    usual = {name for name, count in counts.items() if name not in rare}
    done: list[Scope] = []
    # The narrowest first: a template ignores what it does not know, a site does not.
    for scope in sorted(by_scope, key=lambda s: (-len(s.segments), -len(s.host), s)):
        if any(scope.contains(narrower) for narrower in done) or not scope.is_expressible:
            continue
        noise, pages = _noise(by_scope[scope], rare, groups)
        if lower_bound(len(noise), 0, thresholds.confidence) < MIN_NOISE:
            continue
        done.append(scope)
        seen = {name_of(p) for location in by_scope[scope] for p in location.params} & counts.keys()
        shapes = Counter(_shape(name) for name in noise)
        # What was made up like others need not have been looked at.
        alike = {name for name in rare & seen if shapes[_shape(name)] >= MIN_PROPOSERS}
        kept = (usual | seen) - noise - alike - dropped(scope)
        if len(kept) <= MAX_KEPT:
            yield scope, (KeepParams(tuple(sorted(kept))),), pages


def _counts(groups: Groups) -> Counter[str]:
    """Return how many URLs have each parameter, but for those that any preset but one drops."""
    counts: Counter[str] = Counter()
    for location in groups.pages:
        counts.update({name_of(param) for param in location.params})
    for name in [name for name in counts if name in _TRACKING or name.startswith("utm_")]:
        del counts[name]
    return counts


def _shape(name: str) -> str:
    return _NUMBER.sub("0", name)


def _noise(
    locations: Collection[Location], rare: Collection[str], groups: Groups
) -> tuple[set[str], set[int]]:
    """Return the made-up names that made no difference, and the pages that say so.

    No names where one of them made a difference.
    """
    noise: set[str] = set()
    pages: set[int] = set()
    forms: dict[Location, Location] = {}
    for location in locations:
        page = groups.pages[location]
        if page == NO_EVIDENCE:
            continue
        names = {name_of(param) for param in location.params} & set(rare)
        bare = Location(
            location.place, tuple([p for p in location.params if name_of(p) not in names])
        )
        known = groups.pages.get(bare, NO_EVIDENCE)
        if known == NO_EVIDENCE:
            first = forms.setdefault(bare, location)
            if first is location:
                continue
            known = groups.pages[first]
        if known != page or not isinstance(page, int):
            return set(), set()
        if not groups.site.is_sink(page):
            noise |= names
            pages.add(page)
    return noise, pages
