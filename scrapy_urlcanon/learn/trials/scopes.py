"""The scopes within which a candidate holds."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.url import home_of
from scrapy_urlcanon.learn.held.merges import common_conditions, conditions_of
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.learn.trials.siblings import siblings
from scrapy_urlcanon.learn.trials.values import (
    condition_of_kind,
    fall_apart,
    has_silent_word,
    is_of_one_path,
    is_telling,
    only_value,
    tell_things_apart,
    value_in,
)
from scrapy_urlcanon.learn.vocabulary import SEARCHED_OR_Q, is_date, is_paging, may_be_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.thresholds import Tally, Thresholds
    from scrapy_urlcanon.learn.trials.trial import Trial

MAX_PARTS = 100
"""Parts of a scope, and values of a condition, that are looked at; more of them are pages."""

MIN_PARTED = 20
"""Pages that show no parts, before what numbers parts elsewhere is noise there, and for each page
that may have some."""


class ScopeSearch:
    """Finds the widest scopes within which what was tried holds."""

    def __init__(self, trial: Trial, thresholds: Thresholds) -> None:
        self._trial = trial
        self._groups = trial.groups
        self._merges = trial.merges
        self._thresholds = thresholds
        self._chance = 1.0 - thresholds.confidence
        self._is_host_wide = all(step.is_host_wide for step in trial.candidate)
        # Whether it is refused only for what it tells apart somewhere: that parts hold is no luck.
        self._is_of_parts = False

    def accepted(self) -> list[Tally]:
        """Return the widest scopes within which the candidate holds."""
        if not self._trial.whole.pages:
            return []
        if any(is_paging(name, self._groups.site.worded) for name in self._trial.any_value):
            return [
                tally
                for tally in map(self._at_home, self._conditional())
                if tally.support(self._thresholds) >= MIN_PARTED * (1 + tally.against)
                and self._stands(tally)
            ]
        found = self._choose(self._trial.whole, range(len(self._merges)), 1, self._rivals)
        chosen = [self._narrowed(self._localized(tally)) for tally in found]
        chosen = list(map(self._at_home, chosen or self._conditional()))
        return [
            tally
            for tally in chosen
            if (tally is self._trial.whole or self._stands(tally))
            and not self._is_of_some_values(tally)
            and self._luck(tally) <= self._chance
            and not self._is_luckiest(tally)
        ]

    @cached_property
    def _rivals(self) -> int:
        """How many values of a parameter may be right by luck in some part, this one among them."""
        return max((len(self._groups.values_of(name)) for name in self._trial.valued), default=1)

    def _luck(self, tally: Tally) -> float:
        """Return how probable it is that as many pages agree under the likeliest of its siblings.

        All siblings that are right at times count as tried.
        """
        if self._trial.known > 0 or not (luck := self._trial.luck_of_siblings):
            return 0.0
        return len(luck) * max(luck) ** tally.support(self._thresholds)

    def _is_luckiest(self, tally: Tally) -> bool:
        """Tell whether this word or value may only be the luckiest of all in its place.

        The last part of a thing always is: no other part is shown as the thing itself.
        """
        trial, rate = self._trial, self._groups.rate_of_change
        return trial.known <= 0 and any(
            of.is_last or not self._thresholds.special_word(of.own, of.pooled, of.rivals, rate)
            for of in siblings(self._groups, trial.candidate, trial.changes, tally.scope)
        )

    def _is_of_some_values(self, tally: Tally) -> bool:
        """Tell whether what goes makes no difference with some values only, such as a default.

        With one that is where all evidence has this value, though there are so many URLs with other
        ones that some of them should have shown it too. Of a parameter that makes a difference
        elsewhere, such as the name of an action, one URL with another value is enough. A date is no
        default either: where all are of one day, it is that of the crawl.
        """
        trial, scope = self._trial, tally.scope
        if trial.known <= 0 and has_silent_word(
            trial.candidate, *trial.within(scope), self._chance
        ):
            return True
        matters = tally is not trial.whole and trial.whole.lost > 0
        for name in trial.any_value:
            value = only_value(name, trial.supporting(scope), trial.shows)
            if value is None:
                if trial.known <= 0 and fall_apart(
                    name,
                    trial.supporting(scope),
                    trial.shows,
                    [each for each in trial.changes.items() if scope.holds(each[1])],
                    is_seen=self._groups.pages.__contains__,
                    chance=self._chance,
                ):
                    return True
                if trial.known <= 0 and not self._holds_without_default(name, scope):
                    return True
                continue
            if trial.known <= 0 and is_date(value_of(value)):
                return True
            if not may_be_default(name, value_of(value)):
                continue
            inside, changed = trial.within(scope)
            showing = sum(value in source.params for source in inside if trial.shows(source))
            count = sum(value in source.params for source in changed)
            named = sum(name in map(name_of, source.params) for source in changed)
            if (matters and count < named) or is_telling(showing, count, named, self._chance):
                return True
        return False

    def _holds_without_default(self, name: str, scope: Scope) -> bool:
        """Tell whether a parameter may go by what others of its values than the default show.

        What most of the evidence has may be the default. Where others differ at times, what it
        shows is none for them, though captures of the site change as often.
        """
        showing = [
            ({value_in(source, name) for source in merge.sources} - {None}, merge)
            for merge in self._merges
            if scope.holds(merge.target)
        ]
        evidence = [values for values, merge in showing if merge.pages]
        count = Counter(value for values in evidence for value in values)
        default = next((value for value, times in count.items() if 2 * times > len(evidence)), None)
        if default is None:
            return True
        rest = self._trial.tally(scope, (merge for values, merge in showing if values != {default}))
        return not rest.lost or self._is_enough(rest, rest.support(self._thresholds))

    def _stands(self, tally: Tally) -> bool:
        """Tell whether the candidate holds where it acts on the URLs of a scope only.

        The merges of a scope are those within it. Of others, the rule would still make one what
        is inside, and make it what stands outside.
        """
        inside = {s: target for s, target in self._trial.changes.items() if tally.scope.holds(s)}
        lost = self._trial.tally(tally.scope, self._groups.merges(inside))
        return self._is_enough(lost, tally.support(self._thresholds))

    def _is_enough(self, tally: Tally, pages: int) -> bool:
        return pages > 0 and self._thresholds.accept(
            pages - self._trial.fitted + self._trial.known,
            tally.lost,
            changes=tally.changes(self._thresholds),
            rate=self._groups.rate_of_change,
            is_choice=self._trial.is_choice,
            is_host=self._is_host_wide,
        )

    def _is_enough_by_itself(self, tally: Tally, pages: int) -> bool:
        """Tell whether the candidate holds under a parameter by what is found under it alone.

        What selects content elsewhere may do so here: that captures changed is to be beyond doubt.
        """
        if not (self._trial.is_content and tally.lost and tally.scope.condition):
            return False
        alone, odds = self._trial.by_itself(tally.scope), 1.0 / self._chance
        rate = self._groups.rate_of_change
        return self._is_enough(alone, pages) and rate.explains(
            alone.changed, alone.unclear, alone.far, odds
        )

    def _tells_apart(self, tally: Tally) -> bool:
        """Tell whether what goes tells things apart somewhere in a scope."""
        if self._trial.known > 0 or not (tally.lost and self._trial.any_value):
            return False
        merges = (merge for merge in self._merges if tally.scope.holds(merge.target))
        return tell_things_apart(self._trial.any_value, merges, self._chance)

    def _at(self, numbers: Iterable[int]) -> Iterator[Merge]:
        """Yield the merges with some numbers."""
        return map(self._merges.__getitem__, numbers)

    def _choose(
        self, tally: Tally, merges: Sequence[int], depth: int, alternatives: int
    ) -> list[Tally]:
        """Return the widest scopes, from that of the tally down, in which the candidate holds.

        :param merges: the numbers of those in the tally.
        """
        whole = tally.scope.is_expressible and self._holds(tally, alternatives)
        if whole and not tally.lost:
            return [tally]
        parts = self._parts(merges, depth) if len(tally.pages) > 1 else {}
        tallies = {
            scope: self._trial.tally(scope, self._at(found)) for scope, found in parts.items()
        }
        tallies = {scope: part for scope, part in tallies.items() if part.pages}
        alternatives += len(tallies)
        chosen = [
            found
            for scope in sorted(tallies)
            for found in self._choose(tallies[scope], parts[scope], depth + 1, alternatives)
        ]
        if not whole:
            return chosen
        kept, lost = sum(part.merges for part in chosen), sum(part.lost for part in chosen)
        return chosen if kept >= 0.9 * tally.merges and lost <= tally.lost else [tally]

    def _parts(self, merges: Iterable[int], depth: int) -> dict[Scope, array[int]]:
        """Return the parts of a scope, ``depth`` steps below the domain, with their merges."""
        parts: dict[Scope, array[int]] = {}
        for number in merges:
            scope = self._trial.scope_of(number, depth)
            if scope is not None:
                parts.setdefault(scope, array("i")).append(number)
                if len(parts) > MAX_PARTS:
                    return {}
        return parts

    def _holds(self, tally: Tally, alternatives: int) -> bool:
        pages, whole = tally.support(self._thresholds), self._trial.whole
        if not (self._is_enough(tally, pages) or self._is_enough_by_itself(tally, pages)):
            return False
        tells_apart = self._tells_apart(tally)
        if tally is whole:
            self._is_of_parts = tells_apart
        elif not (tells_apart or self._is_of_parts):
            # Pages that have changed are in some part, too.
            return self._thresholds.special(
                pages - self._trial.fitted,
                tally.against,
                whole.support(self._thresholds),
                whole.against,
                alternatives,
            )
        return not tells_apart

    def _localized(self, tally: Tally) -> Tally:
        """Return the tally of the part of a scope that all of its evidence is in.

        A parameter of that name may mean something else in the others, whichever of its values were
        seen there. Where they have no URL of that kind it stays as it is, but for a parameter that
        is one of a single script: where a crawl meets it elsewhere it is another one. So it is with
        the words that led to a thing: a search, to which the crawl may not have come, shows others.
        """
        trial, scope, pages_of = self._trial, tally.scope, self._merges.pages
        if scope.condition:
            return tally
        names = (*trial.any_value, *trial.valued)
        is_new = trial.known <= 0 and bool(names)
        is_searched = is_new and any(SEARCHED_OR_Q.fullmatch(name) for name in names)
        urls = self._groups.site.locations
        evidence = [
            n for n, to in enumerate(self._merges.targets) if pages_of(n) and scope.holds(to)
        ]
        having = (*trial.changes, *self._groups.with_any(trial.valued))
        inside = [url for url in having if scope.holds(url)]
        for depth in count():
            part = self._part_of_all(evidence, depth)
            if part is None or not part.is_expressible or (self._is_host_wide and part.segments):
                break
            left = [url for url in inside if part.holds(url)]
            if (
                len(left) < len(inside)
                or (is_searched and part.segments)
                or (is_new and is_of_one_path(part.segments, inside, urls, self._chance))
            ):
                scope, inside = part, left
        merges = (merge for merge in self._merges if scope.holds(merge.target))
        return tally if scope == tally.scope else trial.tally(scope, merges)

    def _at_home(self, tally: Tally) -> Tally:
        """Return the tally of the directory of the one user whose pages are all of the evidence.

        What is right of pages that one user of a server made says nothing of those of others.
        """
        merges, scope = self._merges, tally.scope
        if scope.segments or self._is_host_wide:
            return tally
        evidence = (
            to for n, to in enumerate(merges.targets) if merges.pages(n) and scope.holds(to)
        )
        home = home_of(next((to.path for to in evidence), "/"))
        if home == "/" or any(home_of(to.path) != home for to in evidence):
            return tally
        narrow = scope._replace(segments=(home.strip("/"),))
        return self._trial.tally(narrow, (merge for merge in merges if narrow.holds(merge.target)))

    def _part_of_all(self, merges: Iterable[int], depth: int) -> Scope | None:
        """Return the scope so far from the widest that some merges are in, if that is one."""
        found: Scope | None = None
        for number in merges:
            scope = self._trial.scope_of(number, depth)
            if scope is None or scope != (found := found or scope):
                return None
        return found

    def _narrowed(self, tally: Tally) -> Tally:
        """Return the tally of those URLs only that have what all of its evidence has."""
        if tally.scope.condition or self._is_host_wide:
            return tally
        condition = self._kind_of_evidence(tally.scope)
        if not condition:
            return tally
        narrow = tally.scope._replace(condition=condition)
        return self._trial.tally(narrow, (m for m in self._merges if narrow.holds(m.target)))

    def _kind_of_evidence(self, scope: Scope) -> str:
        """Return the condition that tells all evidence in a scope from other kinds of URLs."""
        common_to_all = common_conditions(self._trial.supporting(scope)) - {scope.condition}
        if not common_to_all:
            return ""
        inside, changed = self._trial.within(scope)
        valued = filter(scope.holds, self._groups.with_any(self._trial.valued))
        return condition_of_kind(
            [scope._replace(condition=one) for one in sorted(common_to_all)[:MAX_PARTS]],
            len(inside),
            changed,
            is_all=any({*map(name_of, url.params)}.issubset(self._trial.valued) for url in valued),
            chance=self._chance,
        )

    def _conditional(self) -> list[Tally]:
        """Return the parameters under which the candidate holds, though not without them."""
        found: dict[str, array[int]] = {}
        for number, merge in enumerate(self._merges):
            for param in conditions_of(merge):
                found.setdefault(param, array("i")).append(number)
        likely = sorted(found, key=lambda param: (-len(found[param]), param))[:MAX_PARTS]
        tallies = [
            self._trial.tally(Scope(self._groups.site.domain, (), param), self._at(found[param]))
            for param in likely
            if len(found[param]) > 1
        ]
        tallies = [tally for tally in tallies if tally.pages and tally.scope.is_expressible]
        holding: list[Tally] = []
        covered: set[Location] = set()
        for tally in tallies:
            targets = {self._merges.targets[number] for number in found[tally.scope.condition]}
            # Of two parameters that stand in the same URLs one is enough.
            if targets <= covered or not self._holds(tally, len(tallies)):
                continue
            # A scope has one condition. It cannot leave out another kind, which has shown nothing.
            if not self._kind_of_evidence(tally.scope):
                holding.append(tally)
                covered |= targets
        return sorted(holding, key=lambda tally: tally.scope)
