"""Classes of URLs whose page is always found under another URL, though no rewrite computes which.

``/?p=123`` and ``/some-slug/`` show one page, and nothing in the one tells the other. Nor does a
link to a post tell the part of the topic on which the post stands. What tells is the evidence of
content, redirects and declared canonicals, and then only for the class as a whole: that every
``/?p={id}`` that was looked at is found elsewhere.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.entries import SKIP
from scrapy_urlcanon.confidence import at_most, lower_bound
from scrapy_urlcanon.learn.classes.coverage import (
    MIN_URLS,
    Alone,
    Share,
    confirmed,
    largest,
    may_have_changed,
)
from scrapy_urlcanon.learn.classes.displaced import shown_in_place
from scrapy_urlcanon.learn.classes.look import (
    DECLARES_UNSEEN,
    HAS_CHANGED,
    IS_ALONE,
    IS_CUT_OFF,
    IS_ELSEWHERE,
    Look,
    PagesOfClasses,
)
from scrapy_urlcanon.learn.classes.parts_seen import PartsSeen
from scrapy_urlcanon.learn.classes.reach import Reach
from scrapy_urlcanon.learn.classes.refused import Refused, evidence_of, proposed
from scrapy_urlcanon.learn.classes.sections import said, sections_of
from scrapy_urlcanon.learn.classes.shares_seen import SharesSeen
from scrapy_urlcanon.learn.rates import USUAL
from scrapy_urlcanon.learn.thresholds import worth

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator

    from scrapy_urlcanon.learn.classes.members import Key, SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule
    from scrapy_urlcanon.learn.thresholds import Prior, Thresholds

_MIN_MEMBERS = 4
"""Where fewer URLs of a class than this were seen the class is not looked at."""

_USUAL_CHANGE = 0.003
"""How often a page differs from what it declares to be because one of them has changed: where a
forum's topics move there are many more, whose posts are then found nowhere else."""

_MAX_CLAIMED = 4
"""URLs that are declared and were not seen, for each that was; and pages of which no other URL was
seen, though most of their class have it where another page is, for each of which one was."""

_KNOWN = 10
"""Pages that prior knowledge of a class is worth at least where its program is known: that the
other place of a page was not seen is then no evidence that there is none."""

_REMEMBERED_FORMS = 1 << 16


class Skips(NamedTuple):
    """The classes of URLs of a site that need not be fetched, and what leads into classes."""

    rules: list[LearnedRule]
    accepted: frozenset[Key]
    left: int
    """URLs that are left to fetch."""
    refused: list[LearnedRule]
    """Classes that somebody who knows the site may want to skip all the same."""
    led: dict[Key, dict[Location, bool]]
    """By class, URLs that rewrites lead into it though some of its pages are found nowhere else:
    of each, whether its page is found outside. Without those rewrites it may hold, or hold
    better."""


def skip_rules(
    groups: Groups,
    thresholds: Thresholds,
    form: Callable[[Location], Location],
    shares: Iterable[Share] = (),
    prior: Prior | None = None,
) -> Skips:
    """Return the classes of URLs of a site that need not be fetched, and what leads into them.

    Members of an accepted class count no longer as the other place where a page is found.

    :param form: what the accepted rewrite rules make of a URL.
    :param shares: what share of the URLs that lead to its pages the crawl has seen, by some.
    :param prior: what is known of classes before.
    """
    known = tuple(shares)
    # The URLs of a page are looked at for each class that they lead into, and for each look.
    form = lru_cache(_REMEMBERED_FORMS)(form)

    def look(*, is_led_last: bool) -> tuple[Skips, bool]:
        skips = _Skips(groups, thresholds, form, known, prior, is_led_last=is_led_last)
        rules = {found.key: rule for found, rule in skips.rules()}
        found = Skips(
            [*rules.values()], frozenset(rules), skips.left, [*skips.refused()], skips.led
        )
        return found, skips.is_unsure

    found, is_unsure = look(is_led_last=True)
    if is_unsure:
        # A class of which too little is known stands in the way of those behind it.
        found = min(found, look(is_led_last=False)[0], key=attrgetter("left"))
    return found


