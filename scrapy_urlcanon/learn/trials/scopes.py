"""Finds the scopes within which a candidate holds."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.url import home_of
from scrapy_urlcanon.learn.held.merges import common_conditions, conditions_of
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.rates import ODDS, ODDS_OF_SESSION, ODDS_OF_SOLE_VALUE
from scrapy_urlcanon.learn.scope import Scope
from scrapy_urlcanon.learn.trials.siblings import siblings
from scrapy_urlcanon.learn.trials.values import (
    are_editions,
    condition_of_kind,
    fall_apart,
    has_silent_value,
    has_silent_word,
    is_of_one_path,
    is_telling,
    only_value,
    tell_things_apart,
    value_in,
)
from scrapy_urlcanon.learn.vocabulary import (
    SEARCHED_OR_Q,
    is_date,
    is_name_of_thing,
    is_name_of_version,
    is_paging,
    is_session,
    may_be_default,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scrapy_urlcanon.learn.held.merges import Merge
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.thresholds import Tally, Thresholds
    from scrapy_urlcanon.learn.trials.trial import Trial

MAX_PARTS = 100
"""The most parts of a scope, and values of a condition, that are tried. A site that has more has
one for each page."""

MIN_PARTED = 20
"""How many pages must support dropping a parameter whose name usually means pagination, and how
many more for each page against it."""


class ScopeSearch:
    """Finds the widest scopes within which the candidate of a trial holds."""

    def __init__(self, trial: Trial, thresholds: Thresholds) -> None:
        self._trial = trial
        self._groups = trial.groups
        self._merges = trial.merges
        self._thresholds = thresholds
        self._chance = 1.0 - thresholds.confidence
        self._is_host_wide = all(step.is_host_wide for step in trial.candidate)
        # Whether the whole is refused only because a dropped parameter tells pages apart somewhere.
        # Then parts that hold do not hold by luck.
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
        """The number of values of the dropped parameter: any of them may hold somewhere by luck."""
        return max((len(self._groups.values_of(name)) for name in self._trial.valued), default=1)

    def _luck(self, tally: Tally) -> float:
        """Return the probability that as many pages agree by luck, as for the luckiest sibling.

        It is multiplied by the number of siblings that are sometimes right (Bonferroni).
        """
        if self._trial.known > 0 or not (luck := self._trial.luck_of_siblings):
            return 0.0
        return len(luck) * max(luck) ** tally.support(self._thresholds)

    def _is_luckiest(self, tally: Tally) -> bool:
        """Tell whether this word or value may only be the luckiest of all in its place.

        The number of the last part of a thing always is: only the last part is also shown under the
        URL without a number.
        """
        trial, rate = self._trial, self._groups.rate_of_change
        return trial.known <= 0 and any(
            of.is_last or not self._thresholds.special_word(of.own, of.pooled, of.rivals, rate)
            for of in siblings(self._groups, trial.candidate, trial.changes, tally.scope)
        )

    def _is_of_some_values(self, tally: Tally) -> bool:
        """Tell whether the dropped parameter is redundant with some values only, such as a default.

        That is so if all evidence has one value although URLs with other values are so many that
        some should be evidence too. If the parameter matters elsewhere, as the name of an action
        does, one URL with another value is enough. A date is never a default: if all evidence has
        one date, it is that of the crawl.
        """
        trial, scope = self._trial, tally.scope
        if trial.known <= 0 and (
            has_silent_word(trial.candidate, *trial.within(scope), self._chance)
            or are_editions(each for each in trial.changes.items() if scope.holds(each[0]))
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
                if trial.known <= 0 and not (
                    self._holds_without_default(name, scope)
                    and self._holds_for_versions(name, scope)
                    and not self._has_silent_value(name, tally)
                ):
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
        """Tell whether the evidence suffices without the most frequent value, a likely default.

        If URLs with other values are sometimes other pages, the default must not outvote them, even
        if captures of the site change as often.
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

    def _holds_for_versions(self, name: str, scope: Scope) -> bool:
        """Tell whether the evidence suffices by things that were seen in several versions.

        The last version of each text shows what is shown without a version. If the crawl has seen
        no earlier ones, nothing else tells that they are other texts.
        """
        if not is_name_of_version(name):
            return True
        several = self._trial.tally(
            scope,
            (
                merge
                for merge in self._merges
                if scope.holds(merge.target)
                and len({value_in(source, name) for source in merge.sources} - {None}) > 1
            ),
        )
        return self._thresholds.is_enough(several.support(self._thresholds), several.lost)

    def _has_silent_value(self, name: str, tally: Tally) -> bool:
        """Tell whether nothing is known about some value of a dropped parameter in a scope."""
        trial, scope = self._trial, tally.scope
        changed = Counter(
            value_in(source, name)
            for source, target in trial.changes.items()
            if scope.holds(target)
        )
        showing = Counter(
            value_in(source, name)
            for merge in trial.supporting(scope)
            for source in merge.sources
            if source in trial.changes and self._shows(source, merge.pages)
        )
        against = {
            value_in(source, name)
            for merge in (self._merges if tally is not trial.whole else ())
            if merge.agreement.lost and not scope.holds(merge.target)
            # Of two values that differ it is not known which one makes the difference.
            if merge.pages or any(value_in(source, name) is None for source in merge.sources)
            for source in merge.sources
            if not self._shows(source, merge.pages)
        }
        return has_silent_value(showing, changed, against, self._chance)

    def _shows(self, source: Location, pages: Collection[int]) -> bool:
        """Tell whether a URL shows one of these pages."""
        return not {*self._groups.pages_of(source)}.isdisjoint(pages)

    def _stands(self, tally: Tally) -> bool:
        """Tell whether the candidate holds if it is applied to the URLs of a scope only.

        The tally of a scope counts the merges within it. A rule for the scope also changes its URLs
        in merges that reach beyond it, and so may merge them with URLs outside.
        """
        inside = {s: target for s, target in self._trial.changes.items() if tally.scope.holds(s)}
        lost = self._trial.tally(tally.scope, self._groups.merges(inside))
        return self._is_enough(lost, tally.support(self._thresholds))

    def _is_enough(self, tally: Tally, pages: int) -> bool:
        return pages > 0 and self._thresholds.accept(
            pages - self._trial.fitted + self._trial.known,
            tally,
            self._groups.rate_of_change,
            odds=self._odds,
            is_choice=self._trial.is_choice,
            is_host=self._is_host_wide,
        )

    @cached_property
    def _odds(self) -> float:
        """How many times as likely as content it must be that captures changed."""
        names, values_of = (*self._trial.any_value, *self._trial.valued), self._groups.values_of
        if names and all(is_session(name, map(value_of, values_of(name))) for name in names):
            return ODDS_OF_SESSION
        is_sole = self._is_default() and all(len(values_of(name)) == 1 for name in names)
        return ODDS_OF_SOLE_VALUE if names and is_sole else ODDS

    def _is_enough_by_itself(self, tally: Tally, pages: int) -> bool:
        """Tell whether the candidate holds for URLs with a parameter, judged by these URLs alone.

        Since the dropped parameter selects content elsewhere, counter-examples are put down to
        changes only with high odds.
        """
        if not (self._trial.is_content and tally.lost and tally.scope.condition):
            return False
        alone, odds = self._trial.by_itself(tally.scope), 1.0 / self._chance
        rate = self._groups.rate_of_change
        return self._is_enough(alone, pages) and rate.explains(
            alone.changed, alone.unclear, alone.far, odds
        )

    def _tells_apart(self, tally: Tally) -> bool:
        """Tell whether a dropped parameter tells pages apart somewhere in a scope."""
        if self._trial.known > 0 or not (tally.lost and self._trial.any_value):
            return False
        merges = (merge for merge in self._merges if tally.scope.holds(merge.target))
        return tell_things_apart(self._trial.any_value, merges, self._chance)

    def _at(self, numbers: Iterable[int]) -> Iterator[Merge]:
        """Yield the merges with these numbers."""
        return map(self._merges.__getitem__, numbers)

    def _choose(
        self, tally: Tally, merges: Sequence[int], depth: int, alternatives: int
    ) -> list[Tally]:
        """Return the widest scopes in which the candidate holds, none wider than that of *tally*.

        :param merges: the numbers of the merges in the tally.
        :param depth: how far the scope is from the domain, in steps.
        :param alternatives: how many scopes were tried on the way, for the correction of
            confidence.
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
        """Return the parts of a scope, *depth* steps below the domain, with their merges."""
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
            # ``against`` includes pages that changed: they too fall into some part.
            return self._thresholds.special(
                pages - self._trial.fitted,
                tally.against,
                whole.support(self._thresholds),
                whole.against,
                alternatives,
            )
        return not tells_apart

    def _localized(self, tally: Tally) -> Tally:
        """Return the tally of the narrowest part of a scope that contains all of its evidence.

        In other parts a parameter of that name may mean something else. The scope is narrowed only
        if it has URLs with the parameter outside that part, with four exceptions: a parameter of a
        single script, since elsewhere in the crawl it would be another parameter; a value that may
        be the default of one section and not of the site; the terms of a search, since a search
        page that the crawl did not reach shows other results; and a name such as ``id``, which
        visitors may append to the links that they post, while a script that nobody linked yet
        selects its things by it.
        """
        trial, scope, pages_of = self._trial, tally.scope, self._merges.pages
        names = (*trial.any_value, *trial.valued)
        is_new = trial.known <= 0 and bool(names)
        is_searched = is_new and any(SEARCHED_OR_Q.fullmatch(name) for name in names)
        urls = self._groups.site.locations
        evidence = [
            n for n, to in enumerate(self._merges.targets) if pages_of(n) and scope.holds(to)
        ]
        having = (*trial.changes, *self._groups.with_any(trial.valued))
        inside = [url for url in having if scope.holds(url)]
        # Not if a template made some of these URLs: as they are linked, they may be elsewhere.
        is_own = (
            is_new
            and (self._is_default() or any(map(is_name_of_thing, names)))
            and NO_ROW not in map(urls.find, inside)
        )
        for depth in count():
            part = self._part_of_all(evidence, depth)
            if part is None or not part.is_expressible or (self._is_host_wide and part.segments):
                break
            left = [url for url in inside if part.holds(url)]
            if (
                len(left) < len(inside)
                or (is_searched and part.segments)
                or (is_own and part.segments and not all(map(part.holds, urls)))
                or (is_new and is_of_one_path(part.segments, inside, urls, self._chance))
            ):
                scope, inside = part, left
        merges = (merge for merge in self._merges if scope.holds(merge.target))
        return tally if scope == tally.scope else trial.tally(scope, merges)

    def _is_default(self) -> bool:
        """Tell whether one value of each parameter goes, which may be the default of one section.

        The number of a first part is none: it means the same everywhere.
        """
        values = (self._groups.values_of(name) for name in self._trial.any_value)
        names = (*self._trial.any_value, *self._trial.valued)
        return not any(is_paging(name, self._groups.site.worded) for name in names) and all(
            len(found) == 1 and may_be_default(name, value_of(*found))
            for name, found in zip(self._trial.any_value, values, strict=True)
        )

    def _at_home(self, tally: Tally) -> Tally:
        """Return the tally of one user's directory (``/~name/``) if all evidence is there.

        How the pages of one user of a server work says nothing about those of others.
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
        """Return the scope *depth* steps from the widest if it is the same for all these merges."""
        found: Scope | None = None
        for number in merges:
            scope = self._trial.scope_of(number, depth)
            if scope is None or scope != (found := found or scope):
                return None
        return found

    def _narrowed(self, tally: Tally) -> Tally:
        """Return the tally, narrowed by a condition that separates its evidence if there is one."""
        condition = "" if self._is_host_wide else self._kind_of_evidence(tally.scope)
        if not condition:
            return tally
        narrow = tally.scope._replace(condition=condition)
        return self._trial.tally(narrow, (m for m in self._merges if narrow.holds(m.target)))

    def _kind_of_evidence(self, scope: Scope) -> str:
        """Return a condition that the evidence in a scope meets and other kinds of URLs do not."""
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
        """Return scopes with a condition in which a candidate holds that does not in general."""
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
            # Of two parameters that are in the same URLs one is enough.
            if targets <= covered or not self._holds(tally, len(tallies)):
                continue
            # A scope has one condition, so it cannot also exclude another kind of URLs without
            # evidence.
            if not self._kind_of_evidence(tally.scope):
                holding.append(tally)
                covered |= targets
        return sorted(holding, key=lambda tally: tally.scope)
