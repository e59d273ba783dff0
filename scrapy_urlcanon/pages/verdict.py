"""Decides whether two URLs show the same page, if both can be fetched again.

What differs between two fetches of one URL is noise: a counter, a rotating block, a token. So if a
variant looks different, the kept page is fetched a second time as a control, and then the variant.
Lines that the variant shows at each fetch and the kept page at none are its *own*. It is another
page if it has lines of its own. A file that is no text, or too long to be read, is another one if
it differs and both fetches of each URL are equal.

The audit and ``validate`` fetch what a :class:`Comparison` asks for.
"""

from __future__ import annotations

import enum
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.moving_lines import MovingLines, moving_lines, own_of
from scrapy_urlcanon.pages.noise import Noise, hide_what_differs
from scrapy_urlcanon.pages.same_page import LineKey, PageDigest, same_page
from scrapy_urlcanon.pages.two_pages import TwoPages

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from scrapy_urlcanon.pages.shown import Shown

_SHOWN_LINES = 5
MOST_FETCHES = 3
"""The most fetches of each URL. More than one is needed if the variant has no more lines of its own
than may come and go by chance, or if a fetch does not bring the page, as from a server that shows a
captcha now and then."""
_TWO_VISITS = 2
_OF_A_SERVER = 3
"""How many lines may depend on which of several servers has answered."""


class Verdict(enum.Enum):
    """Whether a variant shows the same page as the kept URL."""

    SAME = "same"
    ANOTHER = "another"
    CANNOT_TELL = "cannot tell"


class Side(enum.Enum):
    """Which of the two URLs is fetched next, before there is a verdict."""

    KEPT = enum.auto()
    VARIANT = enum.auto()


class Judgement(NamedTuple):
    """A verdict, and what decided it."""

    verdict: Verdict
    reason: str = ""
    """For ``CANNOT_TELL``: why, in a few words."""
    only_variant: tuple[str, ...] = ()
    """Some lines of text that only the variant shows."""
    only_kept: tuple[str, ...] = ()
    """Some lines of text that only the kept page shows."""
    own: frozenset[LineKey] = frozenset()
    """All lines that only the variant shows, each by its hash without numbers and its exact one."""
    lacking: frozenset[LineKey] = frozenset()
    """All lines that only the kept page shows."""