class _Skips:
    """The classes of one site, judged one after the other."""

    def __init__(
        self,
        groups: Groups,
        thresholds: Thresholds,
        form: Callable[[Location], Location],
        shares: Iterable[Share],
        prior: Prior | None,
        *,
        is_led_last: bool,
    ) -> None:
        """Look for classes.

        :param is_led_last: whether those that rewrites lead to come behind the others.
        """
        self._groups, self._thresholds, self._form = groups, thresholds, form
        self._prior = prior
        self._pages = pages = PagesOfClasses(groups, form)
        made = pages.made if is_led_last else set()
        classes = [*pages.classes, *sections_of(pages.classes, pages.others_of)]
        self._classes = sorted(classes, key=lambda found: found.order(made))
        self._is_reordered = self._classes != sorted(classes, key=lambda found: found.order(set()))
        self._unsure: set[Location] = set()
        """Members of classes that were refused only since too little is known of them."""
        self._shares = [*shares]
        self._share_declared = 0.0
        """What share of the URLs that pages declare was seen at least, by the best class."""
        self._refused: list[Refused] = []
        self._missing: set[int] | None = None
        """Pages that nothing leads to but what is skipped; None where that is yet to be told."""
        self.led: dict[Key, dict[Location, bool]] = {}

    @cached_property
    def _shares_seen(self) -> SharesSeen:
        """What the classes tell of how much was seen; few sites have one that it must tell it."""
        single = [found for found in self._classes if not found.sections]
        return SharesSeen(single, self._groups.site.locations)

    @cached_property
    def _parts_seen(self) -> PartsSeen:
        """What the parts of things tell of it; few sites have a class that must tell it."""
        return PartsSeen(self._groups.site.locations)

    @cached_property
    def _reach(self) -> Reach | None:
        """What the pages link, where that is known; few sites have a class to ask about it."""
        links = self._groups.site.links
        return Reach(links, self._groups, self._form) if links else None

    @property
    def left(self) -> int:
        """How many URLs are in no class that was accepted."""
        return len(self._groups.pages) - len(self._pages.skipped)

    @property
    def is_unsure(self) -> bool:
        """Whether a class was refused since too little is known of it, and another order may do."""
        return bool(self._unsure) and self._is_reordered

    def rules(self) -> Iterator[tuple[SkipClass, LearnedRule]]:
        """Yield the classes that are accepted, each with its rule."""
        for found in self._classes:
            known = worth(self._prior(SKIP, [found.template])) if self._prior else 0
            least = 1 if known > 0 else _MIN_MEMBERS
            if len(found.members) < least or found.members <= self._pages.skipped:
                continue
            if known <= 0 and found.is_of_one_date:
                continue
            evidence = self._judge(found, known)
            if evidence is not None:
                domain = self._groups.site.domain
                rules = [*said(found, evidence, self._pages.look_at, domain, self._thresholds)]
                self._pages.skipped |= found.members
                self._missing = None
                yield from rules

    def refused(self) -> Iterator[LearnedRule]:
        """Yield what failed by little, as it is beside all that was accepted before and since."""
        domain = self._groups.site.domain
        return proposed(
            self._refused, self._pages.skipped, self._pages.look_at, domain, self._thresholds
        )

    def _judge(self, found: SkipClass, known: int = 0) -> Evidence | None:
        """Return the evidence for a class if it is enough.

        :param known: how many pages prior knowledge is worth.
        """
        look = self._pages.look_at(found)
        pages = sum(1 for page in found.telling if look.others[page])
        alone = {page for page, count in look.others.items() if not count}
        alone -= look.claimed | look.changed
        against = look.against
        # What the site says and what most of the class show are two witnesses against one.
        changed, tried = len(look.changed), len(look.seen | look.changed)
        if changed and 1.0 - at_most(changed - 1, tried, _USUAL_CHANGE) < self._thresholds.chance:
            against[HAS_CHANGED] = changed
        if look.claimed and (self._is_hardly_seen(look) or self._groups.site.is_whole):
            against[DECLARES_UNSEEN] = len(look.claimed)
        if pages <= against.total() or known >= _KNOWN or self._is_chance(found, look):
            against[IS_ELSEWHERE] = self._displaced(found, look)
            # A page that declares where it is led from is found there: that is no chance.
            alone = {
                p for p in alone if not self._pages.canonical.isdisjoint(self._pages.led(p, found))
            }
        against[IS_ALONE] = len(alone)
        lost = against.total()
        self._note_led(found, alone, pages, lost)
        if not pages or not self._thresholds.accept_alias(pages + known, lost):
            if look.is_unsure and self._thresholds.accept_alias(pages, lost - len(alone)):
                self._unsure |= found.members
            self._refuse(found, look, against)
            return None
        against[IS_CUT_OFF] = self._cut_off(found, look)
        if not self._thresholds.accept_alias(pages + known, against.total()):
            self._refuse(found, look, against)
            return None
        share = lower_bound(len(look.seen), len(look.claimed), self._thresholds.confidence)
        self._share_declared = max(self._share_declared, share)
        return evidence_of(found, look, against, self._thresholds)

    def _note_led(self, found: SkipClass, alone: set[int], pages: int, lost: int) -> None:
        """Note what leads to a class that may be skipped without the rewrites that lead there.

        :param alone: its pages that are found nowhere else.
        :param pages: how many speak for it.
        :param lost: how many speak against it.
        """
        hidden = sum(1 for page in alone if self._pages.led(page, found))
        if (
            0 < hidden < pages
            and not found.sections
            and self._thresholds.accept_alias(pages, lost - hidden)
        ):
            self.led[found.key] = {
                url: page not in alone
                for page in found.pages
                for url in self._pages.led(page, found)
            }

    def _refuse(self, found: SkipClass, look: Look, against: Counter[str]) -> None:
        """Keep a class that somebody may want to see."""
        if not found.sections and self._thresholds.consider(
            evidence_of(found, look, against, self._thresholds)
        ):
            self._refused.append(Refused(found, look, against))

    def _cut_off(self, found: SkipClass, look: Look) -> int:
        """Return how many pages are found elsewhere, but only by what a class would skip.

        None where no more are than chance makes: a crawl that was cut short has not seen all that
        links them. That it missed what links most pages of the class is no chance, whatever the
        class links besides: it leads to them, as searches do to results that last for a while.
        """
        if self._reach is None:
            return 0
        if self._missing is None:
            self._missing = self._reach.missing(self._pages.skipped)
        missing = self._reach.missing(found.members | self._pages.skipped) - self._missing
        cut = sum(1 for page in missing if look.others.get(page, 1))
        pages = [page for page in found.telling if look.others[page]]
        is_led_to = 2 * len(missing.intersection(pages)) > len(pages)
        if not cut or is_led_to or self._groups.site.is_whole:
            return cut
        seen = self._reach.seen
        linked = self._reach.linked_by(found.members)
        chance = 1.0 - at_most(cut - 1, max(cut, linked), 1.0 - seen.seen / seen.of)
        return cut if chance < 1.0 - self._thresholds.confidence else 0

    def _is_hardly_seen(self, look: Look) -> bool:
        """Tell whether so few of the URLs that are declared were seen that no crawl misses as many.

        They may be linked nowhere else: where next to none was seen, and where the crawl has seen
        most of what another class declares.
        """
        claimed, told = len(look.claimed), len(look.claimed | look.seen)
        if claimed > _MAX_CLAIMED * len(look.seen):
            return True
        chance = 1.0 - at_most(claimed - 1, told, 1.0 - self._share_declared) if claimed else 1.0
        return chance <= 1.0 - self._thresholds.confidence

    def _is_chance(self, found: SkipClass, look: Look) -> bool:
        """Tell whether the pages that are found nowhere else are no more than chance makes.

        Of a crawl that has left nothing none is, but what changed. Of others, how many of their
        URLs are missing is known in three ways. Of the URLs that rewrites make of others some were
        seen. Of the members that declare where they belong, some declare a URL that was seen and
        some one that was not. And where each page of a class has one URL in another class as well,
        what is missing there was not seen. Where nothing was found elsewhere but what redirects, or
        declares it, that says nothing of the others.

        A class to which rewrites lead, to one URL of each page, is no such class: it is the other
        place of the URLs that lead there.
        """
        undeclared = [count for page, count in look.others.items() if page not in look.told]
        alone = undeclared.count(0)
        if alone in {0, len(undeclared)}:
            return alone == 0
        if self._groups.site.is_whole:
            changed = max(_USUAL_CHANGE, self._groups.site.changed_visits)
            chance = 1.0 - at_most(alone - 1, len(undeclared), changed)
            return chance >= self._thresholds.chance
        unseen = look.unseen
        if unseen and 1.0 - at_most(alone - 1, len(undeclared), unseen) >= (
            1.0 - self._thresholds.confidence
        ):
            return True
        if found.is_place_of(self._pages.made):
            return False
        return self._is_missed(found, look)

    def _is_missed(self, found: SkipClass, look: Look) -> bool:
        """Tell whether so many pages may have been seen nowhere else if all have another URL."""
        if len(found.pages) < MIN_URLS:
            return False
        declared = Share(len(look.seen), len(look.seen | look.claimed))
        outside = self._pages.outside(found, self._unsure)
        known = largest([*self._shares, declared, *self._shares_seen.without(found)])
        of_parts = largest(self._parts_seen.at(outside.values()))
        share = confirmed(known, of_parts)
        if share is None or share.seen == share.of:
            return False
        counts = {page: len(urls) for page, urls in outside.items()}
        whole, part = found.pages.keys(), found.largest_part
        rate = min(self._groups.rate_of_change.most, USUAL)
        for pages in (whole, part) if len(part) < len(whole) else (whole,):
            seen = [(len(found.pages[page]), counts[page]) for page in pages]
            if may_have_changed(seen, rate, self._thresholds.chance):
                sure = Alone((others for urls, others in seen if urls > 1), share)
                if sure.are_few(self._thresholds.lost):
                    continue
            alone = Alone((others for _, others in seen), share)
            if not alone.are_few(self._thresholds.lost):
                look.is_unsure = alone.none > 1.0 - self._thresholds.confidence
                return False
        # What is known of the parts of things only is nothing to judge other places by.
        if known is not None:
            self._shares.append(known)
        return True

    def _displaced(self, found: SkipClass, look: Look) -> int:
        """Return how many pages of a class are not where most of it has its other URL.

        Where that is told from the URL, or the URL from that, and was seen to be another page, it
        is no URL that the crawl has missed; unless one in five of such pages is found at some other
        place, as posts are that stand on a later part of a topic.
        """
        untold = look.others.keys() - look.told
        if all(look.others[page] for page in untold):
            return 0
        pages = [
            (found.pages[page], others) for page, others in self._pages.others_of(found) if others
        ]
        beside = (one for one in self._classes if one is not found)
        shown = shown_in_place(pages, beside, self._groups)
        alone = elsewhere = 0
        for page in untold:
            there = set[int]().union(*map(shown, found.pages[page]))
            if there - {page}:
                alone += not look.others[page]
                elsewhere += look.others[page] > 0
        return alone if alone > _MAX_CLAIMED * elsewhere else 0
