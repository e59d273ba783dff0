"""Trying a candidate on all URLs of a site, and finding the scopes for which it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import combinations
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.candidates import common, pairs
from scrapy_urlcanon.learn.evidence import Changes
from scrapy_urlcanon.learn.location import name_of, reading_order, value_of
from scrapy_urlcanon.learn.operation import apply_all
from scrapy_urlcanon.learn.results.rule import Evidence
from scrapy_urlcanon.learn.scope import Scope, scopes_of
from scrapy_urlcanon.learn.site import FOLDS
from scrapy_urlcanon.learn.vocabulary import is_identifier, is_protected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups, Merge
    from scrapy_urlcanon.learn.location import Location

#: Parts of a scope, and values of a condition, that are looked at; more of them are pages.
MAX_PARTS = 100

#: Pairs of URLs that are shown for a rule.
MAX_EXAMPLES = 3


@dataclass(slots=True)
class Tally:
    """What happened to a candidate within one scope."""

    scope: Scope
    pages: set[int] = field(default_factory=set)
    """Pages merged rightly, of folds that did not propose the candidate."""
    blurred: set[int] = field(default_factory=set)
    """Those of them that are found under other URLs of one shape too."""
    lost: int = 0
    changed: int = 0
    """Those of the lost pages that may but have changed."""
    unclear: int = 0
    """URLs among which those were."""
    moved: int = 0
    """Pages that have changed, and are not counted as lost."""
    agreeing: int = 0
    """URLs that agree, where there are enough of a page to tell what has changed."""
    merges: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def support(self, thresholds: Thresholds) -> int:
        """Return how many pages the evidence is worth."""
        sharp = len(self.pages) - len(self.blurred)
        return sharp + int(len(self.blurred) * thresholds.blurred)

    def evidence(self, thresholds: Thresholds) -> Evidence:
        """Return the tally as it is shown to the user."""
        return Evidence(
            pages=len(self.pages),
            merges=self.merges,
            counter_examples=self.lost,
            bound=lower_bound(self.support(thresholds), self.lost, thresholds.confidence),
            confidence=thresholds.confidence,
            examples=tuple(self.examples),
        )


class Trial:
    """A candidate, tried on every URL of a site."""

    def __init__(
        self,
        groups: Groups,
        candidate: Candidate,
        proposers: Collection[int],
        scope: Scope | None = None,
    ) -> None:
        """Try the candidate on all URLs, or on those of a scope."""
        self.candidate = candidate
        self.changes = groups.affected(candidate, scope)
        self._groups = groups
        merges = groups.merges(self.changes)
        is_joint = len(candidate) > 1 and not any(step.speaks_alone for step in candidate)
        self._merges = [self._joint(merge) for merge in merges] if is_joint else merges
        folds = {groups.site.folds[page] for page in proposers}
        # A page counts for the candidate if some other fold proposed it too.
        self._counts = [folds != {fold} for fold in range(FOLDS)]
        self._fitted = sum(step.is_fitted for step in candidate)
        self._blurred: dict[int, bool] = {}
        self._scopes_of: dict[Location, tuple[Scope, ...]] = {}
        self.whole = self._tally(scope or Scope(groups.site.domain), self._merges)

    def _joint(self, merge: Merge) -> Merge:
        """Return a merge with those of its pages only that speak for all steps together.

        What one step does alone is evidence for that step, and was weighed as such: a parameter
        that hardly ever occurs is not to be dropped because ``www`` may be.
        """
        pages_of = self._groups.pages_of
        pages = [
            page
            for page in merge.pages
            if any(
                self._takes_all_steps(one, other)
                for one, other in pairs([s for s in merge.sources if page in pages_of(s)])
            )
        ]
        return merge._replace(pages=tuple(pages))

    def _takes_all_steps(self, one: Location, other: Location) -> bool:
        """Tell whether two URLs are made one by all steps together and by no fewer.

        Where each has a parameter that the other has not, the two may be two words for one thing,
        such as ``?hide=guests`` and ``?show=members``: the URL without either is another page.
        """
        names = frozenset[str]().union(*(step.drops for step in self.candidate))
        mine, theirs = ({name_of(param) for param in url.params} & names for url in (one, other))
        if not (mine <= theirs or theirs <= mine):
            return False
        fewer = combinations(self.candidate, len(self.candidate) - 1)
        return all(apply_all(steps, one) != apply_all(steps, other) for steps in fewer)

    def accepted(self, thresholds: Thresholds) -> list[Tally]:
        """Return the widest scopes within which the candidate holds."""
        if not self.whole.pages:
            return []
        found = self._choose(self.whole, self._merges, 1, 1, thresholds)
        chosen = found or self._conditional(thresholds)
        return [tally for tally in chosen if tally is self.whole or self._stands(tally, thresholds)]

    def _stands(self, tally: Tally, thresholds: Thresholds) -> bool:
        """Tell whether the candidate holds where it acts on the URLs of a scope only.

        The merges of a scope are those within it. Of others, the rule would still make one what
        is inside, and make it what stands outside.
        """
        inside = {s: target for s, target in self.changes.items() if tally.scope.holds(s)}
        lost = self._tally(tally.scope, self._groups.merges(inside))
        return self._is_enough(lost, tally.support(thresholds), thresholds)

    def _is_enough(self, tally: Tally, pages: int, thresholds: Thresholds) -> bool:
        return thresholds.accept(
            pages - self._fitted,
            tally.lost,
            changes=Changes(
                tally.changed,
                tally.unclear,
                tally.moved,
                tally.agreeing,
                len(tally.pages) - tally.support(thresholds),
            ),
            rate=self._groups.rate_of_change,
            is_host=all(step.is_host_wide for step in self.candidate),
        )

    def _tally(self, scope: Scope, merges: Iterable[Merge]) -> Tally:
        tally = Tally(scope)
        folds = self._groups.site.folds
        shown: list[Merge] = []
        for merge in merges:
            tally.lost += merge.lost
            tally.changed += merge.changed
            tally.unclear += merge.unclear
            tally.moved += merge.moved
            tally.agreeing += merge.agreeing
            tally.merges += len(merge.sources) - 1 - merge.lost
            if not merge.pages:
                continue
            for page in merge.pages:
                if self._counts[folds[page]]:
                    tally.pages.add(page)
                    if self._is_blurred(page):
                        tally.blurred.add(page)
            if not merge.lost:
                shown.append(merge)
        # The first ones by their text, so that the order of the merges does not show.
        first = nsmallest(MAX_EXAMPLES, shown, key=lambda merge: reading_order(merge.target))
        tally.examples = [_example(merge, self.changes) for merge in first]
        return tally

    def _is_blurred(self, page: int) -> bool:
        known = self._blurred.get(page)
        if known is None:
            known = self._blurred[page] = self._groups.is_blurred(page, self.changes)
        return known

    def _choose(
        self,
        tally: Tally,
        merges: Sequence[Merge],
        depth: int,
        alternatives: int,
        thresholds: Thresholds,
    ) -> list[Tally]:
        """Return the widest scopes, from that of the tally down, in which the candidate holds."""
        whole = tally.scope.is_expressible and self._holds(tally, alternatives, thresholds)
        parts = self._parts(merges, depth) if len(tally.pages) > 1 else {}
        if whole and not tally.lost and not self._is_local(tally, parts):
            return [tally]
        tallies = {scope: self._tally(scope, found) for scope, found in parts.items()}
        tallies = {scope: part for scope, part in tallies.items() if part.pages}
        alternatives += len(tallies)
        chosen = [
            found
            for scope in sorted(tallies)
            for found in self._choose(
                tallies[scope], parts[scope], depth + 1, alternatives, thresholds
            )
        ]
        if not whole:
            return chosen
        kept, lost = sum(part.merges for part in chosen), sum(part.lost for part in chosen)
        return chosen if kept >= 0.9 * tally.merges and lost <= tally.lost else [tally]

    def _parts(self, merges: Sequence[Merge], depth: int) -> dict[Scope, list[Merge]]:
        """Return the parts of a scope, ``depth`` steps below the domain, with their merges."""
        parts: dict[Scope, list[Merge]] = {}
        for merge in merges:
            scopes = self._scopes(merge)
            if len(scopes) > depth:
                parts.setdefault(scopes[depth], []).append(merge)
                if len(parts) > MAX_PARTS:
                    return {}
        return parts

    def _scopes(self, merge: Merge) -> tuple[Scope, ...]:
        """Return the scopes that hold all URLs which the candidate changes, the widest first."""
        known = self._scopes_of.get(merge.target)
        if known is not None:
            return known
        found: tuple[Scope, ...] | None = None
        for address in {source.address for source in merge.sources if source in self.changes}:
            scopes = scopes_of(self._groups.site.domain, address)
            found = scopes if found is None else found[: common(found, scopes)]
        known = self._scopes_of[merge.target] = found or ()
        return known

    def _holds(self, tally: Tally, alternatives: int, thresholds: Thresholds) -> bool:
        pages, lost = tally.support(thresholds) - self._fitted, tally.lost
        if not self._is_enough(tally, pages + self._fitted, thresholds):
            return False
        if tally is self.whole:
            return True
        return thresholds.special(pages, lost, len(self.whole.pages), self.whole.lost, alternatives)

    def _is_local(self, tally: Tally, parts: dict[Scope, list[Merge]]) -> bool:
        """Tell whether the candidate would act outside the one part of the scope that has evidence.

        A parameter of that name may mean something else there.
        """
        supported = [s for s, merges in parts.items() if any(merge.pages for merge in merges)]
        if len(supported) != 1 or not supported[0].is_expressible:
            return False
        inside = {page for merge in parts[supported[0]] for page in merge.pages}
        if not tally.pages <= inside:
            return False
        return any(
            tally.scope.holds(source) and not supported[0].holds(source) for source in self.changes
        )

    def _conditional(self, thresholds: Thresholds) -> list[Tally]:
        """Return the parameters under which the candidate holds, though not without them."""
        found: dict[str, list[Merge]] = {}
        for merge in self._merges:
            if not merge.target.params:
                continue
            for param in set(merge.target.params).intersection(*(s.params for s in merge.sources)):
                if is_protected(name_of(param)) or is_identifier(value_of(param)):
                    continue  # one of the many values of what selects the content
                found.setdefault(param, []).append(merge)
        likely = sorted(found, key=lambda param: (-len(found[param]), param))[:MAX_PARTS]
        tallies = [
            self._tally(Scope(self._groups.site.domain, (), param), found[param])
            for param in likely
            if len(found[param]) > 1
        ]
        tallies = [tally for tally in tallies if tally.pages and tally.scope.is_expressible]
        return sorted(
            (tally for tally in tallies if self._holds(tally, len(tallies), thresholds)),
            key=lambda tally: tally.scope,
        )


def _example(merge: Merge, changes: dict[Location, Location]) -> tuple[str, str]:
    changed = [source for source in merge.sources if source in changes]
    source = min(changed, key=lambda url: (len(url.url), reading_order(url)))
    return source.url, merge.target.url
