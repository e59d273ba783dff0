"""Trying a candidate on all URLs of a site, and finding the scopes for which it holds."""

from __future__ import annotations

from array import array
from functools import cached_property
from heapq import nsmallest
from itertools import combinations, count, filterfalse
from operator import ne
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.candidates import MAX_URLS, common
from scrapy_urlcanon.learn.evidence import Tally
from scrapy_urlcanon.learn.held.merges import (
    Merges,
    common_conditions,
    conditions_of,
    example_of,
)
from scrapy_urlcanon.learn.location import name_of, reading_order, value_of
from scrapy_urlcanon.learn.operations.base import (
    apply_all,
    leave_out_one_thing,
    leaving_out_own_numbers,
)
from scrapy_urlcanon.learn.scope import Scope, beginning_of, scopes_of
from scrapy_urlcanon.learn.site import FOLDS, NO_EVIDENCE
from scrapy_urlcanon.learn.trials.contradictions import count_content
from scrapy_urlcanon.learn.trials.families import is_choice, led_astray, luck_of_siblings, siblings
from scrapy_urlcanon.learn.trials.values import (
    condition_of_kind,
    fall_apart,
    is_of_one_path,
    is_telling,
    only_value,
    tell_things_apart,
)
from scrapy_urlcanon.learn.vocabulary import is_date, is_paging, is_protected, may_be_default

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.evidence import Thresholds
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location

#: Parts of a scope, and values of a condition, that are looked at; more of them are pages.
MAX_PARTS = 100

#: Pages that show no parts, before what numbers parts elsewhere is noise there, and for each page
#: that may have some.
MIN_PARTED = 20

#: Pairs of URLs that are shown for a rule.
MAX_EXAMPLES = 3