class Comparison:
    """Compares a variant with its representative, and says what has to be fetched for that.

    >>> from scrapy_urlcanon.pages.page import Page
    >>> from scrapy_urlcanon.pages.shown import Shown
    >>> def shown(html):
    ...     page = Page("http://a.example/", b"", f"<title>T</title><p>Some text<p>{html}")
    ...     return Shown(page, page.digest)
    >>> reference = shown("Visit: 1").digest
    >>> comparison = Comparison(reference, Noise(), "http://a.example/", "http://a.example/?s=1")
    >>> comparison.add(Side.VARIANT, shown("Visit: 2"))
    <Side.KEPT: 1>
    >>> comparison.add(Side.KEPT, shown("Visit: 3")).verdict
    <Verdict.SAME: 'same'>

    :param reference: what the kept page showed when it was fetched for the spider.
    :param noise: what is known about the site.
    :param kept_url: the URL of the kept page.
    :param variant_url: the URL of the variant.
    :param page: the key of the page in *noise* and *common*; by default its URL.
    :param variant_page: the key of the variant in *noise*, if the spider has it as a page of its
        own; by default *page*.
    :param common: contents that several pages have, such as a log-in form.
    :param visits: how often the variant is fetched at most, if it has no more lines of its own than
        may come and go by chance. (If three of thirty advertisements are shown at random, in one of
        fifty comparisons one of them is there at all three visits.)
    """

    def __init__(
        self,
        reference: PageDigest,
        noise: Noise,
        kept_url: str,
        variant_url: str,
        *,
        page: Hashable = None,
        variant_page: Hashable = None,
        common: CommonContents | None = None,
        visits: int = MOST_FETCHES,
    ) -> None:
        self.seen = TwoPages(
            reference, noise, kept_url, variant_url, page=page, variant_page=variant_page
        )
        """What both have shown so far."""
        self._urls = {Side.KEPT: kept_url, Side.VARIANT: variant_url}
        self._common = common or CommonContents()
        self._visits = visits
        self._failures: Counter[Side] = Counter()
        self._is_near = False
        """Whether the variant has the text of the kept page, but may embed something else."""
        self._hides = False
        """Whether the variant has had the text of the kept page, and other inline scripts."""
        self._is_told_by_scripts = False
        """Whether inline scripts told the two pages apart, and nothing else did."""
        self._moving: MovingLines | None = None
        """The moving lines that told the two pages apart, if nothing else did."""

    def add(self, side: Side, shown: Shown) -> Judgement | Side:
        """Take what a fetch showed; return the verdict, or the side to fetch next."""
        common, seen = self._common, self.seen
        is_anothers = common.is_of_another(shown.digest, seen.page, self._urls[side])
        # A frame that many pages show may have the data of each in its scripts.
        self._hides = self._hides or (side is Side.VARIANT and seen.hides_others(shown))
        if is_anothers and not self._hides:
            if side is Side.VARIANT and not seen.variants:
                return Judgement(Verdict.CANNOT_TELL, SHARED)
            return self.failed(side, SHARED)
        judgement = self._add(side, shown)
        is_same = isinstance(judgement, Judgement) and judgement.verdict is Verdict.SAME
        if self._hides:
            is_shared = is_anothers or common.has_several_pages(shown.digest)
            return Judgement(Verdict.CANNOT_TELL, SHARED) if is_same and is_shared else judgement
        is_same = is_same or self._is_near
        is_common = common.has_several_pages if is_same else common.has_several_paths
        if side is Side.VARIANT and is_common(shown.digest):
            return Judgement(Verdict.CANNOT_TELL, SHARED)
        return judgement

    def _add(self, side: Side, shown: Shown) -> Judgement | Side:
        seen, before = self.seen, self.seen.reference
        if side is Side.VARIANT:
            before = seen.variants[0].digest if seen.variants else shown.digest
        if _are_other_files(before, shown.digest):
            # The file is generated anew at each visit.
            return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
        if side is Side.KEPT:
            return self._judge() if seen.add_kept(shown) else self.failed(side, CHANGED)
        return self._judge() if seen.add_variant(shown) else self.failed(side, RESTLESS)

    def failed(self, side: Side, reason: str) -> Judgement | Side:
        """Note that a fetch brought nothing to compare; return as :meth:`add` does.

        It is tried again a few times.

        :param reason: why it failed, in a few words.
        """
        if self._is_near and not self._hides:
            return Judgement(Verdict.SAME)
        self._failures[side] += 1
        is_first = side is Side.VARIANT and not self.seen.variants
        # One try fewer for a kept page that has never been itself when fetched again.
        most = MOST_FETCHES if self.seen.kept else MOST_FETCHES - 1
        if is_first or self._failures[side] >= most:
            return Judgement(Verdict.CANNOT_TELL, reason)
        return side

    def side_of(self, shown: Shown, other: Judgement) -> Side | None:
        """Return which of the two pages *shown* is; None if it is neither.

        :param other: the verdict that they are two pages.
        """
        if self._moving:
            sides = zip((Side.VARIANT, Side.KEPT), self._moving, strict=True)
            found = [side for side, lines in sides if 2 * len(own_of(lines, [shown])) < len(lines)]
            return found[0] if len(found) == 1 else None
        if self._is_told_by_scripts and shown.has(other.own) == shown.has(other.lacking):
            return None
        if shown.has(other.own):
            return Side.VARIANT
        # Compared with numbers, since a third page may differ from the kept one in these alone.
        before = self.seen.kept[-2].lines if self.seen.is_changed else self.seen.lines
        steady = {line for line in other.lacking if line[1] in before.get(line[0], ())}
        is_kept = shown.has(frozenset(steady)) if steady else self.seen.is_itself(shown)
        return Side.KEPT if is_kept else None

    def _judge(self) -> Judgement | Side:
        seen, variant = self.seen, self.seen.variants[-1]
        if seen.is_changed:
            return self._judge_changed(variant)
        is_same = same_page(self.seen.reference, variant.digest)
        if is_same or seen.explains(variant):
            moving = None if is_same else self._judge_what_moves()
            if moving:
                return moving
            self._is_near = seen.may_embed_others(variant)
            if not self._is_near:
                return Judgement(Verdict.SAME)
        if is_same is None and not self.seen.is_of_files and not self._hides:
            return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
        return self._judge_with_control(variant) if seen.kept else Side.KEPT

    def _judge_changed(self, variant: Shown) -> Judgement | Side:
        """Return the verdict, or the side to fetch next, if the kept page has changed since.

        That the variant is like the kept page, before or now, is no evidence, since all URLs may
        show a log-in form by now. Only the verdict that it is another page is possible.
        """
        judgement = None if self.seen.is_itself(variant) else self._judge_with_control(variant)
        if isinstance(judgement, Side) or (judgement and judgement.verdict is Verdict.ANOTHER):
            return judgement
        return Judgement(Verdict.CANNOT_TELL, CHANGED)

    def _judge_with_control(self, variant: Shown) -> Judgement | Side:
        seen, own = self.seen, self.seen.own()
        if not own:
            judgement = self._judge_what_moves() or self._judge_scripts(variant)
            return judgement or self._judge_alike(variant)
        is_like_it = any(same_page(kept.digest, variant.digest) for kept in seen.kept)
        is_near = (self._is_near or is_like_it) and not seen.embeds_others(variant, own)
        if is_near or seen.breaks_lines_elsewhere(variant, own):
            return Judgement(Verdict.SAME)
        if len(seen.variants) == 1:
            # Two servers with slightly different pages may take turns, one for each URL so far.
            is_turn = len(own) <= _OF_A_SERVER and variant.digest.title == self.seen.reference.title
            is_turn = is_turn and not seen.changed and len(seen.kept) == 1
            return Side.KEPT if is_turn else Side.VARIANT
        if len(own) <= seen.came:
            # These may be lines that come and go, and came twice by chance.
            if not seen.alone(own):
                return Judgement(Verdict.CANNOT_TELL, "other pages have what it shows of its own")
            if len(seen.variants) < self._visits:
                return Side.KEPT if len(seen.kept) < len(seen.variants) else Side.VARIANT
        return self._judge_two(variant, own)

    def _judge_scripts(self, variant: Shown) -> Judgement | Side | None:
        """Return a verdict from inline scripts, or None if they give none.

        Two pages of one text have phrases of their own there, at two visits of each.
        """
        mine, theirs = self.seen.phrases() if self.seen.hides_others(variant) else ({}, {})
        if not mine:
            return None
        if len(self.seen.kept) < _TWO_VISITS:
            return Side.KEPT
        if len(self.seen.variants) < _TWO_VISITS:
            return Side.VARIANT
        self._is_told_by_scripts = True
        shown = some_of(mine.values()), some_of(theirs.values())
        return Judgement(Verdict.ANOTHER, "", *shown, frozenset(mine), frozenset(theirs))

    def _judge_alike(self, variant: Shown) -> Judgement:
        """Return the verdict about a variant without lines of its own."""
        reason = "" if self.seen.is_like_now(variant) else "it shows nothing of its own"
        if self.seen.is_of_files or hide_what_differs(self.seen.reference, variant.digest):
            reason = NO_TEXT
        return Judgement(Verdict.CANNOT_TELL if reason else Verdict.SAME, reason)

    def _judge_two(self, variant: Shown, own: frozenset[LineKey]) -> Judgement:
        """Return the verdict about two pages that differ by more than noise."""
        texts = self.seen.kept[-1].texts
        lacking = frozenset(line for line in texts if not self.seen.shows(line))
        mine, theirs = self.seen.alone(own), self.seen.alone(lacking)
        is_view = not mine and len(theirs) <= 1
        if len(mine) == 1 < len(own) and not theirs:
            is_view = self.seen.repeats(variant.texts[mine[0]])
        if is_view:
            # For example a print view, which has a link back in place of a menu.
            return Judgement(Verdict.CANNOT_TELL, "they differ in what other pages show too")
        return Judgement(
            Verdict.ANOTHER,
            "",
            some_of(text for line, text in variant.texts.items() if line in own),
            some_of(text for line, text in texts.items() if line in lacking),
            own,
            lacking,
        )

    def _judge_what_moves(self) -> Judgement | Side | None:
        """Return a verdict from lines that change in part at each visit, or None if they give none.

        Two pages have moving lines of their own, with more words than both share in other lines. A
        single page may have a few such lines that say how it was reached.
        """
        kept, variants = self.seen.kept, self.seen.variants
        if len(variants) < _TWO_VISITS or not kept or self.seen.is_changed:
            return None
        mine = own_of(moving_lines(*variants[-2:]), kept)
        if not mine:
            return None
        if len(kept) < _TWO_VISITS:
            return Side.KEPT
        theirs = own_of(moving_lines(*kept[-2:]), variants)
        texts = kept[-1].texts
        # Of lines with a number it is not known whether other pages have them.
        plain = (line for line in variants[-1].texts if line in texts and line[0] == line[1])
        shared = self.seen.alone(plain)
        moving = MovingLines(mine, theirs)
        if not moving.is_most(map(texts.__getitem__, shared)):
            return None
        if len(variants) < MOST_FETCHES:
            return Side.VARIANT
        self._moving = moving
        return Judgement(
            Verdict.ANOTHER,
            "",
            some_of(line.text for line in mine),
            some_of(line.text for line in theirs),
            frozenset(line.key for line in mine),
            frozenset(line.key for line in theirs),
        )


NO_TEXT = "there is no text to compare"
CHANGED = "the kept page differs from itself"
RESTLESS = "it differs from itself"
SHARED = "several pages show what it shows"


def _are_other_files(one: PageDigest, other: PageDigest) -> bool:
    """Tell whether both are files that are not read as text, and differ."""
    return one.lines is None and other.lines is None and one.digest != other.digest


def some_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first few of *texts*, as many as a verdict shows."""
    return tuple(islice(texts, _SHOWN_LINES))
