"""What two URLs have shown, fetch by fetch: what each has of its own, and what is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.pages.same_page import UNBOUNDED, LineKey, PageDigest, same_page, sampled_lines
from scrapy_urlcanon.pages.shown import echoes, without

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from scrapy_urlcanon.pages.noise import Noise
    from scrapy_urlcanon.pages.shown import Shown

_RECOGNISED = 0.35
"""The share of a page's lines that it has to show again to be itself."""
_ECHOING_LINES = 8
"""Of how many lines a page has to be for a part of its URL in one of them to be an echo, not its
content; its whole URL always is."""
_WORDS_OF_A_PATH = 4
"""Up to how many words a line may have besides the name of its page to say where that is."""
_LONGEST_PATH = 1_000
"""Characters of such a line, at most: all names are looked for in it."""


class TwoPages:
    """What a variant has shown, and the page that stands for it.

    :param reference: as of :class:`.Comparison`, as are all others.
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
        """What the kept page showed first."""
        self.lines, self._limit = sampled_lines(reference)
        """The lines that it showed first, or a sample of them."""
        self._noise = noise
        self.page = page or kept_url
        """By what the kept page is known."""
        self._variant_page = variant_page or self.page
        self._urls = variant_url, kept_url
        self.kept: list[Shown] = []
        """What the kept page showed each time that it was fetched again, and was itself."""
        self.variants: list[Shown] = []
        """What the variant showed at each fetch that brought it."""
        self._instead: Shown | None = None
        """What the kept page showed last when it was fetched again and was not itself."""
        self.is_changed = False
        """Whether it showed that twice, and so is that now."""
        self.changed: set[int] = set()
        """The lines that were not there again as they were."""
        self.came = 0
        """How many lines without a number one fetch of a URL had and another one not, at most."""

    def rename(self, names: Mapping[Any, Hashable]) -> None:
        """Know pages by their new *names*."""
        self.page = names.get(self.page, self.page)
        self._variant_page = names.get(self._variant_page, self._variant_page)

    # What is fetched.

    def add_kept(self, shown: Shown) -> bool:
        """Take over what the kept page showed; tell whether that is itself."""
        self._noise.saw(self.page, shown.lines)
        if not self.is_changed and self.is_itself(shown):
            self._note(self.lines, shown, self._limit)
        else:
            instead, self._instead = self._instead, shown
            if instead is None or not self._is_again(instead.lines, shown):
                return False
            # What the spider got was no page, as a captcha, or what it would get now is none.
            self.is_changed = True
            self.kept.append(instead)
        if self.kept:
            self._note(self.kept[-1].lines, shown)
        self.kept.append(shown)
        return True

    def add_variant(self, shown: Shown) -> bool:
        """Take over what the variant showed; tell whether that is itself."""
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
        """Tell whether a page that had *lines* is what is *shown*.

        It is if that has most of what no other page has. All around it may be others, as on a site
        with several layouts, or with a new one.
        """
        if _share(lines, shown.lines, limit) >= _RECOGNISED:
            return True
        plain = ((shape, shape) for shape, exact in lines.items() if exact == {shape})
        known = (line for line in plain if line[0] < limit and not self._is_noise(line[0]))
        own = frozenset(self.alone(known))
        return bool(own) and shown.has(own)

    def _has_title_of(self, kept: Shown) -> bool:
        return kept.digest.title_shape == self.reference.title_shape

    # What the variant has, and the kept page has not, or the other way round.

    @property
    def is_of_files(self) -> bool:
        """Whether what is compared is no text on one side at least, or too much of it."""
        return self.reference.lines is None or (
            bool(self.variants) and self.variants[0].digest.lines is None
        )

    def explains(self, variant: Shown) -> bool:
        """Tell whether all that *variant* and the kept page differ in is noise."""
        return self._noise.explains(self.reference, variant.digest, self.changed)

    def own(self) -> frozenset[LineKey]:
        """Return what every fetch of the variant shows, and none of the kept page."""
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
        # Either may name the other, as a feed does that spells its own address in one way.
        mine = theirs = tuple(sorted(self._urls, key=len, reverse=True))
        if len(known) >= _ECHOING_LINES:
            mine += echoes(variant_url, kept_url)
            theirs += echoes(kept_url, variant_url)
        plain = {without(theirs, text) for shown in self.kept for text in shown.texts.values()}
        plain.add("")
        return frozenset(line for line in own if without(mine, first[line]) not in plain)

    def shows(self, line: LineKey) -> bool:
        """Tell whether the variant shows *line* at times, or that is noise."""
        return self._is_noise(line[0]) or any(line in shown.texts for shown in self.variants)

    def alone(self, lines: Iterable[LineKey]) -> list[LineKey]:
        """Return those of *lines* that no other page is known to have."""
        return [line for line in lines if not self._noise.is_common(line)]

    def is_like_now(self, variant: Shown) -> bool:
        """Tell whether *variant* has as much of what the kept page is now as that would itself."""
        return _share(self.kept[-1].lines, variant.lines) >= _RECOGNISED

    def breaks_lines_elsewhere(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether it is what the kept page shows alone, word by word, in other lines.

        As where a layout for small screens puts a paragraph in one box, and another one in two.
        """
        mine = (text for line, text in variant.texts.items() if line in own)
        theirs = (text for line, text in self.kept[-1].texts.items() if not self.shows(line))
        return " ".join(mine).split() == " ".join(theirs).split()

    def may_embed_others(self, variant: Shown) -> bool:
        """Tell whether it may embed what no other page does, in the place of what the kept one has.

        Text is another matter: a trail, a greeting or what is related may be what the dropped
        parameter is about, and the page the same.
        """
        if variant.digest.media == self.reference.media:
            return False
        return any(
            shape not in self.lines and not self._is_noise(shape)
            for shape, _ in self.alone(variant.media)
        )

    def embeds_others(self, variant: Shown, own: frozenset[LineKey]) -> bool:
        """Tell whether all that one page embeds and the other does not is nowhere else."""
        mine = variant.media & own
        theirs = {line for line in self.kept[-1].media if not self.shows(line)}
        return bool(mine and theirs) and len(self.alone(mine | theirs)) == len(mine | theirs)

    def repeats(self, text: str) -> bool:
        """Tell whether *text* says what the kept page says in a line of its own, and where it is.

        As "Home / Shoes" does above the page of shoes.
        """
        if len(text) > _LONGEST_PATH:
            return False
        texts = self.kept[-1].texts
        names = sorted(map(texts.__getitem__, self.alone(texts)), key=len, reverse=True)
        rest = next((text.replace(name, "", 1) for name in names if name in text), text)
        return rest != text and len(rest.split()) <= _WORDS_OF_A_PATH

    def _is_noise(self, shape: int) -> bool:
        return shape in self.changed or self._noise.holds(shape)


def _share(
    lines: Mapping[int, set[int]], others: Mapping[int, set[int]], limit: int = UNBOUNDED
) -> float:
    """Return which share of *lines* is among the *others*, whatever their numbers."""
    known = [shape for shape in lines if shape < limit]
    return sum(shape in others for shape in known) / len(known) if known else 0.0
