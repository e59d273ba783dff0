"""Keeps what two URLs showed at each fetch: which lines only one has, and which are noise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from scrapy_urlcanon.pages.same_page import UNBOUNDED, LineKey, PageDigest, same_page, sampled_lines
from scrapy_urlcanon.pages.shown import echoes, without

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from scrapy_urlcanon.pages.noise import Noise
    from scrapy_urlcanon.pages.shown import Shown

_RECOGNISED = 0.35
"""A page that is fetched again is itself if it shows at least this share of its lines."""
_ECHOING_LINES = 8
"""On a page with at least this many lines, a part of its URL in a line is an echo, not content. Its
whole URL always is one."""
_WORDS_OF_A_TRAIL = 4
"""How many words a line may have besides the name of its page, if it is a trail to that page."""
_LONGEST_TRAIL = 1_000
"""The longest such line, in characters, since all names are searched in it."""

_WORDS_OF_DATA = 8
"""The fewest words that the data for scripts of a page must have of their own to tell it from
another page of the same text."""
_WORD = re.compile(r"[^\W\d_]+")


class TwoPages:
    """What a variant and its kept page showed at each fetch.

    The parameters are those of :class:`.Comparison`.
    """

    def __init__(
        self,
        reference: PageDigest,
        noise: Noise,
        kept_url: str,
        variant_url: str,
        *,
        page: Hashable,
        variant_page: Hashable,
    ) -> None:
        self.reference = reference
        """What the kept page showed when the spider got it."""
        self.lines, self._limit = sampled_lines(reference)
        """Its lines, or a sample of them."""
        self._noise = noise
        self.page = page or kept_url
        """The key of the kept page."""
        self._variant_page = variant_page or self.page
        self._urls = variant_url, kept_url
        self.kept: list[Shown] = []
        """What the kept page showed each time that it was fetched again, and was itself."""
        self.variants: list[Shown] = []
        """What the variant showed each time that it was fetched, and was itself."""
        self._instead: Shown | None = None
        """What the kept page showed the last time that it was not itself."""
        self.is_changed = False
        """Whether that was the same twice, so that it is the page now."""
        self.changed: set[int] = set()
        """The lines that changed between two fetches of one URL."""
        self.came = 0
        """The most lines without a number that appeared between two fetches of a URL."""

    def rename(self, names: Mapping[Any, Hashable]) -> None:
        """Replace keys of pages by those of *names*."""
        self.page = names.get(self.page, self.page)
        self._variant_page = names.get(self._variant_page, self._variant_page)

    # Fetches.

    def add_kept(self, shown: Shown) -> bool:
        """Note what the kept page showed; tell whether that is the page itself."""
        self._noise.saw(self.page, shown.lines)
        if not self.is_changed and self.is_itself(shown):
            self._note(self.lines, shown, self._limit)
        else:
            instead, self._instead = self._instead, shown
            if instead is None or not self._is_again(instead.lines, shown):
                return False
            # Either the spider got a wall, such as a captcha, or it would get one now.
            self.is_changed = True
            self.kept.append(instead)
        if self.kept:
            self._note(self.kept[-1].lines, shown)
        self.kept.append(shown)
        return True

    def add_variant(self, shown: Shown) -> bool:
        """Note what the variant showed; tell whether that is the same page as before."""
        self._noise.saw(self._variant_page, shown.lines)
        if self.variants:
            if not self._is_again(self.variants[0].lines, shown):
                return False
            self._note(self.variants[-1].lines, shown)
        self.variants.append(shown)
        return True

    def _note(self, lines: Mapping[int, set[int]], shown: Shown, limit: int = UNBOUNDED) -> None:
        changed = self._noise.note(lines, shown.lines, limit)
        self.changed |= changed
        came = sum(1 for shape in changed if shown.lines.get(shape) == {shape})
        self.came = max(self.came, came)

    def is_itself(self, kept: Shown) -> bool:
        """Tell whether the kept page, fetched again, is still the page that it was."""
        if same_page(self.reference, kept.digest):
            return True
        if self.reference.title != kept.digest.title and not self._has_title_of(kept):
            return False
        return self._is_again(self.lines, kept, self._limit)

    def _is_again(
        self, lines: Mapping[int, set[int]], shown: Shown, limit: int = UNBOUNDED
    ) -> bool:
        """Tell whether *shown* is the page that had *lines*.

        It is if it has a third of these, or most of those that no other page has: the rest may
        differ, as on a site with several layouts.
        """
        if _share(lines, shown.lines, limit) >= _RECOGNISED:
            return True
        plain = ((shape, shape) for shape, exact in lines.items() if exact == {shape})
        known = (line for line in plain if line[0] < limit and not self._is_noise(line[0]))
        own = frozenset(self.alone(known))
        return bool(own) and shown.has(own)

    def _has_title_of(self, kept: Shown) -> bool:
        return kept.digest.title_shape == self.reference.title_shape

    @property
    def has_control(self) -> bool:
        """Whether the kept page was fetched a second time, and was itself."""
        return bool(self.kept) and not self.is_changed

    # Differences.

    @property
    def is_of_files(self) -> bool:
        """Whether at least one of the two is no text, or too long to be read as text."""
        return self.reference.lines is None or (
            bool(self.variants) and self.variants[0].digest.lines is None
        )

    def explains(self, variant: Shown) -> bool:
        """Tell whether all lines in which *variant* and the kept page differ are noise."""
        return self._noise.explains(self.reference, variant.digest, self.changed)

    def own(self) -> frozenset[LineKey]:
        """Return the lines that each fetch of the variant shows, and no fetch of the kept page."""
        first, *others = (shown.texts for shown in self.variants)
        in_all = [line for line in first if all(line in texts for texts in others)]
        known = {line for shown in self.kept for line in shown.texts}
        own = [
            line
            for line in in_all
            if line not in known
            and line[1] not in self.lines.get(line[0], ())
            and not self._is_noise(line[0])
        ]
        if self._noise.rotates({shape for shape, _ in own}):
            return frozenset()
        variant_url, kept_url = self._urls
        # A page may show either URL, as a feed does that always states one form of its address.
        mine = theirs = tuple(sorted(self._urls, key=len, reverse=True))
        if len(known) >= _ECHOING_LINES:
            mine += echoes(variant_url, kept_url)
            theirs += echoes(kept_url, variant_url)
        plain = {without(theirs, text) for shown in self.kept for text in shown.texts.values()}
        plain.add("")
        return frozenset(line for line in own if without(mine, first[line]) not in plain)

    def shows(self, line: LineKey) -> bool:
        """Tell whether any fetch of the variant shows *line*, or whether that is noise."""
        return self._is_noise(line[0]) or any(line in shown.texts for shown in self.variants)

    def alone(self, lines: Iterable[LineKey]) -> list[LineKey]:
        """Return those of *lines* that no other page is known to have."""
        return [line for line in lines if not self._noise.is_common(line)]

    def is_like_now(self, variant: Shown) -> bool:
        """Tell whether *variant* has as many lines of the present kept page as that page must."""
        return _share(self.kept[-1].lines, variant.lines) >= _RECOGNISED

    def breaks_lines_elsewhere(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether both pages have the same words with line breaks at other places.

        A layout for small screens may have a paragraph in one box, and another layout in two.

        :param own: the lines that only the variant has.
        """
        mine = (text for line, text in variant.texts.items() if line in own)
        theirs = (text for line, text in self.kept[-1].texts.items() if not self.shows(line))
        return " ".join(mine).split() == " ".join(theirs).split()

    def may_embed_others(self, variant: Shown) -> bool:
        """Tell whether *variant* embeds something that no other page does, unlike the kept page.

        Then it may be another page although the text is nearly the same. Small differences of text
        are no such sign: a trail, a greeting or related links may depend on the dropped parameter.
        """
        if variant.digest.media == self.reference.media:
            return False
        return self.hides_others(variant) or any(
            shape not in self.lines and not self._is_noise(shape)
            for shape, _ in self.alone(variant.media)
        )

    def hides_others(self, variant: Shown) -> bool:
        """Tell whether *variant* has the text of the kept page, and other inline scripts."""
        one, other = variant.digest, self.reference
        return (one.digest, one.title) == (other.digest, other.title) and one.media != other.media

    def phrases(self) -> tuple[dict[LineKey, str], dict[LineKey, str]]:
        """Return the phrases that only the scripts of the variant have, and only the kept page's.

        Both are empty if those of either page have few words, since data may say how a page was
        reached, or fewer than come and go between two visits. Phrases of words of the two URLs are
        left out, since data often have the whole query.
        """
        variants, kept = ([shown.phrases for shown in side] for side in (self.variants, self.kept))
        asked = {*_WORD.findall(unquote_plus(" ".join(self._urls)).casefold())}
        moving: list[str] = []
        found: list[dict[LineKey, str]] = []
        for side, others in ((variants, kept), (kept, variants)):
            texts = {key: text for phrases in side for key, text in phrases.items()}
            steady = {key for key in texts if all(key in phrases for phrases in side)}
            moving += (text for key, text in texts.items() if key not in steady)
            own = ((key, texts[key]) for key in steady.difference(*others))
            found.append({key: text for key, text in own if {*text.casefold().split()} - asked})
        least = max(_WORDS_OF_DATA, 1 + _words_in(moving))
        if any(_words_in(own.values()) < least for own in found):
            return {}, {}
        mine, theirs = found
        return mine, theirs

    def embeds_others(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether each page embeds something the other does not, and no other page does."""
        mine = variant.media & own
        theirs = {line for line in self.kept[-1].media if not self.shows(line)}
        return bool(mine and theirs) and len(self.alone(mine | theirs)) == len(mine | theirs)

    def repeats(self, text: str) -> bool:
        """Tell whether *text* is a line of the kept page with a few words of a breadcrumb trail.

        For example "Home / Shoes", if the page has the line "Shoes".
        """
        if len(text) > _LONGEST_TRAIL:
            return False
        texts = self.kept[-1].texts
        names = sorted(map(texts.__getitem__, self.alone(texts)), key=len, reverse=True)
        rest = next((text.replace(name, "", 1) for name in names if name in text), text)
        return rest != text and len(rest.split()) <= _WORDS_OF_A_TRAIL

    def _is_noise(self, shape: int) -> bool:
        return shape in self.changed or self._noise.holds(shape)


def _words_in(texts: Iterable[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _share(
    lines: Mapping[int, set[int]], others: Mapping[int, set[int]], limit: int = UNBOUNDED
) -> float:
    """Return which share of *lines* is among *others*, without regard to numbers in them."""
    known = [shape for shape in lines if shape < limit]
    return sum(shape in others for shape in known) / len(known) if known else 0.0
