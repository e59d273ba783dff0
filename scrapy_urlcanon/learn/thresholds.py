"""When the evidence for a rule is enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.confidence import at_most, at_most_drawn, lower_bound
from scrapy_urlcanon.learn.rates import NO_RATE, Rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.learn.results.rule import Evidence
    from scrapy_urlcanon.learn.scope import Scope


Prior: TypeAlias = "Callable[[str, object], float]"
"""What is known about rules before the site was seen. Given an option and its setting, such as
``("drop_params", ["sid"])``, it returns the natural logarithm of the odds that the rule is right,
compared with any other candidate: 0 is no knowledge, 3 is 20 to 1 for it, -3 is 20 to 1 against
it."""

MAX_WORTH = 20
"""How many pages prior knowledge is worth at most, for a rule or against it."""


def worth(log_odds: float) -> int:
    """Return how many pages without a counter-example say as much as prior knowledge.

    By the rule of succession: *n* pages that agree, and none that does not, make it n + 1 times as
    likely that all do.

    >>> worth(0.0), worth(1.4), worth(-1.4), worth(9.0)
    (0, 3, -3, 20)
    """
    pages = round(exp(min(abs(log_odds), 9.0)) - 1.0)
    return min(pages, MAX_WORTH) * (1 if log_odds > 0 else -1)


class Changes(NamedTuple):
    """How many counter-examples of a rule may only be pages that changed between two captures."""

    changed: int = 0
    """Counter-examples whose page was seen only once."""
    unclear: int = 0
    """How many URLs were compared where these were found."""
    moved: int = 0
    """Pages that were seen only once, beside many URLs that agree: not counted as counter-examples.
    """
    agreeing: int = 0
    """How many URLs agree there."""
    far: int = 0
    """Those of the changed ones whose text is another one altogether."""
    far_moved: int = 0
    """The same of the moved ones."""
    blurred: float = 0.0
    """How many pages are missing from the evidence because blurred pages count less than 1."""


NO_CHANGES = Changes()


class Record(NamedTuple):
    """How many pages speak for a rule, and how many against it."""

    pages: int
    lost: int
    far: int = 0
    """Those of the lost ones whose text is another one altogether."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How much evidence it takes to believe a rule.

    Evidence is counted in pages, not in pairs of URLs: a page that is found under forty URLs says
    no more about a rule than one that is found under two. A page speaks for a rule only if it is of
    another fold than the pages that proposed the rule; any page may speak against it.
    """

    confidence: float = 0.95
    """The confidence of all lower bounds."""
    precision: float = 0.36
    """The least lower bound of the share of right merges, for a rewrite: 0.36 takes 3 pages without
    a counter-example, 0.5 takes 5, 0.8 takes 14."""
    alias: float = 0.5
    """The same for skip templates and declared canonicals, which nobody can check by looking at
    the URL."""
    lost: float = 0.01
    """The largest share of counter-examples that is put down to pages that changed between two
    captures."""
    moved: float = 0.05
    """The same for ``www`` and the scheme. It is larger, since pages with a clock, a counter or
    their own address are never the same twice, while another site would differ on every page."""
    restless: float = 0.15
    """The largest rate of change that is put down to the pages, and not to the rules."""
    chance: float = 0.02
    """How probable it must be that captures which changed make so many counter-examples."""
    blurred: float = 0.25
    """How much a page counts as evidence that is also found under URLs which differ in some other
    value."""
    unsure: float = 0.3
    """Rules whose lower bound reaches only this are listed as unsure."""

    def accept(
        self,
        pages: int,
        lost: int,
        *,
        changes: Changes = NO_CHANGES,
        rate: Rate = NO_RATE,
        is_host: bool = False,
        is_choice: bool = False,
    ) -> bool:
        """Tell whether a rewrite is accepted, with so many pages for it and against it.

        :param changes: how many of those against it may only have changed between two captures.
        :param rate: how often captures of the site change.
        :param is_host: whether it drops ``www`` or the scheme.
        :param is_choice: whether it replaces one of few words of the path. Then differences are not
            put down to changes.
        """
        share = self.moved if is_host else self.lost
        # What differs more often than captures change is content.
        if self._is_restless(changes, rate) or (
            is_choice and changes.moved > self.moved * (pages + changes.moved)
        ):
            lost += changes.moved
        # The share itself is asked first: it is above the bound, which takes long to compute.
        if pages < self.precision * (pages + lost) or (
            lower_bound(pages, lost, self.confidence) < self.precision
        ):
            return False
        if lost <= share * (pages + changes.blurred + lost):
            return True
        hard = lost - changes.changed
        return (
            share > 0.0
            and not is_choice
            and hard <= share * (pages + hard)
            and self._may_be_chance(changes.changed, changes.unclear, self.restless)
            and rate.explains(changes.changed, changes.unclear, changes.far)
        )

    def _may_be_chance(self, lost: int, of: int, share: float) -> bool:
        """Tell whether as many of some are lost by chance where a share of all is."""
        return 1.0 - at_most(lost - 1, of, share) >= self.chance

    def _is_restless(self, changes: Changes, rate: Rate) -> bool:
        of = changes.moved + changes.agreeing
        return any(
            moved > 0 and not self._may_be_chance(moved, of, min(most, self.restless))
            for moved, most in ((changes.moved, rate.most), (changes.far_moved, rate.most_far))
        )

    def accept_alias(self, pages: int, lost: int) -> bool:
        """Tell whether a skip template is accepted, with so many pages for it and against it."""
        return (
            lost <= self.lost * (pages + lost)
            and lower_bound(pages, lost, self.confidence) >= self.alias
        )

    def special(
        self, pages: int, lost: int, of_pages: int, of_lost: int, alternatives: int
    ) -> bool:
        """Tell whether a part of a scope that failed is really better, and not only lucky.

        If a candidate is wrong on one page of ten, six pages in a row are right every other time:
        some part always looks clean. The part must have fewer of the counter-examples of the whole
        than chance would give it (Fisher's exact test), at a confidence that is corrected for the
        number of parts (Bonferroni).

        :param pages: pages of the part that speak for the candidate; *lost*: against it.
        :param of_pages: the same of the whole scope, and *of_lost*.
        :param alternatives: how many parts were looked at.
        """
        if not of_lost:
            return True
        chance = at_most_drawn(lost, max(pages, 0) + lost, of_lost, of_pages + of_lost)
        return chance * alternatives <= 1.0 - self.confidence

    def special_word(self, own: Record, pooled: Record, rivals: int, rate: Rate) -> bool:
        """Tell whether a word is really better than the others in its place, and not only lucky.

        It is if captures that changed explain the counter-examples of all words, or if it has fewer
        of these than chance would give it (Fisher's exact test, corrected for its rivals).

        :param own: the evidence of the word.
        :param pooled: the evidence of all words in its place.
        :param rivals: how many other words there are.
        """
        share = self.lost if rate.is_alone else min(rate.most, self.restless)
        of = pooled.pages + pooled.lost
        if not pooled.lost or (
            self._may_be_chance(pooled.lost, of, share)
            and rate.explains(pooled.lost, 2 * of, pooled.far)
        ):
            return True
        chance = at_most_drawn(own.lost, own.pages + own.lost, pooled.lost, of)
        return chance * rivals <= 1.0 - self.confidence

    def consider(self, evidence: Evidence) -> bool:
        """Tell whether a rule is listed as unsure, for somebody who knows the site to judge."""
        return evidence.bound >= self.unsure and evidence.counter_examples * 5 <= evidence.pages


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(slots=True)
class Tally:
    """What happened to a candidate within one scope."""

    scope: Scope
    pages: set[int] = field(default_factory=set)
    """Pages merged rightly, of folds that did not propose the candidate."""
    blurred: set[int] = field(default_factory=set)
    """Those of them that are also found under other URLs of one shape, and so count less."""
    lost: int = 0
    """Pages that speak against the candidate."""
    changed: int = 0
    """Those of the lost pages that may only have changed between two captures."""
    unclear: int = 0
    """How many URLs were compared where these were found."""
    moved: int = 0
    """Pages that have changed, since enough other URLs agree: they are not counted as lost."""
    agreeing: int = 0
    """How many URLs agree there."""
    unbiased: int = 0
    """How many of these say how often a capture changes; see :class:`Agreement`."""
    far: int = 0
    """Those of the changed ones whose text is another one altogether."""
    far_moved: int = 0
    """The same of the moved ones."""
    merges: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def against(self) -> int:
        """How many pages show something else, those that have changed included."""
        return self.lost + self.moved

    def support(self, thresholds: Thresholds) -> int:
        """Return how many whole pages the evidence for the candidate is worth."""
        sharp = len(self.pages) - len(self.blurred)
        return sharp + int(len(self.blurred) * thresholds.blurred)

    def changes(self, thresholds: Thresholds) -> Changes:
        """Return how many of the counter-examples may only be pages that changed."""
        blurred = len(self.pages) - self.support(thresholds)
        counts = self.changed, self.unclear, self.moved, self.agreeing, self.far, self.far_moved
        return Changes(*counts, blurred)

    def evidence(self, thresholds: Thresholds) -> Evidence:
        """Return the tally as it is shown to the user."""
        # Crawls that believe what pages declare have no use for it.
        from scrapy_urlcanon.learn.results.rule import Evidence  # noqa: PLC0415

        return Evidence(
            pages=len(self.pages),
            merges=self.merges,
            counter_examples=self.lost,
            bound=lower_bound(self.support(thresholds), self.lost, thresholds.confidence),
            confidence=thresholds.confidence,
            examples=tuple(self.examples),
        )
