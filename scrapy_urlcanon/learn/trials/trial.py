"""Tests a candidate on all URLs of a site."""

from __future__ import annotations

from functools import cached_property
from heapq import nsmallest
from itertools import combinations, filterfalse
from operator import ne
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.candidates import MAX_URLS, common
from scrapy_urlcanon.learn.held.merges import Merges, example_of
from scrapy_urlcanon.learn.location import name_of, reading_order
from scrapy_urlcanon.learn.operations.base import (
    apply_all,
    leave_out_one_thing,
    leaving_out_own_numbers,
)
from scrapy_urlcanon.learn.results.rule import MAX_EXAMPLES
from scrapy_urlcanon.learn.scope import Scope, beginning_of, scopes_of
from scrapy_urlcanon.learn.site import FOLDS, NO_EVIDENCE
from scrapy_urlcanon.learn.thresholds import Tally
from scrapy_urlcanon.learn.trials.contradictions import count_content
from scrapy_urlcanon.learn.trials.word_pairs import is_choice, led_astray, luck_of_siblings
from scrapy_urlcanon.learn.vocabulary import is_protected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location


class Trial:
    """A candidate and what it would do to every URL of a site."""

    def __init__(
        self,
        groups: Groups,
        candidate: Candidate,
        proposers: Collection[int],
        scope: Scope | None = None,
        known: int = 0,
    ) -> None:
        """Apply the candidate to all URLs, or to those of a scope.

        :param proposers: the numbers of the pages that proposed the candidate.
        :param known: how many pages of evidence prior knowledge is worth; negative if it is
            against.
        """
        self.groups = groups
        self.candidate = candidate
        self.known = known
        self.changes = groups.affected(candidate, scope)
        """The URL forms that the candidate changes, each with its new form."""
        self.merges = groups.merges(self.changes)
        """The groups of forms that it maps to one form."""
        self.any_value = [n for step in candidate if step.default is None for n in step.drops]
        """The parameters that it drops with any value."""
        values = {name for step in candidate if step.default is not None for name in step.drops}
        self.valued = [*filterfalse(is_protected, sorted(values))]
        """The parameters that it drops with one value only, without pagination, whose first page is
        the default everywhere."""
        self.fitted = sum(step.is_fitted for step in candidate)
        self.is_choice = is_choice(candidate, self.changes)
        # What all steps drop, and the candidate without each step in turn: evidence must need all.
        self._dropped = frozenset[str]().union(*(step.drops for step in candidate))
        self._fewer = list(combinations(candidate, len(candidate) - 1))
        self._weigh_merges()
        folds = {groups.site.folds[page] for page in proposers}
        # Cross-fitting: a page counts as evidence if a page of another fold proposed the candidate
        # too, or prior knowledge is for it.
        self._counts = [known > 0 or folds != {fold} for fold in range(FOLDS)]
        self._astray = led_astray(groups, candidate, self.changes)
        self._blurred = bytearray(len(groups.site.sizes))
        """By page: 0 for not computed yet, 1 for not blurred, 2 for blurred."""
        self._depths = bytearray(len(self.merges))
        """By merge: how many nested scopes contain all URLs that it changes; 0 for not computed
        yet."""
        self.whole = self.tally(scope or Scope(groups.site.domain), self.merges)

    def _weigh_merges(self) -> None:
        """Remove from each merge the pages that are not evidence for the candidate."""
        candidate, merges = self.candidate, self.merges
        self.is_content = count_content(merges, self.changes, self._dropped)
        """Whether all counter-examples are content, and none is a page that changed."""
        if len(candidate) > 1 and not any(step.speaks_alone for step in candidate):
            for number in filter(merges.pages, range(len(merges))):
                merges.set_pages(number, self._joint_pages(merges[number]))
        if any(step.is_template for step in candidate):
            wavering = self.groups.site.wavering
            for number in filter(merges.pages, range(len(merges))):
                urls = merges.sources(number)
                if leave_out_one_thing(candidate, urls) or not wavering.isdisjoint(urls):
                    merges.set_pages(number, ())
            changed = map(merges.changed, range(len(merges)))
            for number in leaving_out_own_numbers(candidate, changed):
                merges.set_pages(number, ())

    def _joint_pages(self, merge: Merge) -> tuple[int, ...]:
        """Return the pages of a merge that are evidence for all steps of the candidate together.

        If one step alone explains a page, the page is evidence for that step only. That ``www`` may
        be stripped is no reason to drop a rare parameter along with it.
        """
        showing: dict[int, list[Location]] = {page: [] for page in merge.pages}
        for source in merge.sources:
            for page in self.groups.pages_of(source):
                if page in showing:
                    showing[page].append(source)
        return tuple(
            page for page, sources in showing.items() if self._show_all_steps(sources[:MAX_URLS])
        )

    def _show_all_steps(self, sources: Iterable[Location]) -> bool:
        """Tell whether there are two URLs that become equal only by all steps together.

        Pairs where each URL has a dropped parameter that the other lacks do not count. They may be
        two ways to ask for one thing, such as ``?hide=guests`` and ``?show=members``, and the URL
        without either may be another page.
        """
        before: list[tuple[frozenset[str], list[Location]]] = []
        for source in sources:
            mine = self._dropped.intersection(map(name_of, source.params))
            forms = [apply_all(steps, source) for steps in self._fewer]
            if any(
                (mine <= theirs or theirs <= mine) and all(map(ne, forms, others))
                for theirs, others in before
            ):
                return True
            before.append((mine, forms))
        return False

    def forget_merges(self) -> None:
        """Free the memory that only the search for scopes needs."""
        self.merges = Merges()
        self._depths.clear()

    @cached_property
    def luck_of_siblings(self) -> list[float]:
        """The share of right pages of each sibling that is sometimes right and sometimes wrong."""
        return luck_of_siblings(self.groups, self.candidate, self.changes)

    def shows(self, source: Location) -> bool:
        """Tell whether it is known what a URL shows, unlike a slide show that needs scripts."""
        return self.groups.pages[source] != NO_EVIDENCE

    def supporting(self, scope: Scope) -> Iterator[Merge]:
        """Yield the merges within a scope that are evidence for the candidate."""
        return (merge for merge in self.merges if merge.pages and scope.holds(merge.target))

    def within(self, scope: Scope) -> tuple[set[Location], list[Location]]:
        """Return the changed URLs in a scope: those that are evidence, and then all of them."""
        sources = {source for merge in self.supporting(scope) for source in merge.sources}
        return sources & self.changes.keys(), [url for url in self.changes if scope.holds(url)]

    def tally(self, scope: Scope, merges: Iterable[Merge]) -> Tally:
        """Return the tally of the *merges* of a scope."""
        tally = Tally(scope, lost=sum(map(scope.holds, self._astray)))
        # The first ones in reading order, so that examples do not depend on the order of the
        # merges.
        first = nsmallest(
            MAX_EXAMPLES,
            self._counted(merges, tally),
            key=lambda merge: reading_order(merge.target),
        )
        tally.examples = [example_of(merge, self.changes) for merge in first]
        return tally

    def by_itself(self, scope: Scope) -> Tally:
        """Return the tally of a scope as if the candidate were applied nowhere else.

        A number may select a page of each listing, and be noise in the URLs of articles. Judged
        with the listings, articles that changed between two captures would look like content.
        """
        inside = {source: to for source, to in self.changes.items() if scope.holds(source)}
        merges = self.groups.merges(inside)
        count_content(merges, inside, self._dropped)
        return self.tally(scope, merges)

    def _counted(self, merges: Iterable[Merge], tally: Tally) -> Iterator[Merge]:
        """Add merges to a tally one by one; yield those that may serve as examples."""
        folds = self.groups.site.folds
        for merge in merges:
            lost, changed, unclear, moved, agreeing, unbiased, _, far = merge.agreement
            tally.lost += lost
            tally.changed += changed
            tally.unclear += unclear
            tally.moved += len(moved)
            if moved:
                tally.far_moved += len(far)
            else:
                tally.far += len(far)
            tally.agreeing += agreeing
            tally.unbiased += unbiased
            tally.merges += len(merge.sources) - 1 - lost
            for page in merge.pages:
                if self._counts[folds[page]]:
                    tally.pages.add(page)
                    if self._is_blurred(page):
                        tally.blurred.add(page)
            if merge.pages and not lost:
                yield merge

    def _is_blurred(self, page: int) -> bool:
        if not self._blurred[page]:
            is_empty = bool(self.any_value) and self.groups.site.is_empty(page)
            self._blurred[page] = 1 + (is_empty or self.groups.is_blurred(page, self.changes))
        return self._blurred[page] > 1

    def scope_of(self, number: int, depth: int) -> Scope | None:
        """Return the scope, *depth* steps from the widest, of all URLs that a merge changes.

        None if they do not share a scope that narrow.
        """
        known = self._depths[number]
        if known and depth >= known:
            return None
        domain = self.groups.site.domain
        first, *rest = self.merges.changed(number)
        scopes = scopes_of(domain, first)
        # Only the number of common scopes is cached: the scopes would take half a kB for each
        # merge.
        if not known:
            known = len(scopes)
            # One URL for each beginning is enough: URLs that begin alike are in the same scopes.
            for source in {beginning_of(source): source for source in rest}.values():
                known = min(known, common(scopes, scopes_of(domain, source)))
            self._depths[number] = known
        return scopes[depth] if depth < known else None