class Trial:
    """A candidate, tried on every URL of a site."""

    def __init__(
        self,
        groups: Groups,
        candidate: Candidate,
        proposers: Collection[int],
        scope: Scope | None = None,
        known: int = 0,
    ) -> None:
        """Try the candidate on all URLs, or on those of a scope.

        :param known: how many pages prior knowledge is worth.
        """
        self.candidate = candidate
        self.known = known
        self.changes = groups.affected(candidate, scope)
        self._groups = groups
        # Of the steps together, for what is to speak for all of them.
        self._dropped = frozenset[str]().union(*(step.drops for step in candidate))
        self._any_value = [n for step in candidate if step.default is None for n in step.drops]
        # Whether it is refused only for what it tells apart somewhere: that parts hold is no luck.
        self._is_of_parts = False
        values = {name for step in candidate if step.default is not None for name in step.drops}
        # Of what numbers parts the first is the same everywhere.
        self._valued = [*filterfalse(is_protected, sorted(values))]
        self._fewer = list(combinations(candidate, len(candidate) - 1))
        self._merges = groups.merges(self.changes)
        count_content(self._merges, self.changes, candidate)
        if len(candidate) > 1 and not any(step.speaks_alone for step in candidate):
            for number, merge in enumerate(self._merges):
                self._merges.set_pages(number, self._joint_pages(merge))
        if any(step.is_template for step in candidate):
            for number in range(len(self._merges)):
                urls = self._merges.sources(number)
                if leave_out_one_thing(candidate, urls) or not groups.site.wavering.isdisjoint(
                    urls
                ):
                    self._merges.set_pages(number, ())
            changed = map(self._merges.changed, range(len(self._merges)))
            for number in leaving_out_own_numbers(candidate, changed):
                self._merges.set_pages(number, ())
        folds = {groups.site.folds[page] for page in proposers}
        # A page counts for the candidate if some other fold proposed it too, or somebody who knows.
        self._counts = [known > 0 or folds != {fold} for fold in range(FOLDS)]
        self._fitted = sum(step.is_fitted for step in candidate)
        self._is_choice = is_choice(candidate, self.changes)
        self._astray = led_astray(groups, candidate, self.changes)
        self._blurred = bytearray(len(groups.site.sizes))
        """By page, whether it is blurred: 0 where that is not known yet, else 1 or 2."""
        self._depths = bytearray(len(self._merges))
        """By merge, how many scopes hold all that it changes: 0 where that is not known yet."""
        self.whole = self._tally(scope or Scope(groups.site.domain), self._merges)

    def _joint_pages(self, merge: Merge) -> tuple[int, ...]:
        """Return those of the pages of a merge that speak for all steps together.

        What one step does alone is evidence for that step, and was weighed as such: a parameter
        that hardly ever occurs is not to be dropped because ``www`` may be.
        """
        showing: dict[int, list[Location]] = {page: [] for page in merge.pages}
        for source in merge.sources:
            for page in self._groups.pages_of(source):
                if page in showing:
                    showing[page].append(source)
        return tuple(
            page for page, sources in showing.items() if self._show_all_steps(sources[:MAX_URLS])
        )

    def _show_all_steps(self, sources: Iterable[Location]) -> bool:
        """Tell whether some two URLs are made one by all steps together and by no fewer.

        Where each has a parameter that the other has not, the two may be two words for one thing,
        such as ``?hide=guests`` and ``?show=members``: the URL without either is another page.
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

    def accepted(self, thresholds: Thresholds) -> list[Tally]:
        """Return the widest scopes within which the candidate holds."""
        if not self.whole.pages:
            return []
        if any(is_paging(name, self._groups.site.worded) for name in self._any_value):
            return [
                tally
                for tally in self._conditional(thresholds)
                if tally.support(thresholds) >= MIN_PARTED * (1 + tally.lost + tally.moved)
                and self._stands(tally, thresholds)
            ]
        found = self._choose(self.whole, range(len(self._merges)), 1, self._rivals, thresholds)
        chosen = [self._narrowed(self._localized(tally, thresholds), thresholds) for tally in found]
        chosen = chosen or self._conditional(thresholds)
        return [
            tally
            for tally in chosen
            if (tally is self.whole or self._stands(tally, thresholds))
            and not self._is_of_some_values(tally, thresholds)
            and self._luck(tally, thresholds) <= 1.0 - thresholds.confidence
            and not self._is_luckiest(tally, thresholds)
        ]

    def differing(self) -> frozenset[Location]:
        """Return URLs that it changes where one of several may have changed between captures."""
        return self._merges.differing()

    def forget_merges(self) -> None:
        """Let go of what :meth:`accepted` alone needs: new forms would not fit beside it."""
        self._merges = Merges()
        self._depths.clear()

    @cached_property
    def _rivals(self) -> int:
        """How many values of a parameter may be right by luck in some part, this one among them."""
        return max((len(self._groups.values_of(name)) for name in self._valued), default=1)

    def _luck(self, tally: Tally, thresholds: Thresholds) -> float:
        """Return how probable it is that as many pages agree under the likeliest of its siblings.

        All siblings that are right at times count as tried.
        """
        if self.known > 0 or not self._siblings:
            return 0.0
        return len(self._siblings) * max(self._siblings) ** tally.support(thresholds)

    @cached_property
    def _siblings(self) -> list[float]:
        """On what share of its pages each sibling is right that is so at times."""
        return luck_of_siblings(self._groups, self.candidate, self.changes)

    def _is_luckiest(self, tally: Tally, thresholds: Thresholds) -> bool:
        """Tell whether it may but be the luckiest part of what any word or value would do.

        So is the last part of a thing: to show it as the thing itself is right of no other part.
        """
        return self.known <= 0 and any(
            of.is_last
            or not thresholds.special_word(
                of.own, of.pooled, of.rivals, self._groups.rate_of_change
            )
            for of in siblings(self._groups, self.candidate, self.changes, tally.scope)
        )

    def _is_of_some_values(self, tally: Tally, thresholds: Thresholds) -> bool:
        """Tell whether a parameter makes no difference with some values only, such as its default.

        With one that is where all evidence has this value, though there are so many URLs with other
        ones that some of them should have shown it too. Of a parameter that makes a difference
        elsewhere, such as the name of an action, one URL with another value is enough. A date is no
        default either: where all are of one day, it is that of the crawl.
        """
        chance = 1.0 - thresholds.confidence
        matters = tally is not self.whole and self.whole.lost > 0
        for name in self._any_value:
            value = only_value(name, self._supporting(tally.scope), self._shows)
            if value is None:
                merges = self._supporting(tally.scope)
                changes = [each for each in self.changes.items() if tally.scope.holds(each[1])]
                if self.known <= 0 and fall_apart(
                    name,
                    merges,
                    self._shows,
                    changes,
                    is_seen=self._groups.pages.__contains__,
                    chance=chance,
                ):
                    return True
                continue
            if self.known <= 0 and is_date(value_of(value)):
                return True
            if not may_be_default(name, value_of(value)):
                continue
            inside, changed = self._within(tally.scope)
            showing = sum(value in source.params for source in inside if self._shows(source))
            count = sum(value in source.params for source in changed)
            named = sum(name in map(name_of, source.params) for source in changed)
            if (matters and count < named) or is_telling(showing, count, named, chance):
                return True
        return False

    def _shows(self, source: Location) -> bool:
        """Tell whether a URL shows anything.

        What does not, such as a slide show that needs scripts, is no evidence for its value.
        """
        return self._groups.pages[source] != NO_EVIDENCE

    def _supporting(self, scope: Scope) -> Iterator[Merge]:
        """Yield the merges within a scope that are evidence."""
        return (merge for merge in self._merges if merge.pages and scope.holds(merge.target))

    def _within(self, scope: Scope) -> tuple[set[Location], list[Location]]:
        """Return the URLs that evidence in a scope changes, and all that the candidate does."""
        sources = {source for merge in self._supporting(scope) for source in merge.sources}
        return sources & self.changes.keys(), [url for url in self.changes if scope.holds(url)]

    def _stands(self, tally: Tally, thresholds: Thresholds) -> bool:
        """Tell whether the candidate holds where it acts on the URLs of a scope only.

        The merges of a scope are those within it. Of others, the rule would still make one what
        is inside, and make it what stands outside.
        """
        inside = {s: target for s, target in self.changes.items() if tally.scope.holds(s)}
        lost = self._tally(tally.scope, self._groups.merges(inside))
        return self._is_enough(lost, tally.support(thresholds), thresholds)

    def _is_enough(self, tally: Tally, pages: int, thresholds: Thresholds) -> bool:
        return pages > 0 and thresholds.accept(
            pages - self._fitted + self.known,
            tally.lost,
            changes=tally.changes(thresholds),
            rate=self._groups.rate_of_change,
            is_choice=self._is_choice,
            is_host=all(step.is_host_wide for step in self.candidate),
        )

    def _tells_apart(self, tally: Tally, thresholds: Thresholds) -> bool:
        """Tell whether what goes tells things apart somewhere in a scope."""
        if self.known > 0 or not (tally.lost and self._any_value):
            return False
        merges = (merge for merge in self._merges if tally.scope.holds(merge.target))
        return tell_things_apart(self._any_value, merges, 1.0 - thresholds.confidence)

    def _tally(self, scope: Scope, merges: Iterable[Merge]) -> Tally:
        tally = Tally(scope, lost=sum(map(scope.holds, self._astray)))
        # The first ones by their text, so that the order of the merges does not show.
        first = nsmallest(
            MAX_EXAMPLES,
            self._counted(merges, tally),
            key=lambda merge: reading_order(merge.target),
        )
        tally.examples = [example_of(merge, self.changes) for merge in first]
        return tally

    def _counted(self, merges: Iterable[Merge], tally: Tally) -> Iterator[Merge]:
        """Add merges to a tally, one by one; yield those that may be shown for it."""
        folds = self._groups.site.folds
        for merge in merges:
            lost, changed, unclear, moved, agreeing, trials, _ = merge.agreement
            tally.lost += lost
            tally.changed += changed
            tally.unclear += unclear
            tally.moved += len(moved)
            tally.agreeing += agreeing
            tally.trials += trials
            tally.merges += len(merge.sources) - 1 - lost
            for page in merge.pages:
                if self._counts[folds[page]]:
                    tally.pages.add(page)
                    if self._is_blurred(page):
                        tally.blurred.add(page)
            if merge.pages and not lost:
                yield merge

    def _at(self, numbers: Iterable[int]) -> Iterator[Merge]:
        """Yield the merges with some numbers."""
        return map(self._merges.__getitem__, numbers)

    def _is_blurred(self, page: int) -> bool:
        if not self._blurred[page]:
            is_empty = bool(self._any_value) and self._groups.site.is_empty(page)
            self._blurred[page] = 1 + (is_empty or self._groups.is_blurred(page, self.changes))
        return self._blurred[page] > 1

    def _choose(
        self,
        tally: Tally,
        merges: Sequence[int],
        depth: int,
        alternatives: int,
        thresholds: Thresholds,
    ) -> list[Tally]:
        """Return the widest scopes, from that of the tally down, in which the candidate holds.

        :param merges: the numbers of those in the tally.
        """
        whole = tally.scope.is_expressible and self._holds(tally, alternatives, thresholds)
        if whole and not tally.lost:
            return [tally]
        parts = self._parts(merges, depth) if len(tally.pages) > 1 else {}
        tallies = {scope: self._tally(scope, self._at(found)) for scope, found in parts.items()}
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

    def _parts(self, merges: Iterable[int], depth: int) -> dict[Scope, array[int]]:
        """Return the parts of a scope, ``depth`` steps below the domain, with their merges."""
        parts: dict[Scope, array[int]] = {}
        for number in merges:
            scope = self._scope(number, depth)
            if scope is not None:
                parts.setdefault(scope, array("i")).append(number)
                if len(parts) > MAX_PARTS:
                    return {}
        return parts

    def _scope(self, number: int, depth: int) -> Scope | None:
        """Return the scope that holds all URLs which a merge changes, so far from the widest.

        None where they have none in common that is as narrow.
        """
        known = self._depths[number]
        if known and depth >= known:
            return None
        domain = self._groups.site.domain
        first, *rest = self._merges.changed(number)
        scopes = scopes_of(domain, first)
        # How many scopes they have in common, and not which: these take half a kB for each merge.
        if not known:
            known = len(scopes)
            # Most begin alike, and are in the same ones.
            for source in {beginning_of(source): source for source in rest}.values():
                known = min(known, common(scopes, scopes_of(domain, source)))
            self._depths[number] = known
        return scopes[depth] if depth < known else None

    def _holds(self, tally: Tally, alternatives: int, thresholds: Thresholds) -> bool:
        pages = tally.support(thresholds)
        if not self._is_enough(tally, pages, thresholds):
            return False
        tells_apart = self._tells_apart(tally, thresholds)
        if tally is self.whole:
            self._is_of_parts = tells_apart
        elif not (tells_apart or self._is_of_parts):
            # Pages that have changed are in some part, too.
            lost, of_lost = (one.lost + one.moved for one in (tally, self.whole))
            of_pages = len(self.whole.pages)
            return thresholds.special(pages - self._fitted, lost, of_pages, of_lost, alternatives)
        return not tells_apart

    def _localized(self, tally: Tally, thresholds: Thresholds) -> Tally:
        """Return the tally of the part of a scope that all of its evidence is in.

        A parameter of that name may mean something else in the others, whichever of its values were
        seen there. Where they have no URL of that kind it stays as it is, but for a parameter that
        is one of a single script: where a crawl meets it elsewhere it is another one.
        """
        scope, pages_of = tally.scope, self._merges.pages
        if scope.condition:
            return tally
        is_host_wide = all(step.is_host_wide for step in self.candidate)
        is_new = self.known <= 0 and bool(self._any_value or self._valued)
        urls = self._groups.site.locations
        evidence = [
            n for n, to in enumerate(self._merges.targets) if pages_of(n) and scope.holds(to)
        ]
        inside = [
            url for url in (*self.changes, *self._groups.with_any(self._valued)) if scope.holds(url)
        ]
        for depth in count():
            part = self._part_of_all(evidence, depth)
            if part is None or not part.is_expressible or (is_host_wide and part.segments):
                break
            left = [url for url in inside if part.holds(url)]
            if len(left) < len(inside) or (
                is_new and is_of_one_path(part.segments, inside, urls, 1.0 - thresholds.confidence)
            ):
                scope, inside = part, left
        merges = (merge for merge in self._merges if scope.holds(merge.target))
        return tally if scope == tally.scope else self._tally(scope, merges)

    def _part_of_all(self, merges: Iterable[int], depth: int) -> Scope | None:
        """Return the scope so far from the widest that some merges are in, if that is one."""
        found: Scope | None = None
        for number in merges:
            scope = self._scope(number, depth)
            if scope is None or scope != (found := found or scope):
                return None
        return found

    def _narrowed(self, tally: Tally, thresholds: Thresholds) -> Tally:
        """Return the tally of those URLs only that have what all of its evidence has."""
        if tally.scope.condition or all(step.is_host_wide for step in self.candidate):
            return tally
        condition = self._kind_of_evidence(tally.scope, thresholds)
        if not condition:
            return tally
        narrow = tally.scope._replace(condition=condition)
        return self._tally(narrow, (m for m in self._merges if narrow.holds(m.target)))

    def _kind_of_evidence(self, scope: Scope, thresholds: Thresholds) -> str:
        """Return the condition that tells all evidence in a scope from other kinds of URLs."""
        common_to_all = common_conditions(self._supporting(scope)) - {scope.condition}
        if not common_to_all:
            return ""
        inside, changed = self._within(scope)
        valued = filter(scope.holds, self._groups.with_any(self._valued))
        return condition_of_kind(
            [scope._replace(condition=one) for one in sorted(common_to_all)[:MAX_PARTS]],
            len(inside),
            changed,
            is_all=any({*map(name_of, url.params)}.issubset(self._valued) for url in valued),
            chance=1.0 - thresholds.confidence,
        )

    def _conditional(self, thresholds: Thresholds) -> list[Tally]:
        """Return the parameters under which the candidate holds, though not without them."""
        found: dict[str, array[int]] = {}
        for number, merge in enumerate(self._merges):
            for param in conditions_of(merge):
                found.setdefault(param, array("i")).append(number)
        likely = sorted(found, key=lambda param: (-len(found[param]), param))[:MAX_PARTS]
        tallies = [
            self._tally(Scope(self._groups.site.domain, (), param), self._at(found[param]))
            for param in likely
            if len(found[param]) > 1
        ]
        tallies = [tally for tally in tallies if tally.pages and tally.scope.is_expressible]
        holding: list[Tally] = []
        covered: set[Location] = set()
        for tally in tallies:
            targets = {self._merges.targets[number] for number in found[tally.scope.condition]}
            # Of two parameters that stand in the same URLs one is enough.
            if targets <= covered or not self._holds(tally, len(tallies), thresholds):
                continue
            # A scope has one condition. It cannot leave out another kind, which has shown nothing.
            if not self._kind_of_evidence(tally.scope, thresholds):
                holding.append(tally)
                covered |= targets
        return sorted(holding, key=lambda tally: tally.scope)
