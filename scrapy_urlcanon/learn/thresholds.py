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
"""What is known of rules before a site was seen: of an option and its setting, such as
``("drop_params", ["sid"])``, the natural logarithm of the odds that it is right, on top of what
any candidate has. 0 is nothing, 3 is 20 to 1 for it, -3 is 20 to 1 against it."""

MAX_WORTH = 20
"""Pages that prior knowledge is worth at most, for a rule or against it."""


def worth(log_odds: float) -> int:
    """Return how many pages without a counter-example say as much as prior knowledge.

    Where nothing is known of a share, *n* pages that agree and none that does not make it n + 1
    times as likely that all do (the rule of succession).

    >>> worth(0.0), worth(1.4), worth(-1.4), worth(9.0)
    (0, 3, -3, 20)
    """
    pages = round(exp(min(abs(log_odds), 9.0)) - 1.0)
    return min(pages, MAX_WORTH) * (1 if log_odds > 0 else -1)


class Changes(NamedTuple):
    """How many of the counter-examples of a rule may but be pages that changed."""

    changed: int = 0
    """Counter-examples that were seen but once."""
    unclear: int = 0
    """URLs among which they were."""
    moved: int = 0
    """Pages seen but once beside many URLs that agree, which are no counter-examples."""
    agreeing: int = 0
    """Those many URLs."""
    blurred: float = 0.0
    """What pages that are worth less as evidence for a rule lack of a whole one."""


NO_CHANGES = Changes()


class Record(NamedTuple):
    """The pages for a rule and against it."""

    pages: int
    lost: int


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a rule has to show before it is believed.

    The trials are pages, not pairs of URLs: a page that is found under forty URLs says no more
    about a rule than one that is found under two. Only pages of other folds than the one that
    proposed the rule count for it; all pages count against it.
    """

    confidence: float = 0.95
    """Of the lower bound."""
    precision: float = 0.36
    """What the lower bound of the share of right merges must reach for a rewrite: 0.36 takes 3
    pages without a counter-example, 0.5 takes 5, 0.8 takes 14."""
    alias: float = 0.5
    """The same for skip templates and declared canonicals, which nobody can check by looking at
    the URL."""
    lost: float = 0.01
    """The largest share of counter-examples that is put down to chance: pages that changed
    between two captures."""
    moved: float = 0.05
    """The same for ``www`` and the scheme. A host with other pages has them everywhere, while
    pages with a clock, a counter or their own address in them are never twice the same."""
    restless: float = 0.15
    """The largest rate of change that is put down to the pages, and not to the rules."""
    chance: float = 0.02
    """How probable it must be that captures which changed make so many counter-examples."""
    blurred: float = 0.25
    """What a page is worth as evidence that is also found under URLs which differ in some other
    value."""
    unsure: float = 0.3
    """Rules whose lower bound reaches only this are listed apart."""

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
        """Tell whether so many pages for and against a rewrite are enough.

        :param changes: those against it that may but have changed between two captures.
        :param rate: how often captures of the site do that.
        :param is_host: whether it drops ``www`` or the scheme.
        :param is_choice: whether it replaces one of few words of the path, where no change is to
            blame for what differs.
        """
        share = self.moved if is_host else self.lost
        # What differs more often than captures do is content.
        if self._is_restless(changes, rate) or (
            is_choice and changes.moved > self.moved * (pages + changes.moved)
        ):
            lost += changes.moved
        # The bound is below the share itself, and takes long where both are many.
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
            and 1.0 - at_most(changes.changed - 1, changes.unclear, self.restless) >= self.chance
            and rate.explains(changes.changed, changes.unclear, self.chance)
        )

    def _is_restless(self, changes: Changes, rate: Rate) -> bool:
        moved, of = changes.moved, changes.moved + changes.agreeing
        return moved > 0 and (
            1.0 - at_most(moved - 1, of, min(rate.most, self.restless)) < self.chance
        )

    def accept_alias(self, pages: int, lost: int) -> bool:
        """Tell whether so many pages for and against a skip template are enough."""
        return (
            lost <= self.lost * (pages + lost)
            and lower_bound(pages, lost, self.confidence) >= self.alias
        )

    def special(
        self, pages: int, lost: int, of_pages: int, of_lost: int, alternatives: int
    ) -> bool:
        """Tell whether a part of a scope that failed is really better, and not its luckiest part.

        A candidate that is wrong on one page of ten is right on six pages running every other
        time: some part will always look clean. So there must be too few of the whole's
        counter-examples in it for chance (Fisher's exact test), at the same confidence over all the
        parts that were looked at (Bonferroni).
        """
        if not of_lost:
            return True
        chance = at_most_drawn(lost, max(pages, 0) + lost, of_lost, of_pages + of_lost)
        return chance * alternatives <= 1.0 - self.confidence

    def special_word(self, own: Record, pooled: Record, rivals: int, rate: Rate) -> bool:
        """Tell whether a word is really better than others in its place, and not the luckiest.

        Unless captures that changed make as many counter-examples for all of them, those that
        would be drawn for it are too few (Fisher's exact test), once for each of its rivals.
        """
        share = self.lost if rate.is_alone else min(rate.most, self.restless)
        of = pooled.pages + pooled.lost
        if not pooled.lost or 1.0 - at_most(pooled.lost - 1, of, share) >= self.chance:
            return True
        chance = at_most_drawn(own.lost, own.pages + own.lost, pooled.lost, of)
        return chance * rivals <= 1.0 - self.confidence

    def consider(self, evidence: Evidence) -> bool:
        """Tell whether evidence is enough to show the rule to somebody who knows the site."""
        return evidence.bound >= self.unsure and evidence.counter_examples * 5 <= evidence.pages


DEFAULT_THRESHOLDS = Thresholds()


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
    unbiased: int = 0
    """Those of them that tell how often a capture differs; see :class:`Agreement`."""
    merges: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    @property
    def against(self) -> int:
        """Pages that show something else, whether they have changed or not."""
        return self.lost + self.moved

    def support(self, thresholds: Thresholds) -> int:
        """Return how many pages the evidence is worth."""
        sharp = len(self.pages) - len(self.blurred)
        return sharp + int(len(self.blurred) * thresholds.blurred)

    def changes(self, thresholds: Thresholds) -> Changes:
        """Return how many of the counter-examples may but be pages that changed."""
        blurred = len(self.pages) - self.support(thresholds)
        return Changes(self.changed, self.unclear, self.moved, self.agreeing, blurred)

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
