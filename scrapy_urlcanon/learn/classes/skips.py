"""Finds classes of URLs whose page always has another URL, though no rewrite can compute it.

``/?p=123`` and ``/some-slug/`` show one page, but neither URL tells the other, and a link to a post
does not tell the page of the topic with the post. Content, redirects and declared canonicals show
it, for the class as a whole: every ``/?p={id}`` that was looked at is found elsewhere.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

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
from scrapy_urlcanon.learn.classes.derived import shown_in_place
from scrapy_urlcanon.learn.classes.look import (
    DECLARES_UNSEEN,
    HAS_CHANGED,
    IS_ALONE,
    IS_CUT_OFF,
    IS_ELSEWHERE,
    IS_OF_RIVAL,
    Look,
    PagesOfClasses,
)
from scrapy_urlcanon.learn.classes.lucky import Rivals
from scrapy_urlcanon.learn.classes.members import MIN_MEMBERS
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

    from scrapy_urlcanon.learn.classes.lucky import RateBeside
    from scrapy_urlcanon.learn.classes.members import Key, SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule
    from scrapy_urlcanon.learn.thresholds import Prior, Thresholds

_USUAL_CHANGE = 0.003
"""Which share of pages differs from the URL that they declare only since one of them has changed.
If more do, it has another cause: the topics of a forum have moved, say, and their posts are found
nowhere else."""

_MAX_CLAIMED = 4
"""How many declared URLs may be unseen for each one that was seen. Also, how many pages may be
missing where most of their class are found, for each one that is found at some other place."""

_KNOWN = 10
"""If prior knowledge of a class is worth this many pages, the program of the site is known. Then a
page whose other URL was not seen is no evidence that there is none."""

_REMEMBERED_FORMS = 1 << 16


class Skips(NamedTuple):
    """The classes of URLs of a site that need not be fetched, and rewrites that lead into some."""

    rules: list[LearnedRule]
    accepted: frozenset[Key]
    left: int
    """How many URLs are left to fetch."""
    refused: list[LearnedRule]
    """Rules for refused classes that somebody who knows the site may want to skip all the same."""
    led: dict[Key, dict[Location, bool]]
    """By class, the URLs that rewrites lead into it although their pages may be found nowhere else,
    each with whether its page is found outside the class. Without these rewrites the class may
    hold, or save more."""


def skip_rules(
    groups: Groups,
    thresholds: Thresholds,
    form: Callable[[Location], Location],
    shares: Iterable[Share] = (),
    prior: Prior | None = None,
    *,
    rate_beside: RateBeside,
) -> Skips:
    """Return the classes of URLs of a site that need not be fetched.

    Once a class is accepted, its members no longer count as the other URL of a page.

    :param form: returns what the accepted rewrite rules make of a URL.
    :param shares: estimates of the share of the site's URLs that the crawl has seen.
    :param prior: what is known about classes before the crawl.
    :param rate_beside: returns how often captures change, as all candidates but one tell it.
    """
    # Cached, since it is called for the same URLs again, for each class and in both looks.
    form = lru_cache(_REMEMBERED_FORMS)(form)
    look = partial(_Skips, groups, thresholds, form, tuple(shares), prior, rate_beside)
    skips = look(is_led_last=True)
    found = skips.found()
    if skips.is_unsure:
        # A class about which too little is known may have kept later ones from being accepted.
        # What was found of a large site is not held twice.
        del skips
        found = min(found, look(is_led_last=False).found(), key=attrgetter("left"))
    return found


@define(eq=False, slots=False)
class _Skips:
    """The classes of one site, judged one after the other.

    :param is_led_last: whether classes to which rewrites lead are judged after the others.
    """

    _groups: Groups
    _thresholds: Thresholds
    _form: Callable[[Location], Location]
    _known_shares: tuple[Share, ...]
    _prior: Prior | None
    _rate_beside: RateBeside
    _is_led_last: bool
    _unsure: set[Location] = field(init=False, factory=set)
    """Members of classes that were refused only because too little is known about them."""
    _share_declared: float = field(init=False, default=0.0)
    """The lower bound of the share of declared URLs that were seen, the largest of all accepted
    classes."""
    _refused: list[Refused] = field(init=False, factory=list)
    _led: dict[Key, dict[Location, bool]] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self._pages = pages = PagesOfClasses(self._groups, self._form)
        made = pages.made if self._is_led_last else set()
        classes = [*pages.classes, *sections_of(pages.classes, pages.others_of)]
        self._classes = sorted(classes, key=lambda found: found.order(made))
        self._is_reordered = self._classes != sorted(classes, key=lambda found: found.order(set()))

    @cached_property
    def _shares_seen(self) -> SharesSeen:
        """Estimates of how much was seen, by pairs of classes; few sites need them."""
        single = [found for found in self._classes if not found.sections]
        return SharesSeen(single, self._groups.site.locations)

    @cached_property
    def _with(self) -> dict[Location, list[SkipClass]]:
        """By URL, the classes that it is in; few sites need them."""
        found: dict[Location, list[SkipClass]] = {}
        for one in self._classes:
            for url in one.members:
                found.setdefault(url, []).append(one)
        return found

    @cached_property
    def _rivals(self) -> Rivals:
        """The classes that differ in one word."""
        return Rivals(self._classes, self._groups, self._thresholds, self._rate_beside)

    @cached_property
    def _parts_seen(self) -> PartsSeen:
        """Estimates of how much was seen, by numbered parts; few sites need them."""
        return PartsSeen(self._groups.site.locations)

    @cached_property
    def _reach(self) -> Reach | None:
        """The links of the site, if they are known; few sites need them."""
        links = self._groups.site.links
        return Reach(links, self._groups, self._form) if links else None

    @property
    def is_unsure(self) -> bool:
        """Whether a class was refused for lack of evidence, and another order may accept more."""
        return bool(self._unsure) and self._is_reordered

    def found(self) -> Skips:
        """Judge all classes."""
        rules = {found.key: rule for found, rule in self._rules()}
        left = len(self._groups.pages) - len(self._pages.skipped)
        domain = self._groups.site.domain
        refused = proposed(
            self._refused, self._pages.skipped, self._pages.look_at, domain, self._thresholds
        )
        return Skips([*rules.values()], frozenset(rules), left, [*refused], self._led)

    def _rules(self) -> Iterator[tuple[SkipClass, LearnedRule]]:
        """Yield the classes that are accepted, each with its rule."""
        for found in self._classes:
            known = worth(self._prior(SKIP, [found.template])) if self._prior else 0
            least = 1 if known > 0 else MIN_MEMBERS
            if len(found.members) < least or found.members <= self._pages.skipped:
                continue
            if known <= 0 and found.is_of_one_date:
                continue
            evidence = self._judge(found, known)
            if evidence is not None:
                domain = self._groups.site.domain
                rules = [*said(found, evidence, self._pages.look_at, domain, self._thresholds)]
                self._pages.skipped |= found.members
                if self._reach is not None:
                    self._reach.skip(found.members)
                yield from rules

    def _judge(self, found: SkipClass, known: int) -> Evidence | None:
        """Return the evidence for a class if it is enough, otherwise None.

        :param known: how many pages the prior knowledge is worth.
        """
        look = self._pages.look_at(found)
        pages = sum(1 for page in found.telling if look.others[page])
        alone = {page for page, count in look.others.items() if not count}
        alone -= look.claimed | look.changed
        against = look.against
        # A capture that differs from the declared page has changed, unless too many of them differ.
        changed, tried = len(look.changed), len(look.seen | look.changed)
        if changed and 1.0 - at_most(changed - 1, tried, _USUAL_CHANGE) < self._thresholds.chance:
            against[HAS_CHANGED] = changed
        if look.claimed and (self._is_hardly_seen(look) or self._groups.site.is_whole):
            against[DECLARES_UNSEEN] = len(look.claimed)
        if pages <= against.total() or known >= _KNOWN or self._is_chance(found, look):
            against[IS_ELSEWHERE] = self._displaced(found, look)
            # Chance explains these pages, except those with a URL that declares itself and that
            # rewrites lead into the class.
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
        if known <= 0:
            against[IS_OF_RIVAL] = self._rivals.lose(found, self._pages_found(found))
        is_enough = self._thresholds.accept_alias(pages + known, against.total())
        if against[IS_OF_RIVAL] or not is_enough:
            self._refuse(found, look, against)
            return None
        share = lower_bound(len(look.seen), len(look.claimed), self._thresholds.confidence)
        self._share_declared = max(self._share_declared, share)
        return evidence_of(found, look, against, self._thresholds)

    def _note_led(self, found: SkipClass, alone: set[int], pages: int, lost: int) -> None:
        """Note the rewrites into a class, if without them the class may be skipped.

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
            self._led[found.key] = {
                url: page not in alone
                for page in found.pages
                for url in self._pages.led(page, found)
            }

    def _refuse(self, found: SkipClass, look: Look, against: Counter[str]) -> None:
        """Keep a refused class if somebody may want to see it."""
        if not found.sections and self._thresholds.consider(
            evidence_of(found, look, against, self._thresholds)
        ):
            self._refused.append(Refused(found, look, against))

    def _cut_off(self, found: SkipClass, look: Look) -> int:
        """Return how many pages are found elsewhere, but only through URLs that a class would skip.

        A crawl that was cut short has not seen all links, so 0 is returned if chance explains the
        number. Chance is no excuse if most pages of the class are cut off: then the class is the
        way to them, as searches are to results that last for a while.
        """
        if self._reach is None:
            return 0
        missing = self._reach.missing_without(found.members)
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
        """Tell whether too few of the declared URLs were seen for a crawl to miss them by chance.

        Then they may be linked nowhere else. So it is if next to none were seen, or significantly
        fewer than of the URLs that another class declares.
        """
        claimed, told = len(look.claimed), len(look.claimed | look.seen)
        if claimed > _MAX_CLAIMED * len(look.seen):
            return True
        chance = 1.0 - at_most(claimed - 1, told, 1.0 - self._share_declared) if claimed else 1.0
        return chance <= 1.0 - self._thresholds.confidence

    def _is_chance(self, found: SkipClass, look: Look) -> bool:
        """Tell whether chance explains the pages that were found nowhere else.

        If the crawl ended because nothing was left to fetch, only change explains them. Otherwise
        the share of URLs that were not seen is estimated in three ways: by the URLs that rewrites
        make, of which some were seen; by the URLs that members declare, of which some were seen;
        and by pairs of classes in which each page should have a URL.

        Chance is no explanation if no page was found elsewhere except by redirects and
        declarations, which say nothing about the others; nor for a class to which rewrites lead,
        to one URL of each page, since that is itself the other place of the URLs that lead there.
        """
        undeclared = [count for page, count in look.others.items() if page not in look.declaring]
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
        """Tell whether all pages may have another URL, though so many were seen nowhere else."""
        if len(found.pages) < MIN_URLS:
            return False
        declared = Share(len(look.seen), len(look.seen | look.claimed))
        outside = self._pages.outside(found, self._unsure)
        known = largest([*self._known_shares, declared, *self._shares_seen.without(found)])
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
        # A share that is known from numbered parts only is not used for other classes.
        if known is not None:
            self._known_shares = (known,)  # the largest of all
        return True

    def _pages_found(self, found: SkipClass) -> list[tuple[list[Location], list[Location]]]:
        """Return the pages of a class that are found elsewhere: their URLs there, and others."""
        return [
            (found.pages[page], others) for page, others in self._pages.others_of(found) if others
        ]

    def _displaced(self, found: SkipClass, look: Look) -> int:
        """Return how many pages of a class are missing where most of it have their other URL.

        The place is computed from the URL, or the URL from the place (:func:`.shown_in_place`). If
        another page was seen there, the crawl has not just missed the URL. 0 is returned if one in
        five of such pages is found at some other place, as posts on a later page of a topic are.
        """
        undeclaring = look.others.keys() - look.declaring
        if all(look.others[page] for page in undeclaring):
            return 0
        pages = self._pages_found(found)
        places = {other for _, others in pages for other in others}
        with_any = {id(one): one for url in places for one in self._with.get(url, ())}
        beside = (one for one in with_any.values() if one is not found)
        shown = shown_in_place(pages, beside, self._groups)
        alone = elsewhere = 0
        for page in undeclaring:
            there = set[int]().union(*map(shown, found.pages[page]))
            if there - {page}:
                alone += not look.others[page]
                elsewhere += look.others[page] > 0
        return alone if alone > _MAX_CLAIMED * elsewhere else 0
