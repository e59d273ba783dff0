"""Trying a candidate on all URLs of a site, and finding the scopes for which it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.bounds import lower_bound
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.operations import DropValue
from scrapy_urlcanon.learn.proposals import PAGINATION_OR_LANGUAGE
from scrapy_urlcanon.learn.rule import Evidence
from scrapy_urlcanon.learn.scope import Scope, scopes_of
from scrapy_urlcanon.learn.site import FOLDS
from scrapy_urlcanon.learn.template import Rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups, Merge
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.proposals import Candidate

#: Values of a condition that are tried; more of them are content.
MAX_CONDITIONS = 50


@dataclass(slots=True)
class Tally:
    """What happened to a candidate within one scope."""

    scope: Scope
    parent: Scope | None
    pages: set[int] = field(default_factory=set)
    """Pages merged rightly, of folds that did not propose the candidate."""
    blurred: set[int] = field(default_factory=set)
    """Those of them that are found under other URLs of one shape too."""
    lost: int = 0
    merges: int = 0
    changed: int = 0
    """URLs that the candidate changes, merged with another or not."""
    examples: list[Merge] = field(default_factory=list)
    children: list[Scope] = field(default_factory=list)

    def support(self, thresholds: Thresholds) -> int:
        """Return how many pages the evidence is worth."""
        return len(self.pages) - len(self.blurred) + int(len(self.blurred) * thresholds.blurred)

    def evidence(self, thresholds: Thresholds, changes: dict[Location, Location]) -> Evidence:
        """Return the tally as it is shown to the user."""
        return Evidence(
            pages=len(self.pages),
            merges=self.merges,
            counter_examples=self.lost,
            bound=lower_bound(self.support(thresholds), self.lost, thresholds.confidence),
            examples=tuple(sorted(_example(merge, changes) for merge in self.examples)[:3]),
        )


class Trial:
    """A candidate, tried on every URL of a site."""

    def __init__(self, groups: Groups, candidate: Candidate, proposers: Collection[int]) -> None:
        self.groups = groups
        self.candidate = candidate
        self.changes = groups.affected(candidate)
        # A rule that was fitted to a value or to literals pays for it with a page, as a parameter of a model does.
        self._fitted = sum(isinstance(operation, (DropValue, Rewrite)) for operation in candidate)
        self._merges = groups.merges(self.changes)
        folds = {groups.site.folds[page] for page in proposers}
        # A page counts for the candidate if some other fold proposed it too.
        self._counts = [folds != {fold} for fold in range(FOLDS)]
        self.root = Scope(groups.site.domain)
        self.tallies: dict[Scope, Tally] = {}
        self._parts = 0
        self._blurred: dict[int, bool] = {}
        self._count(self._merges, self._scopes)

    def accepted(self, thresholds: Thresholds) -> list[Tally]:
        """Return the widest scopes within which the candidate holds."""
        self._parts = sum(1 for tally in self.tallies.values() if tally.pages)
        found = self._choose(self.root, thresholds)
        if found or not any(merge.pages for merge in self._merges):
            return found
        return self._conditional(thresholds)

    def _count(self, merges: Iterable[Merge], scopes: Callable[[Merge], list[Scope]]) -> None:
        pages_of_fold = self.groups.site.folds
        tallies = self.tallies
        for merge in merges:
            parent: Scope | None = None
            right = [page for page in merge.pages if self._counts[pages_of_fold[page]]]
            blurred = [page for page in right if self._is_blurred(page)]
            for scope in scopes(merge):
                tally = tallies.get(scope)
                if tally is None:
                    tally = tallies[scope] = Tally(scope, parent)
                    if parent is not None:
                        tallies[parent].children.append(scope)
                tally.pages.update(right)
                tally.blurred.update(blurred)
                tally.lost += merge.lost
                tally.merges += len(merge.sources) - 1 - merge.lost
                if merge.pages and not merge.lost and len(tally.examples) < 3:  # noqa: PLR2004
                    tally.examples.append(merge)
                parent = scope

    def _is_blurred(self, page: int) -> bool:
        known = self._blurred.get(page)
        if known is None:
            known = self._blurred[page] = self.groups.is_blurred(page, self.changes)
        return known

    def _scopes(self, merge: Merge) -> list[Scope]:
        """Return the scopes that hold all URLs which the candidate changes."""
        common: list[Scope] | None = None
        for source in merge.sources:
            if source in self.changes:
                scopes = scopes_of(self.root.host, source.place)
                common = scopes if common is None else [scope for scope in common if scope in scopes]
        return common or [self.root]

    def _choose(self, scope: Scope, thresholds: Thresholds) -> list[Tally]:
        tally = self.tallies.get(scope)
        if tally is None or len(tally.pages) == 0:
            return []
        whole = self._holds(tally, thresholds) and scope.is_expressible
        if whole and not tally.lost and not self._is_local(tally):
            return [tally]
        parts = [found for child in sorted(tally.children) for found in self._choose(child, thresholds)]
        if not whole:
            return parts
        if sum(part.merges for part in parts) >= 0.9 * tally.merges and sum(part.lost for part in parts) <= tally.lost:
            return parts
        return [tally]

    def _holds(self, tally: Tally, thresholds: Thresholds) -> bool:
        pages, lost = tally.support(thresholds) - self._fitted, tally.lost
        if not thresholds.accept(pages, lost):
            return False
        if tally.scope == self.root:
            return True
        root = self.tallies[self.root]
        return thresholds.special(pages, lost, len(root.pages), root.lost, self._parts)

    def _is_local(self, tally: Tally) -> bool:
        """Whether all evidence lies within one part of the scope, while the candidate would act on others too.

        A parameter of that name may mean something else there.
        """
        parts = [child for child in tally.children if self.tallies[child].pages]
        if len(parts) != 1 or len(self.tallies[parts[0]].pages) < len(tally.pages):
            return False
        part = parts[0]
        return part.is_expressible and any(
            tally.scope.holds(location) and not part.holds(location) for location in self.changes
        )

    def _conditional(self, thresholds: Thresholds) -> list[Tally]:
        """Return the parameters under which the candidate holds, though it does not hold without them."""
        wanted: dict[str, int] = {}
        for merge in self._merges:
            for param in merge.target.params:
                if PAGINATION_OR_LANGUAGE.fullmatch(name_of(param)) or value_of(param).isdigit():
                    continue  # one of the many values of what selects the content
                wanted[param] = wanted.get(param, 0) + len(merge.pages)
        likely = sorted((param for param, pages in wanted.items() if pages > 2), key=lambda p: (-wanted[p], p))
        conditions = set(likely[:MAX_CONDITIONS])
        if not conditions:
            return []
        self._parts += len(conditions)

        def scopes(merge: Merge) -> list[Scope]:
            everywhere = conditions.intersection(*(source.params for source in merge.sources))
            return [Scope(self.root.host, (), condition) for condition in sorted(everywhere)]

        for condition in sorted(conditions):
            self.tallies[Scope(self.root.host, (), condition)] = Tally(Scope(self.root.host, (), condition), self.root)
        self._count([merge for merge in self._merges if merge.target.params], scopes)
        found = [self.tallies[Scope(self.root.host, (), condition)] for condition in sorted(conditions)]
        found = [tally for tally in found if tally.pages]
        return [tally for tally in found if tally.scope.is_expressible and self._holds(tally, thresholds)]


def _example(merge: Merge, changes: dict[Location, Location]) -> tuple[str, str]:
    source = min((s for s in merge.sources if s in changes), key=lambda location: (len(location.url), location))
    return source.url, merge.target.url
