"""Whether two URLs show one page, where both can be fetched again: the verdict over a rule.

What differs between two fetches of one URL is noise: a counter, a rotating block, a token. So a
page that looks different is not called another one before the page that it is compared with was
fetched a second time, and then the page itself. What it shows each time, and the other never, is
its own. A page is another one if it has something of its own that would be lost with it. A file
that is no text, or has too much of it, has that where both fetches of each are the same.

The audit and ``validate`` fetch what a :class:`Comparison` asks for.
"""

from __future__ import annotations

import enum
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_urlcanon.pages.common_contents import CommonContents
from scrapy_urlcanon.pages.moving_lines import MovingLines, moving_lines, own_of
from scrapy_urlcanon.pages.noise import Noise, hide_what_differs
from scrapy_urlcanon.pages.same_page import UNBOUNDED, LineKey, PageDigest, same_page, sampled_lines
from scrapy_urlcanon.pages.shown import echoes, without

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from scrapy_urlcanon.pages.shown import Shown

_SHOWN_LINES = 5
_RECOGNISED = 0.35
"""The share of a page's lines that it has to show again to be itself."""
MOST_FETCHES = 3
"""How often each URL is fetched at most: where no more is a page's own than what comes and goes,
and where what comes is not the page, as from a server that now and then asks who is there."""
_TWO_VISITS = 2
_ECHOING_LINES = 8
"""Of how many lines a page has to be for a part of its URL in one of them to be an echo, not its
content; its whole URL always is."""
_OF_A_SERVER = 3
"""Up to how many lines may be those of one of several servers."""
_WORDS_OF_A_PATH = 4
"""Up to how many words a line may have besides the name of its page to say where that is."""


class Verdict(enum.Enum):
    """Whether a variant shows the page that stands for it."""

    SAME = "same"
    ANOTHER = "another"
    CANNOT_TELL = "cannot tell"


class Side(enum.Enum):
    """Which of the two URLs is to be fetched again before there is a verdict."""

    KEPT = enum.auto()
    VARIANT = enum.auto()


class Judgement(NamedTuple):
    """A verdict, and what decided it."""

    verdict: Verdict
    reason: str = ""
    """Why it could not be told, in a few words; empty where it was told."""
    only_variant: tuple[str, ...] = ()
    """Lines of text that the variant alone shows, some of them."""
    only_kept: tuple[str, ...] = ()
    """Lines of text that the kept page alone shows, some of them."""
    own: frozenset[LineKey] = frozenset()
    """All lines that the variant alone shows: the hash without numbers, and the exact one."""
    lacking: frozenset[LineKey] = frozenset()
    """All lines that the kept page alone shows."""


