"""Learns the rewrite rules of one site from its duplicates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.candidates import MIN_PROPOSERS, Duplicates, collect
from scrapy_urlcanon.learn.candidates.allow_lists import allow_lists
from scrapy_urlcanon.learn.candidates.differences import differing_options
from scrapy_urlcanon.learn.candidates.hosts import other_hosts
from scrapy_urlcanon.learn.candidates.selection import select
from scrapy_urlcanon.learn.candidates.sizes import usual_sizes
from scrapy_urlcanon.learn.candidates.substitutions import (
    paths_in_parameters,
    substitutions_of_paths,
)
from scrapy_urlcanon.learn.candidates.templates import pairs_of_templates
from scrapy_urlcanon.learn.canonicals import declared_canonicals, promised_pages
from scrapy_urlcanon.learn.classes.coverage import Share
from scrapy_urlcanon.learn.classes.shapes import templates_of
from scrapy_urlcanon.learn.groups import Groups, as_it_is
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.location import locate, name_of, value_of
from scrapy_urlcanon.learn.operations.base import apply_all
from scrapy_urlcanon.learn.operations.parameters import DropParam
from scrapy_urlcanon.learn.rates import ANY_RATE, Pairs, Rates, Seen
from scrapy_urlcanon.learn.results.accepted import Accepted, Applied, in_order, inserted, unsettled
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS, Record, Thresholds, worth
from scrapy_urlcanon.learn.trials.scopes import ScopeSearch
from scrapy_urlcanon.learn.trials.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from scrapy_urlcanon.canonicalizer import Canonicalizer
    from scrapy_urlcanon.learn.candidates import Candidate
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.rates import Rate
    from scrapy_urlcanon.learn.scope import Scope
    from scrapy_urlcanon.learn.site import Site
    from scrapy_urlcanon.learn.thresholds import Prior, Tally

    Maker = Callable[[Duplicates], Iterator[tuple[Candidate, int]]]

MAX_TARGETS = 10_000
"""Of more URLs a sample of about this size is looked at."""

MAX_UNSURE = 10
"""How many unsure rules of one site are listed."""

MAX_ROUNDS = 4
"""The most rounds. Each works on the forms that the rules of the last one left; no site that we
have seen needs more."""

MAX_ORDERS = 3
"""How often the rules are put into the order of the catalogue and mining goes on: in that order
they may leave more to learn."""

_MAX_DIGITS = 9
"""How many digits the number of a version may have."""

# What proposes candidates: single options first, then pairs of templates for what these leave.
_OPTIONS = (differing_options, other_hosts, usual_sizes)
_TEMPLATES = (pairs_of_templates, substitutions_of_paths, paths_in_parameters)


class Miner:
    """Finds the rewrite rules of one site.

    In each round all candidates are proposed and tried, those without a counter-example first. An
    accepted candidate changes the forms of URLs, on which the next ones are tried.
    """

    def __init__(
        self, site: Site, thresholds: Thresholds = DEFAULT_THRESHOLDS, prior: Prior | None = None
    ) -> None:
        self.site = site
        self.thresholds = thresholds
        self._prior = prior
        self._flawless = replace(thresholds, lost=0.0, restless=0.0)
        self._promised = promised_pages(site, declared_canonicals(site, thresholds))
        self.groups = Groups(site, self._promised)
        self.accepted: list[Accepted] = []
        self.shares_seen: list[Share] = []
        """For each accepted rule and class of URLs: how many of the URLs that the rule produces the
        crawl has seen."""
        self._failed: dict[Candidate, Accepted] = {}
        # Failed templates with counter-examples.
        self._refused: dict[Candidate, Record] = {}
        self._rates = Rates(thresholds.confidence)
        self._rates_of_far = Rates(thresholds.confidence)
        self._start: Callable[[Location], Location] = as_it_is

    def start_under(self, rules: Canonicalizer) -> None:
        """Apply *rules*, those of the crawl and of the preset, before anything is learned.

        No rule is learned for what they do. Besides, a crawl under rules has few duplicates, those
        that its audits fetched, which would look like evidence for other rules.
        """

        def form(location: Location) -> Location:
            if not location.origin.scheme:
                return location
            url = location.url
            canonical = rules.canonicalize(url)
            return location if canonical == url else locate(canonical)

        self._start = form
        self._apply(form)

    def run(self) -> None:
        """Accept all rules that hold; :attr:`groups` then has the forms that they produce."""
        for _ in range(MAX_ORDERS):
            self._mine()
            if not self._puts_in_order():
                break
        self._keep_params()
        self.groups.forget_index()

    def _puts_in_order(self) -> bool:
        """Apply the accepted rules in the order of the catalogue, if that makes a difference.

        A rules file is applied in that order only. For example, if a template rewrites
        ``/a?tab=files`` to ``/a/files`` before ``tab=readme`` is dropped, a rule for ``/a/readme``
        is needed too.

        :return: whether it made a difference, so that there may be more to learn.
        """
        ordered = in_order(self.accepted)
        templates = [one for one in ordered if one.is_template]
        step = 1 + len(self.site.locations) // MAX_TARGETS
        some = map(self._start, islice(self.site.locations, 0, None, step))
        now, then = Applied(self.accepted), Applied(ordered)
        return any(
            now.settled(url) != then.settled(url)
            for url in some
            # The order only matters to URLs that a template changes.
            if any(one.apply(url) != url for one in templates)
        ) and self._begins_anew(ordered)

    def _mine(self) -> None:
        """Try all candidates, round by round, until a round accepts none."""
        for _ in range(MAX_ROUNDS):
            found = self._round(_OPTIONS)
            failed = dict(self._failed)
            if not self._round(_TEMPLATES) and not found:
                self._failed.update(failed)
                break

    def _keep_params(self) -> None:
        """Accept the ``keep_params`` lists that lose no page."""
        for scope, step, pages in list(allow_lists(self.groups, self._dropped, self.thresholds)):
            if not step.is_valid:
                continue
            trial = Trial(self.groups, (step,), pages, scope)
            tally = trial.whole
            if not tally.lost and self._flawless.is_enough(tally.support(self.thresholds)):
                self._accept(trial, tally)

    def _dropped(self, scope: Scope) -> set[str]:
        """Return the names of the parameters that are dropped in a scope."""
        return {
            name
            for accepted in self.accepted
            if accepted.scope.contains(scope)
            for step in accepted.operations
            if step.default is None
            for name in step.drops
        }

    def _round(self, makers: Iterable[Maker]) -> bool:
        """Try all candidates of *makers*; tell whether any was accepted."""
        self.groups.forget_index()
        duplicates = Duplicates(self.groups)
        found = collect(chain.from_iterable(maker(duplicates) for maker in makers))
        candidates = select(found, self.groups, self._known)
        self._failed.clear()
        self._refused.clear()
        # First those without any counter-example, lest more general candidates that lose pages
        # explain the same duplicates.
        accepted = False
        clean: list[Candidate] = []
        flawed: list[Candidate] = []
        self.groups.rate_of_change = ANY_RATE
        for candidate in candidates:
            trial = Trial(self.groups, candidate, found[candidate], known=self._known(candidate))
            whole = trial.whole
            differing, some = trial.merges.differing(), tuple(islice(trial.changes, 1))
            self._rates.add(candidate, Seen(whole.unbiased, whole.agreeing, whole.moved))
            far = Seen(whole.unbiased, whole.agreeing, whole.far_moved)
            self._rates_of_far.add(candidate, far)
            if self._accept_all(trial, self._flawless):
                self._add_pairs(candidate, whole, differing, some)
                accepted = True
            elif (
                not any(step.is_for_listings for step in candidate)
                and ScopeSearch(trial, self.thresholds).accepted()
            ):
                self._add_pairs(candidate, whole, differing, some)
                # One without counter-examples was refused above because of its siblings.
                (flawed if whole.lost or whole.moved else clean).append(candidate)
            else:
                self._remember(trial)
            # It may hold a million URLs: free it before the next one is made.
            del trial
        for candidate in (*clean, *flawed):
            self.groups.rate_of_change = self.rate_beside(candidate)
            trial = Trial(self.groups, candidate, found[candidate], known=self._known(candidate))
            is_choice = self.groups.rate_of_change.is_alone and self._defaults(
                candidate, trial.whole.scope
            )
            if not is_choice and self._accept_all(trial, self.thresholds):
                accepted = True
            else:
                self._remember(trial)
            del trial
        return accepted

    def _add_pairs(
        self,
        candidate: Candidate,
        whole: Tally,
        differing: frozenset[Location],
        some: tuple[Location, ...],
    ) -> None:
        """Add what a candidate that may be right shows about the rate of change."""
        for rates, changed in ((self._rates, whole.changed), (self._rates_of_far, whole.far)):
            agree = whole.unclear - changed
            rates.add_pairs(candidate, Pairs(agree, changed, differing, some))

    def rate_beside(
        self,
        candidate: Candidate,
        changed: Mapping[Location, Location] = MappingProxyType({}),
    ) -> Rate:
        """Return the rate of change, as estimated without one candidate.

        :param changed: as for :meth:`Rates.beside`.
        """
        far = self._rates_of_far.beside(candidate, changed)
        return self._rates.beside(candidate, changed).of_which(far)

    def _known(self, candidate: Candidate) -> int:
        """Return how many pages prior knowledge about the candidate's weakest step is worth."""
        if self._prior is None:
            return 0
        return min(worth(self._prior(step.option.name, step.setting)) for step in candidate)

    def _defaults(self, candidate: Candidate, scope: Scope) -> set[str]:
        """Return other accepted defaults, in *scope*, of the parameters that the candidate drops.

        A second default is suspicious. If nothing else tells the rate of change, its
        counter-examples may be content that the parameter selects.
        """
        values = {step.drops: step.default for step in candidate if step.default is not None}
        return {
            f"{name}={step.default}"
            for accepted in self.accepted
            for step in accepted.operations
            if step.default is not None and values.get(step.drops, step.default) != step.default
            if accepted.scope.contains(scope) or scope.contains(accepted.scope)
            for name in step.drops
        }

    def _is_category(self, trial: Trial, scope: Scope) -> bool:
        """Tell whether the candidate drops a second value that never occurs with the first one.

        Then the values are categories, each of its own things: ``/shoe/7?category=shoes`` and
        ``/hat/3?category=hats`` are ``/shoe/7`` and ``/hat/3``, but ``/list?category=shoes`` is not
        ``/list?category=hats``.
        """
        if trial.known > 0 or not (defaults := self._defaults(trial.candidate, scope)):
            return False
        seen = (url for url in self.groups.site.locations if not defaults.isdisjoint(url.params))
        return {*trial.changes.values()}.isdisjoint(map(self.form, seen))

    def _is_latest_version(self, trial: Trial, scope: Scope) -> bool:
        """Tell whether the candidate drops a number that is that of the latest version of things.

        If ``/edit/7?v=3`` is ``/edit/7``, and ``/edit/8?v=2`` is ``/edit/8``, which has no third
        version, then ``v`` has no default: the next edit makes version 3 of the first an old one.
        """
        (step, *others) = trial.candidate
        default = _version(step.default or "")
        if others or default <= 1 or trial.known > 0:  # 1 may be a first page
            return False
        # By URL without the number: the largest number, and the URL with it.
        latest: dict[Location, tuple[int, Location]] = {}
        for url, bare in self.groups.affected([*map(DropParam, step.drops)], scope).items():
            number = max(_version(value_of(p)) for p in url.params if name_of(p) in step.drops)
            latest[bare] = max(latest.get(bare, (-1, url)), (number, url))
        fewer = [
            (bare, url)
            for bare, (number, url) in latest.items()
            if 0 <= number < default and bare in self.groups.pages
        ]
        other = sum(self.groups.shows_another(bare, url) for bare, url in fewer)
        same = sum(
            bool({*self.groups.pages_of(bare)} & {*self.groups.pages_of(url)} - {NO_EVIDENCE})
            for bare, url in fewer
        )
        return same >= MIN_PROPOSERS and same > other

    def _is_part_of_refused(self, trial: Trial, tally: Tally) -> bool:
        """Tell whether a candidate may be just the luckiest part of a refused template.

        If ``/{rest:path}/groups`` -> ``/{rest}`` was refused, the counter-examples of
        ``/{a}/groups`` are not put down to pages that changed, unless they are significantly fewer.
        """
        lost, own = tally.against, tally.support(self.thresholds)
        if not lost or trial.known > 0:
            return False
        return any(
            not self.thresholds.special(own, lost, max(own, pages), max(lost, of_lost), 1)
            for candidate, (pages, of_lost, _) in self._refused.items()
            if all(
                apply_all(candidate, url) == to
                for url, to in trial.changes.items()
                if tally.scope.holds(url)
            )
        )

    def _accept_all(self, trial: Trial, thresholds: Thresholds) -> bool:
        tallies = [
            tally
            for tally in ScopeSearch(trial, thresholds).accepted()
            if not (
                self._is_led_back(trial, tally)
                or self._is_part_of_refused(trial, tally)
                or self._is_category(trial, tally.scope)
                or self._is_latest_version(trial, tally.scope)
                or self._asks_for_what_is_gone(tally.scope)
            )
        ]
        if tallies:
            trial.forget_merges()
        accepted = [self._accept(trial, tally) for tally in tallies]
        return any(accepted)

    def _asks_for_what_is_gone(self, scope: Scope) -> bool:
        """Tell whether *scope* has a condition on a parameter that an accepted rule drops there.

        In a rules file a condition is tested on the URL as linked, which still has the parameter.
        The trial was made on URLs without it.
        """
        if not scope.condition:
            return False
        name, _, value = scope.condition.partition("=")
        place = scope._replace(condition="")
        return any(
            name in step.drops and (value == "*" or step.default in {None, value})
            for accepted in self.accepted
            if place.contains(there := accepted.scope._replace(condition=""))
            or there.contains(place)
            for step in accepted.operations
        )

    def _is_led_back(self, trial: Trial, tally: Tally) -> bool:
        """Tell whether accepted templates undo what the candidate does, and have as much evidence.

        A rules file can have only one of the two.
        """
        new = Accepted(tally.scope, trial.candidate, tally.evidence(self.thresholds))
        return any(
            old.evidence.pages >= new.evidence.pages for old in unsettled(self.accepted, new)
        )

    def _remember(self, trial: Trial) -> None:
        whole = trial.whole
        evidence = whole.evidence(self.thresholds)
        if whole.against and trial.candidate[0].is_template:
            self._refused[trial.candidate] = Record(len(whole.pages), whole.against)
        self._failed[trial.candidate] = Accepted(whole.scope, trial.candidate, evidence)

    def unsure(self) -> list[Accepted]:
        """Return the candidates that failed narrowly, for somebody who knows the site to judge."""
        likely = [
            failed
            for failed in self._failed.values()
            if len(failed.operations) == 1 and self.thresholds.consider(failed.evidence)
        ]
        likely.sort(key=lambda failed: (-failed.evidence.merges, repr(failed.operations)))
        return likely[:MAX_UNSURE]

    def _accept(self, trial: Trial, tally: Tally) -> bool:
        """Accept the candidate of *trial*, and take back templates that would undo it.

        :return: whether it was accepted. It is not if other rules depend on these templates.
        """
        evidence = tally.evidence(self.thresholds)
        scope, changes = tally.scope, trial.changes
        if tally is not trial.whole:
            # The candidate may have been accepted in another scope since the trial.
            changes = {
                source: target
                for source, target in changes.items()
                if scope.holds(source) and source in self.groups.pages
            }
        operations = trial.candidate
        if trial.known <= 0:
            operations = tuple(step.as_seen(changes) for step in operations)
        new = Accepted(scope, operations, evidence).in_literals()
        against = unsettled(self.accepted, new)
        accepted = inserted((old for old in self.accepted if old not in against), new)
        if against:
            if not self._begins_anew(accepted, tally.against):
                return False
        else:
            self.accepted = accepted
            self._tell_templates()
            self.groups.apply(changes)
        self.shares_seen += self._shares_seen(dict.fromkeys(changes.values()))
        return True

    def _shares_seen(self, targets: Collection[Location]) -> Iterator[Share]:
        """Yield how many of *targets*, the URLs that a rule produces, the crawl has seen.

        It is counted for all and for each class of URLs, since the crawl may have seen a class in
        its other form only.
        """
        find = self.site.locations.find
        classes: dict[str, list[bool]] = {}
        for target in islice(targets, 0, None, 1 + len(targets) // MAX_TARGETS):
            is_seen = find(target) != NO_ROW
            for name in {"", next(templates_of(target), "")}:
                classes.setdefault(name, []).append(is_seen)
        return (Share(sum(seen), len(seen)) for seen in classes.values())

    def leading(self, led: Mapping[Location, bool]) -> frozenset[int]:
        """Return the numbers of the accepted templates that rewrite pages into a skipped class.

        :param led: URLs that end up in a skipped class, each with whether its page is also found
            outside the class.
        """
        found: Counter[int] = Counter()
        alone: Counter[int] = Counter()
        for url, is_elsewhere in led.items():
            location = self._start(url)
            for number, accepted in enumerate(self.accepted):
                before, location = location, accepted.apply(location)
                if accepted.is_template and location != before:
                    (found if is_elsewhere else alone)[number] += 1
        return frozenset(n for n in alone if not self.thresholds.accept_alias(found[n], alone[n]))

    def take_back(self, numbers: Collection[int]) -> bool:
        """Take back the accepted rules with these *numbers*; return whether that was possible."""
        return self._begins_anew(
            [a for number, a in enumerate(self.accepted) if number not in numbers]
        )

    def _begins_anew(self, accepted: list[Accepted], lost: int = 0) -> bool:
        """Replace the accepted rules by *accepted*, applied to the site from the start.

        That is refused if it merges more pages than before: a rule may be right only after another
        one. For example, once ``/a?color=red`` has become ``/a/red``, the URLs that still have
        ``color`` seem to show that it makes no difference. Without the first rule, that is wrong.

        :param lost: how many more merged pages are allowed.
        :return: whether the rules were applied.
        """
        before = self.accepted, self.groups
        self.accepted, self.groups = accepted, Groups(self.site, self._promised)
        self._tell_templates()
        self.groups.rate_of_change = before[1].rate_of_change
        self._apply(self.form)
        if self.groups.pages.confused > before[1].pages.confused + lost:
            self.accepted, self.groups = before
            return False
        self.groups.index(before[1].handles)
        return True

    def _tell_templates(self) -> None:
        """Give the groups the accepted templates, for URLs that only a candidate produces."""
        templates = Applied(one for one in self.accepted if one.is_template)
        self.groups.settled = templates.settled

    def _apply(self, form: Callable[[Location], Location]) -> None:
        self.groups.apply({one: to for one in self.groups.pages if (to := form(one)) != one})

    @property
    def form(self) -> Callable[[Location], Location]:
        """A function that returns what the rules accepted by now make of any URL."""
        start, settled = self._start, Applied(self.accepted).settled
        return lambda location: settled(start(location))


def _version(text: str) -> int:
    """Return the number of a version; -1 if it is none."""
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else -1
