"""Decides when the evidence for a rule is enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.confidence import at_most, at_most_drawn, lower_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.learn.rates import Rate
    from scrapy_urlcanon.learn.results.rule import Evidence
    from scrapy_urlcanon.learn.scope import Scope


Prior: TypeAlias = "Callable[[str, object], float]"
"""What is known about rules before the site was seen. Given an option and its setting, such as
``("drop_params", ["sid"])``, it returns the natural logarithm of the odds that the rule is right,
compared with any other candidate: 0 is no knowledge, 3 is 20 to 1 for it, -3 is 20 to 1 against
it."""

MAX_WORTH = 20
"""The most pages of evidence that prior knowledge is worth, for a rule or against it."""


def worth(log_odds: float) -> int:
    """Return how many pages of evidence without a counter-example prior knowledge is worth.

    By the rule of succession *n* pages that agree, and none that differs, raise the odds that all
    agree by a factor of n + 1.

    >>> worth(0.0), worth(1.4), worth(-1.4), worth(9.0)
    (0, 3, -3, 20)
    """
    pages = round(exp(min(abs(log_odds), 9.0)) - 1.0)
    return min(pages, MAX_WORTH) * (1 if log_odds > 0 else -1)


class Record(NamedTuple):
    """How many pages are evidence for a rule, and how many against it."""

    pages: int
    lost: int
    far: int = 0
    """How many of ``lost`` have a completely different text."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How much evidence it takes to believe a rule.

    Evidence is counted in pages, not in pairs of URLs: a page that is found under forty URLs says
    no more about a rule than one that is found under two. A page speaks for a rule only if it is of
    another fold than the pages that proposed the rule; any page may speak against it.
    """

    confidence: float = 0.95
    """The confidence level of all bounds and tests."""
    precision: float = 0.36
    """What the lower bound of the share of right merges must reach, for a rewrite: 0.36 takes 3
    pages without a counter-example, 0.5 takes 5, 0.8 takes 14."""
    alias: float = 0.5
    """The same for skip templates and declared canonicals, which nobody can check by looking at
    the URL."""
    lost: float = 0.01
    """The largest share of counter-examples that is attributed to changed pages without a test."""
    moved: float = 0.05
    """The same for ``www`` and the scheme. It is larger, since pages with a clock, a counter or
    their own address always differ, while on another site every page would."""
    restless: float = 0.15
    """The largest rate of change that is attributed to pages and not to wrong rules."""
    chance: float = 0.02
    """The least probability at which changes still explain a number of counter-examples."""
    blurred: float = 0.25
    """How much a blurred page counts as evidence, which is 1 for others. A page is blurred if it is
    also found under URLs that differ in another value."""
    unsure: float = 0.3
    """Rules that fail, but whose lower bound reaches this, are listed as unsure."""

    def is_enough(self, pages: int, lost: int = 0) -> bool:
        """Tell whether a rewrite is right often enough, by the lower bound of that share.

        :param pages: how many pages are evidence for it.
        :param lost: how many pages are evidence against it.
        """
        # The share itself is tested first: it is above the bound, which takes long to compute.
        return pages >= self.precision * (pages + lost) and (
            lower_bound(pages, lost, self.confidence) >= self.precision
        )

    def accept(
        self,
        pages: int,
        tally: Tally,
        rate: Rate,
        *,
        odds: float,
        is_host: bool,
        is_choice: bool,
    ) -> bool:
        """Tell whether a rewrite is accepted with this evidence.

        :param pages: how many pages are evidence for it.
        :param tally: what is evidence against it, and how much of that may be pages that changed
            between two captures.
        :param rate: how often captures of the site change.
        :param odds: how many times as likely as content it must be that these changed.
        :param is_host: whether it drops ``www`` or the scheme.
        :param is_choice: whether it replaces a word that is one of few. Then differences are not
            attributed to changes.
        """
        share = self.moved if is_host else self.lost
        lost = tally.lost
        # URLs that differ more often than captures change differ in content.
        if self._is_restless(tally, rate) or (
            is_choice and tally.moved > self.moved * (pages + tally.moved)
        ):
            lost += tally.moved
        if not self.is_enough(pages, lost):
            return False
        # How many pages of evidence are missing because a blurred page counts less than 1.
        blurred = len(tally.pages) - tally.support(self)
        if lost <= share * (pages + blurred + lost):
            return True
        hard = lost - tally.changed
        return (
            share > 0.0
            and not is_choice
            and hard <= share * (pages + hard)
            and self._may_be_chance(tally.changed, tally.unclear, self.restless)
            and rate.explains(tally.changed, tally.unclear, tally.far, odds)
        )

    def _may_be_chance(self, lost: int, of: int, share: float) -> bool:
        """Tell whether *lost* of these pages may be lost by chance at a rate of *share*."""
        return 1.0 - at_most(lost - 1, of, share) >= self.chance

    def _is_restless(self, tally: Tally, rate: Rate) -> bool:
        of = tally.moved + tally.agreeing
        return any(
            moved > 0 and not self._may_be_chance(moved, of, min(most, self.restless))
            for moved, most in ((tally.moved, rate.most), (tally.far_moved, rate.most_far))
        )

    def accept_alias(self, pages: int, lost: int) -> bool:
        """Tell whether a skip template or a declared canonical is accepted with this evidence."""
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

        :param pages: how many pages of the part are evidence for the candidate.
        :param lost: how many are evidence against it.
        :param of_pages: how many pages of the whole scope are evidence for it.
        :param of_lost: how many are evidence against it.
        :param alternatives: how many parts were tried.
        """
        if not of_lost:
            return True
        chance = at_most_drawn(lost, max(pages, 0) + lost, of_lost, of_pages + of_lost)
        return chance * alternatives <= 1.0 - self.confidence

    def special_word(self, own: Record, pooled: Record, rivals: int, rate: Rate) -> bool:
        """Tell whether a word is really better than the others in its place, and not only lucky.

        It is if changed captures explain the counter-examples of all words, or if it has
        significantly fewer of these than the others (Fisher's exact test, corrected for its
        rivals).

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
        """Tell whether a failed rule is listed as unsure, for somebody to judge."""
        return evidence.bound >= self.unsure and evidence.counter_examples * 5 <= evidence.pages


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(slots=True)
class Tally:
    """The evidence for and against a candidate within one scope."""

    scope: Scope
    pages: set[int] = field(default_factory=set)
    """Pages that are evidence for it, of folds that did not propose it."""
    blurred: set[int] = field(default_factory=set)
    """Those of them that are blurred, and count less: see :attr:`Thresholds.blurred`."""
    lost: int = 0
    """How many pages are evidence against it."""
    changed: int = 0
    """How many of ``lost`` may be pages that changed between two captures."""
    unclear: int = 0
    """How many URLs the merges have in which these were found."""
    moved: int = 0
    """How many pages have changed, as enough other URLs agree. They are not counted in ``lost``."""
    agreeing: int = 0
    """How many URLs agree in these merges."""
    unbiased: int = 0
    """How many of these count for the rate of change; see :class:`Agreement`."""
    far: int = 0
    """How many of ``changed`` have a completely different text."""
    far_moved: int = 0
    """How many of ``moved`` have a completely different text."""
    merges: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def against(self) -> int:
        """How many pages differ, including those that have changed."""
        return self.lost + self.moved

    def support(self, thresholds: Thresholds) -> int:
        """Return how many whole pages the evidence for the candidate is worth."""
        sharp = len(self.pages) - len(self.blurred)
        return sharp + int(len(self.blurred) * thresholds.blurred)

    def evidence(self, thresholds: Thresholds) -> Evidence:
        """Return the tally as it is shown to the user."""
        # Not needed by crawls, which only use the thresholds for declared canonicals.
        from scrapy_urlcanon.learn.results.rule import Evidence  # noqa: PLC0415

        return Evidence(
            pages=len(self.pages),
            merges=self.merges,
            counter_examples=self.lost,
            bound=lower_bound(self.support(thresholds), self.lost, thresholds.confidence),
            examples=tuple(self.examples),
        )