class Comparison:
    """Compares a variant with the page that stands for it, and says what to fetch for that.

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
    :param noise: what is known of the site.
    :param kept_url: the URL of the kept page.
    :param variant_url: the other one.
    :param page: by what the page is known to *noise* and *common*; its URL where nothing is given.
    :param variant_page: by what the variant is known to *noise*, where the spider has it as a page
        of its own; else it is noted as the page that stands for it.
    :param common: what several pages show, such as a form to log in.
    :param visits: how often the variant is fetched at most where no more is its own than what
        comes and goes. Of three of thirty advertisements one stands there at three visits in one
        comparison of fifty.
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
        self.reference = reference
        """What the kept page showed first."""
        self._lines, self._limit = sampled_lines(reference)
        self._noise = noise
        self._page = page or kept_url
        self._variant_page = variant_page or self._page
        self._common = common or CommonContents()
        self._urls = variant_url, kept_url
        self._visits = visits
        self._kept: list[Shown] = []
        self._variants: list[Shown] = []
        self._failures: Counter[Side] = Counter()
        self._changed: set[int] = set()
        self._instead: Shown | None = None
        """What the kept page showed last when it was fetched again and was not itself."""
        self._is_changed = False
        """Whether it showed that twice, and so is that now."""
        self._is_near = False
        """Whether the variant is nearly what the kept page is, but may embed something else."""
        self._came = 0
        """How many lines without a number one fetch of a URL had and another one not, at most."""
        self._moving: MovingLines | None = None
        """What told the two pages apart, where nothing else did."""

    def add(self, side: Side, shown: Shown) -> Judgement | Side:
        """Take over what a fetch showed; return the verdict, or what is to be fetched next."""
        if self._common.is_elsewhere(shown.digest, self._page):
            if side is Side.VARIANT and not self._variants:
                return Judgement(Verdict.CANNOT_TELL, SHARED)
            return self.failed(side, SHARED)
        judgement = self._add(side, shown)
        is_same = isinstance(judgement, Judgement) and judgement.verdict is Verdict.SAME
        is_same = is_same or self._is_near
        common = self._common
        is_shared = common.has_several_pages if is_same else common.has_several_paths
        if side is Side.VARIANT and is_shared(shown.digest):
            return Judgement(Verdict.CANNOT_TELL, SHARED)
        return judgement

    def _add(self, side: Side, shown: Shown) -> Judgement | Side:
        before = self.reference
        if side is Side.VARIANT:
            before = self._variants[0].digest if self._variants else shown.digest
        if _are_other_files(before, shown.digest):
            # It is made anew at each visit.
            return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
        known_as = self._page if side is Side.KEPT else self._variant_page
        self._noise.saw(known_as, shown.lines)
        reason = self._add_kept(shown) if side is Side.KEPT else self._add_variant(shown)
        return self.failed(side, reason) if reason else self._judge()

    def _add_kept(self, shown: Shown) -> str:
        """Take over what the kept page showed; return why it cannot be compared, if so."""
        if not self._is_changed and self._is_itself(shown):
            self._note(self._lines, shown, self._limit)
        else:
            instead, self._instead = self._instead, shown
            if instead is None or not self._is_again(instead.lines, shown):
                return CHANGED
            # What the spider got was no page, as a captcha, or what it would get now is none.
            self._is_changed = True
            self._kept.append(instead)
        if self._kept:
            self._note(self._kept[-1].lines, shown)
        self._kept.append(shown)
        return ""

    def _add_variant(self, shown: Shown) -> str:
        """Take over what the variant showed; return why it cannot be compared, if so."""
        if self._variants:
            if not self._is_again(self._variants[0].lines, shown):
                return RESTLESS
            self._note(self._variants[-1].lines, shown)
        self._variants.append(shown)
        return ""

    def rename(self, names: Mapping[Any, Hashable]) -> None:
        """Know pages by their new *names*."""
        self._page = names.get(self._page, self._page)
        self._variant_page = names.get(self._variant_page, self._variant_page)

    def failed(self, side: Side, reason: str) -> Judgement | Side:
        """Take over that a fetch brought nothing to compare; it is tried again a few times.

        :param reason: why, in a few words.
        """
        if self._is_near:
            return Judgement(Verdict.SAME)
        self._failures[side] += 1
        is_first = side is Side.VARIANT and not self._variants
        # A page that never was itself is not worth as much as one that was.
        most = MOST_FETCHES if self._kept else MOST_FETCHES - 1
        if is_first or self._failures[side] >= most:
            return Judgement(Verdict.CANNOT_TELL, reason)
        return side

    @property
    def is_of_files(self) -> bool:
        """Whether what is compared is no text on one side at least, or too much of it."""
        return self.reference.lines is None or (
            bool(self._variants) and self._variants[0].digest.lines is None
        )

    @property
    def variants(self) -> tuple[Shown, ...]:
        """What the variant showed at each fetch that brought it."""
        return tuple(self._variants)

    @property
    def kept(self) -> tuple[Shown, ...]:
        """What the kept page showed each time that it was fetched again, and was itself."""
        return tuple(self._kept)

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched a second time, and was itself."""
        return bool(self._kept) and not self._is_changed

    def side_of(self, shown: Shown, other: Judgement) -> Side | None:
        """Return which of the two pages *shown* is; None where it is neither.

        :param other: the verdict that they are two.
        """
        if self._moving:
            sides = zip((Side.VARIANT, Side.KEPT), self._moving, strict=True)
            found = [side for side, lines in sides if 2 * len(own_of(lines, [shown])) < len(lines)]
            return found[0] if len(found) == 1 else None
        if shown.has(other.own):
            return Side.VARIANT
        # A third page may differ from the kept one in numbers alone, as those of products do.
        before = self._kept[-2].lines if self._is_changed else self._lines
        steady = {line for line in other.lacking if line[1] in before.get(line[0], ())}
        is_kept = shown.has(frozenset(steady)) if steady else self._is_itself(shown)
        return Side.KEPT if is_kept else None

    def _note(self, lines: Mapping[int, set[int]], shown: Shown, limit: int = UNBOUNDED) -> None:
        changed = self._noise.note(lines, shown.lines, limit)
        self._changed |= changed
        came = sum(1 for shape in changed if shown.lines.get(shape) == {shape})
        self._came = max(self._came, came)

    def _judge(self) -> Judgement | Side:
        variant = self._variants[-1]
        if self._is_changed:
            return self._judge_changed(variant)
        is_same = same_page(self.reference, variant.digest)
        if is_same or self._noise.explains(self.reference, variant.digest, self._changed):
            moving = None if is_same else self._judge_what_moves()
            if moving:
                return moving
            self._is_near = self._may_embed_others(variant)
            if not self._is_near:
                return Judgement(Verdict.SAME)
        if is_same is None and not self.is_of_files:
            return Judgement(Verdict.CANNOT_TELL, NO_TEXT)
        return self._judge_with_control(variant) if self._kept else Side.KEPT

    def _judge_changed(self, variant: Shown) -> Judgement | Side:
        """Return what is to be said where the kept page is not what the spider got.

        That the variant is as either says nothing: all may be a form to log in by now.
        """
        judgement = None if self._is_itself(variant) else self._judge_with_control(variant)
        if isinstance(judgement, Side) or (judgement and judgement.verdict is Verdict.ANOTHER):
            return judgement
        return Judgement(Verdict.CANNOT_TELL, CHANGED)

    def _may_embed_others(self, variant: Shown) -> bool:
        """Tell whether it may embed what no other page does, in the place of what the kept one has.

        Text is another matter: a trail, a greeting or what is related may be what the dropped
        parameter is about, and the page the same.
        """
        if variant.digest.media == self.reference.media:
            return False
        return any(
            shape not in self._lines and not self._is_noise(shape)
            for shape, _ in self._alone(variant.media)
        )

    def _judge_with_control(self, variant: Shown) -> Judgement | Side:
        own = self._own()
        if not own:
            return self._judge_what_moves() or self._judge_alike(variant)
        is_like_it = any(same_page(kept.digest, variant.digest) for kept in self._kept)
        is_near = (self._is_near or is_like_it) and not self._embeds_others(variant, own)
        if is_near or self._breaks_lines_elsewhere(variant, own):
            return Judgement(Verdict.SAME)
        if len(self._variants) == 1:
            # Of two servers that take turns one may have answered for each URL.
            is_turn = len(own) <= _OF_A_SERVER and variant.digest.title == self.reference.title
            is_turn = is_turn and not self._changed and len(self._kept) == 1
            return Side.KEPT if is_turn else Side.VARIANT
        if len(own) <= self._came:
            # Some of what comes and goes may have come twice by chance.
            if all(map(self._noise.is_common, own)):
                return Judgement(Verdict.CANNOT_TELL, "other pages have what it shows of its own")
            if len(self._variants) < self._visits:
                return Side.KEPT if len(self._kept) < len(self._variants) else Side.VARIANT
        return self._judge_two(variant, own)

    def _judge_alike(self, variant: Shown) -> Judgement:
        """Return what is to be said of a variant that shows nothing of its own."""
        is_like_it = _share(self._kept[-1].lines, variant.lines) >= _RECOGNISED
        reason = "" if is_like_it else "it shows nothing of its own"
        if self.is_of_files or hide_what_differs(self.reference, variant.digest):
            reason = NO_TEXT
        return Judgement(Verdict.CANNOT_TELL if reason else Verdict.SAME, reason)

    def _judge_two(self, variant: Shown, own: frozenset[LineKey]) -> Judgement:
        """Return what is to be said of pages that differ by more than noise."""
        texts = self._kept[-1].texts
        lacking = frozenset(line for line in texts if not self._shows(line))
        mine, theirs = self._alone(own), self._alone(lacking)
        is_view = not mine and len(theirs) <= 1
        if len(mine) == 1 < len(own) and not theirs:
            is_view = self._repeats(variant.texts[mine[0]])
        if is_view:
            # As from a print view, which has a way back instead of a menu, or to one.
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
        """Return what lines say that are others in part at each visit; None if nothing.

        Of two pages each has such lines of its own, and more in them than both have in others. One
        page alone may say so how it was reached.
        """
        if len(self._variants) < _TWO_VISITS or not self._kept or self._is_changed:
            return None
        mine = own_of(moving_lines(*self._variants[-2:]), self._kept)
        if not mine:
            return None
        if len(self._kept) < _TWO_VISITS:
            return Side.KEPT
        theirs = own_of(moving_lines(*self._kept[-2:]), self._variants)
        texts = self._kept[-1].texts
        # Of lines with a number it is not known whether other pages have them.
        plain = (line for line in self._variants[-1].texts if line in texts and line[0] == line[1])
        shared = self._alone(plain)
        moving = MovingLines(mine, theirs)
        if not moving.is_most(map(texts.__getitem__, shared)):
            return None
        if len(self._variants) < MOST_FETCHES:
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

    def _breaks_lines_elsewhere(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether it is what the kept page shows alone, word by word, in other lines.

        As where a layout for small screens puts a paragraph in one box, and another one in two.
        """
        mine = (text for line, text in variant.texts.items() if line in own)
        theirs = (text for line, text in self._kept[-1].texts.items() if not self._shows(line))
        return " ".join(mine).split() == " ".join(theirs).split()

    def _embeds_others(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether all that one page embeds and the other does not is nowhere else."""
        mine = variant.media & own
        theirs = {line for line in self._kept[-1].media if not self._shows(line)}
        return bool(mine and theirs) and len(self._alone(mine | theirs)) == len(mine | theirs)

    def _alone(self, lines: Iterable[LineKey]) -> list[LineKey]:
        """Return those of *lines* that no other page is known to have."""
        return [line for line in lines if not self._noise.is_common(line)]

    def _repeats(self, text: str) -> bool:
        """Tell whether *text* says what the kept page says in a line of its own, and where it is.

        As "Home / Shoes" does above the page of shoes.
        """
        texts = self._kept[-1].texts
        names = sorted(map(texts.__getitem__, self._alone(texts)), key=len, reverse=True)
        rest = next((text.replace(name, "", 1) for name in names if name in text), text)
        return rest != text and len(rest.split()) <= _WORDS_OF_A_PATH

    def _own(self) -> frozenset[LineKey]:
        """Return what every fetch of the variant shows, and none of the kept page."""
        first, *others = (shown.texts for shown in self._variants)
        in_all = [line for line in first if all(line in texts for texts in others)]
        known = {line for shown in self._kept for line in shown.texts}
        own = [
            line
            for line in in_all
            if line not in known
            and line[1] not in self._lines.get(line[0], ())
            and not self._is_noise(line[0])
        ]
        if self._noise.rotates({shape for shape, _ in own}):
            return frozenset()
        variant_url, kept_url = self._urls
        mine: tuple[str, ...] = (variant_url,)
        theirs: tuple[str, ...] = (kept_url,)
        if len(known) >= _ECHOING_LINES:
            mine, theirs = echoes(variant_url, kept_url), echoes(kept_url, variant_url)
        plain = {without(theirs, text) for shown in self._kept for text in shown.texts.values()}
        return frozenset(line for line in own if without(mine, first[line]) not in plain)

    def _shows(self, line: LineKey) -> bool:
        return self._is_noise(line[0]) or any(line in shown.texts for shown in self._variants)

    def _is_noise(self, shape: int) -> bool:
        return shape in self._changed or self._noise.holds(shape)

    def _is_itself(self, kept: Shown) -> bool:
        """Tell whether the kept page, fetched again, is still the page that it was."""
        if same_page(self.reference, kept.digest):
            return True
        if self.reference.title != kept.digest.title and not self._has_title_of(kept):
            return False
        return self._is_again(self._lines, kept, self._limit)

    def _is_again(
        self, lines: Mapping[int, set[int]], shown: Shown, limit: int = UNBOUNDED
    ) -> bool:
        """Tell whether a page that had *lines* is what is *shown*.

        It is if that has most of what no other page has. All around it may be others, as on a site
        with several layouts, or with a new one.
        """
        if _share(lines, shown.lines, limit) >= _RECOGNISED:
            return True
        plain = ((shape, shape) for shape, exact in lines.items() if exact == {shape})
        known = (line for line in plain if line[0] < limit and not self._is_noise(line[0]))
        own = frozenset(self._alone(known))
        return bool(own) and shown.has(own)

    def _has_title_of(self, kept: Shown) -> bool:
        return kept.digest.title_shape == self.reference.title_shape


NO_TEXT = "there is no text to compare"
CHANGED = "the kept page differs from itself"
RESTLESS = "it differs from itself"
SHARED = "several pages show what it shows"


def _are_other_files(one: PageDigest, other: PageDigest) -> bool:
    """Tell whether neither is text that is read, and they differ."""
    return one.lines is None and other.lines is None and one.digest != other.digest


def _share(
    lines: Mapping[int, set[int]], others: Mapping[int, set[int]], limit: int = UNBOUNDED
) -> float:
    """Return which share of *lines* is among the *others*, whatever their numbers."""
    known = [shape for shape in lines if shape < limit]
    return sum(shape in others for shape in known) / len(known) if known else 0.0


def some_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return as many of *texts* as a verdict names."""
    return tuple(text for text, _ in zip(texts, range(_SHOWN_LINES), strict=False))
