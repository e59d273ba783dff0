"""From the duplicates of one site to its rewrite rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.allow_list import allow_lists
from scrapy_urlcanon.learn.declared import declared_canonicals, promised_pages
from scrapy_urlcanon.learn.emission import Accepted
from scrapy_urlcanon.learn.evidence import DEFAULT_THRESHOLDS, Thresholds
from scrapy_urlcanon.learn.generalize import template_proposals
from scrapy_urlcanon.learn.groups import Groups
from scrapy_urlcanon.learn.hosts import host_proposals
from scrapy_urlcanon.learn.location import name_of, value_of
from scrapy_urlcanon.learn.operations import PATH_OPTIONS, DropParam, DropValue, apply_all
from scrapy_urlcanon.learn.proposals import (
    MAX_PAGES,
    MIN_PROPOSERS,
    Candidate,
    may_be_default,
    proposals,
)
from scrapy_urlcanon.learn.substitution import substitution_proposals
from scrapy_urlcanon.learn.template import Rewrite
from scrapy_urlcanon.learn.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.operations import Operation
    from scrapy_urlcanon.learn.scope import Scope
    from scrapy_urlcanon.learn.site import Site
    from scrapy_urlcanon.learn.trial import Tally

#: Candidates tried in one round. Beyond them are the values of content parameters.
MAX_CANDIDATES = 120

#: Values of one parameter that are tried as its default.
MAX_VALUES = 12

#: Rules of one site that are listed apart.
MAX_UNSURE = 10

#: Each round works on what the rules of the last one left; four settle all sites that we have seen.
MAX_ROUNDS = 4


class Miner:
    """Finds the rewrite rules of one site, one accepted candidate after the other."""

    def __init__(self, site: Site, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> None:
        self.site = site
        self.thresholds = thresholds
        self._flawless = replace(thresholds, lost=0.0)
        self.canonicals = declared_canonicals(site, thresholds)
        self.groups = Groups(site, promised_pages(site, self.canonicals))
        self.accepted: list[Accepted] = []
        self._failed: dict[Candidate, Accepted] = {}

    def run(self) -> None:
        """Accept what can be accepted; :attr:`groups` then holds what the rules leave."""
        for _ in range(MAX_ROUNDS):
            found = proposals(self.groups)
            found.update(host_proposals(self.groups))
            plain = self._round(found)
            failed = dict(self._failed)
            shapes = template_proposals(self.groups)
            shapes.update(substitution_proposals(self.groups))
            if not self._round(shapes) and not plain:
                self._failed.update(failed)
                break
        self._keep_params()
        self.groups.forget_index()

    def _keep_params(self) -> None:
        """Accept the lists of parameters to keep that lose no page."""
        for scope, candidate, pages in list(
            allow_lists(self.groups, self._dropped, self.thresholds)
        ):
            trial = Trial(self.groups, candidate, pages, scope)
            tally = trial.whole
            if not tally.lost and self._flawless.accept(tally.support(self.thresholds), 0):
                self._accept(trial, tally)

    def _dropped(self, scope: Scope) -> set[str]:
        """Return the names of the parameters that are dropped in a scope."""
        return {
            step.name
            for accepted in self.accepted
            for step in accepted.operations
            if isinstance(step, DropParam) and accepted.scope.contains(scope)
        }

    def _round(self, found: dict[Candidate, set[int]]) -> bool:
        self.groups.forget_index()
        # On a large site what a thousandth of the duplicates suggests is not worth a rule.
        least = max(MIN_PROPOSERS, min(len(self.groups.duplicates()), MAX_PAGES) // 1000)
        candidates = [c for c, pages in found.items() if len(pages) >= least]
        # Names before values: what a parameter's name explains needs no list of its values.
        candidates.sort(key=lambda c: (_values(c), len(c), -len(found[c]), _grows(c), _text(c)))
        candidates = list(_few_values(_one_way(candidates)))
        self._failed.clear()
        del candidates[MAX_CANDIDATES:]
        # First those without any counter-example: what they explain is no longer there for a more
        # general one that explains it at a loss.
        accepted, flawed = False, []
        for candidate in candidates:
            trial = Trial(self.groups, candidate, found[candidate])
            if self._accept_all(trial, self._flawless):
                accepted = True
            elif not _numbers_parts(candidate) and trial.accepted(self.thresholds):
                flawed.append(candidate)
            else:
                self._remember(trial)
            # It holds what it changes: a million URLs, and not beside those of the next one.
            del trial
        for candidate in flawed:
            trial = Trial(self.groups, candidate, found[candidate])
            if self._accept_all(trial, self.thresholds):
                accepted = True
            else:
                self._remember(trial)
            del trial
        return accepted

    def _accept_all(self, trial: Trial, thresholds: Thresholds) -> bool:
        tallies = trial.accepted(thresholds)
        for tally in tallies:
            self._accept(trial, tally)
        return bool(tallies)

    def _remember(self, trial: Trial) -> None:
        evidence = trial.whole.evidence(self.thresholds)
        self._failed[trial.candidate] = Accepted(trial.whole.scope, trial.candidate, evidence)

    def unsure(self) -> list[Accepted]:
        """Return what failed by so little that somebody who knows the site may want to see it."""
        likely = [
            failed
            for failed in self._failed.values()
            if len(failed.operations) == 1 and self.thresholds.consider(failed.evidence)
        ]
        likely.sort(key=lambda failed: (-failed.evidence.merges, _text(failed.operations)))
        return likely[:MAX_UNSURE]

    def _accept(self, trial: Trial, tally: Tally) -> None:
        evidence = tally.evidence(self.thresholds)
        scope, changes = tally.scope, trial.changes
        if tally is not trial.whole:
            # Another part may have been accepted since the trial.
            changes = {
                source: target
                for source, target in changes.items()
                if scope.holds(source) and source in self.groups.pages
            }
        operations = tuple(_as_seen(step, changes) for step in trial.candidate)
        self._insert(Accepted(scope, operations, evidence))
        self.groups.apply(changes)

    def _insert(self, new: Accepted) -> None:
        """Add what was accepted where it acts in the order of the catalogue.

        There the path is normalized before templates look at it, so that those which were found
        before this have to be said of what it leaves.
        """
        steps = [o for o in new.operations if o.option in PATH_OPTIONS]
        if not steps:
            self.accepted.append(new)
            return
        before: list[Accepted] = []
        after: list[Accepted] = []
        for accepted in self.accepted:
            rewrite = accepted.operations[0]
            if not isinstance(rewrite, Rewrite):
                (after or before).append(accepted)
                continue
            for step in steps:
                rewrite = rewrite.after(step)
            said = accepted._replace(operations=(rewrite,))
            if new.scope.contains(accepted.scope):
                after.append(said)
                continue
            after.append(accepted)
            if accepted.scope.contains(new.scope):
                after.append(said._replace(scope=new.scope))
        self.accepted = [*before, new, *after]

    def form(self, location: Location) -> Location:
        """Return what the accepted rules make of a URL, seen or not."""
        for scope, operations, _ in self.accepted:
            if scope.holds(location):
                location = apply_all(operations, location)
        return location


def _as_seen(step: Operation, changes: Iterable[Location]) -> Operation:
    """Return what drops the one value of a parameter, where no other was seen.

    ``assignedto=-1`` says nothing about ``assignedto=7``.
    """
    if not isinstance(step, DropParam):
        return step
    seen = {param for source in changes for param in source.params if name_of(param) == step.name}
    if len(seen) != 1 or not may_be_default(step.name, value := value_of(seen.pop())):
        return step
    return DropValue(step.name, value)


def _grows(candidate: Candidate) -> bool:
    """Whether the candidate is a template that makes URLs longer.

    Its reverse is as good, and its result is the one linked.
    """
    return any(isinstance(o, Rewrite) and len(o.target) >= len(_unclassed(o)) for o in candidate)


def _one_way(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates but for templates that make URLs longer and have their reverse."""
    candidates = list(candidates)
    pairs = {(_unclassed(o), o.target) for c in candidates for o in c if isinstance(o, Rewrite)}
    for candidate in candidates:
        step = candidate[0]
        if (
            not isinstance(step, Rewrite)
            or not _grows(candidate)
            or (
                len(_unclassed(step)) == len(step.target)
                or (step.target, _unclassed(step)) not in pairs
            )
        ):
            yield candidate


def _numbers_parts(candidate: Candidate) -> bool:
    """Whether the candidate drops the number of a page: one counter-example is a second page."""
    return any(isinstance(step, Rewrite) and step.dropped_parts for step in candidate)


def _unclassed(rewrite: Rewrite) -> str:
    """Return the first template as it would stand in the place of the second."""
    return rewrite.source.replace(":digits", "").replace(":path", "")


def _values(candidate: Candidate) -> int:
    return sum(isinstance(operation, DropValue) for operation in candidate)


def _few_values(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates, of each parameter with its likeliest default values only."""
    seen: Counter[str] = Counter()
    for candidate in candidates:
        names = [operation.name for operation in candidate if isinstance(operation, DropValue)]
        seen.update(names)
        if all(seen[name] <= MAX_VALUES for name in names):
            yield candidate


def _text(candidate: Candidate) -> str:
    return repr(candidate)
