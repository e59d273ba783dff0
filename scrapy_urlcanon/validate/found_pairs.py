"""Decides which pairs of URLs count as evidence for or against a rule.

A site may show the same to everybody: a log-in form, "not found", or a captcha. Such a page agrees
with every rule, and if it repeats what was asked for, it refutes every rule. So the pages of a pair
are compared with other pages, and a pair that shows no more than these is no evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from attrs import define, field

from scrapy_urlcanon.confidence import MAX_FALSE, Outcome, SequentialTest
from scrapy_urlcanon.crawl.checks.site_evidence import OtherPage, outcome_of
from scrapy_urlcanon.pages.common_contents import may_be_views
from scrapy_urlcanon.pages.shown import echoes, without
from scrapy_urlcanon.pages.signature import hash64
from scrapy_urlcanon.pages.verdict import SHARED, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_urlcanon.crawl.checks.site_evidence import SiteEvidence
    from scrapy_urlcanon.pages.shown import Shown
    from scrapy_urlcanon.pages.verdict import Judgement

NO_OTHER_PAGE = "no other page of the crawl could be fetched to tell it from"
LED_AWAY = "the page that stands for it led to another one"

_BETWEEN_NAMES = re.compile(r" [-|:/–—·»] ")
"""What separates the name of a page from that of its site in a title."""
_TEST = SequentialTest.of_max_false(MAX_FALSE)


@define(eq=False)
class FoundPair:
    """What the two URLs of a pair showed: the variant, and the kept URL that represents it."""

    other: OtherPage
    """Both URLs, and the lines that only the variant shows."""
    page: str
    """The key of the kept page."""
    judgement: Judgement
    is_led_away: bool
    """Whether the kept URL redirected to another page."""
    telling: Mapping[int, int] = field(factory=dict)
    """Hashes of the lines that every fetch showed or, for two pages, only the variant. What they
    repeat of the URLs is removed. The values are the hashes by which noise is recognised."""
    of_kept: Mapping[int, int] = field(factory=dict)
    """The same for the kept page, if the two show different pages."""
    every: frozenset[int] = frozenset()
    """Hashes of all lines that any fetch showed."""
    is_elsewhere: bool = False
    """Whether another page shows all of :attr:`telling`."""
    is_kept_elsewhere: bool = False
    """Whether another page shows all of :attr:`of_kept`."""

    def note(self, variants: Sequence[Shown], kept: Sequence[Shown]) -> None:
        """Note what the fetches of both URLs showed."""
        parts = _repeated(self.other.url, self.other.first)
        shown = [*kept, *variants]
        every = {key for each in shown for key in _keys_of(each, parts)}
        if self.judgement.verdict is Verdict.ANOTHER:
            mine = variants[0].texts
            theirs = kept[0].texts if kept else {}
            own = {line: mine[line] for line in self.judgement.own}
            self.telling = _without_names(own, theirs.items() - mine.items(), parts)
            self.of_kept = _without_names(theirs, mine.items() - theirs.items(), parts)
            every.update(self.telling, self.of_kept)
        else:
            self.telling = dict(_steady(shown, parts))
        self.every = frozenset(every)


@define(eq=False)
class FoundPairs:
    """The evidence for and against one rule.

    :param site: what is known of the pages, whatever rule they were fetched for.
    """

    site: SiteEvidence
    _found: list[FoundPair] = field(factory=list)
    _strangers: list[frozenset[int]] = field(factory=list)
    _is_controlled: bool = False

    def add(self, found: FoundPair) -> None:
        """Add a pair, and compare it with the others."""
        for each in self._found:
            self._hold_against(each, found)
            self._hold_against(found, each)
        for stranger in self._strangers:
            self._tell_from(found, stranger)
        self._found.append(found)
        if self._conclusion is not Outcome.OPEN:
            self._compare()

    def control(self, strangers: Iterable[tuple[str, Shown]]) -> None:
        """Compare all pairs with other pages.

        :param strangers: the URLs of other pages, and what they show.
        """
        self._is_controlled = True
        self._strangers += [frozenset(_keys_of(shown, _repeated(url))) for url, shown in strangers]
        self._compare()

    @property
    def page_to_control(self) -> str | None:
        """The page of all pairs if there is only one, and it was not compared with others yet.

        The site may show every other page in the same way.
        """
        if self._conclusion is Outcome.OPEN or self._is_controlled or not self._is_of_one_page:
            return None
        return self._found[-1].page

    @property
    def outcome(self) -> Outcome:
        """The conclusion so far."""
        return Outcome.OPEN if self.page_to_control is not None else self._conclusion

    @property
    def right(self) -> int:
        """How many pairs showed the same page."""
        return sum(map(_is_same, self._evidence))

    @property
    def others(self) -> list[OtherPage]:
        """The pairs that showed two pages."""
        return [each.other for each in self._evidence if not _is_same(each)]

    @property
    def reasons(self) -> Counter[str]:
        """How many pairs are no evidence, by the reason."""
        return Counter(reason for _, reason in self._with_reasons() if reason)

    @property
    def is_last_shared(self) -> bool:
        """Whether other pages show what the last pair showed."""
        *_, (_, reason) = self._with_reasons()
        return reason == SHARED

    @property
    def _conclusion(self) -> Outcome:
        return outcome_of(
            _TEST, (None if _is_same(found) else found.other for found in self._evidence)
        )

    @property
    def _evidence(self) -> list[FoundPair]:
        return [found for found, reason in self._with_reasons() if not reason]

    def _with_reasons(self) -> Iterator[tuple[FoundPair, str]]:
        """Yield each pair with the reason why it is no evidence, or an empty string if it is."""
        is_of_one_page = self._is_of_one_page
        # If no pair shows a page with content of its own, the rule may map real pages to one
        # without, which counts against it.
        has_pages = any(_is_same(each) and not each.is_elsewhere for each in self._found)
        for found in self._found:
            if found.judgement.verdict is Verdict.CANNOT_TELL:
                yield found, found.judgement.reason or SHARED
            elif found.is_elsewhere:
                yield found, SHARED
            elif not _is_same(found):
                is_shared = found.is_kept_elsewhere and has_pages
                is_evidence = not is_shared and self.site.is_evidence(found.other)
                yield found, "" if is_evidence else SHARED
            elif is_of_one_page and found.is_led_away:
                yield found, LED_AWAY
            elif is_of_one_page and self._is_controlled and not self._strangers:
                yield found, NO_OTHER_PAGE
            else:
                yield found, ""

    @property
    def _is_of_one_page(self) -> bool:
        """Whether the site may have shown a single page for everything that was asked."""
        judged = (each for each in self._found if each.judgement.verdict is not Verdict.CANNOT_TELL)
        telling = [each for each in judged if not each.is_elsewhere]
        return bool(telling) and all(
            each.other.first == telling[0].other.first
            or self._is_within(each.telling, telling[0].every)
            for each in telling
        )

    def _compare(self) -> None:
        """Compare each pair with each, since noise is better known by now."""
        for each in self._found:
            each.is_elsewhere = each.is_kept_elsewhere = False
            for other in self._found:
                self._hold_against(each, other)
            for stranger in self._strangers:
                self._tell_from(each, stranger)

    def _hold_against(self, found: FoundPair, other: FoundPair) -> None:
        are_views = may_be_views(other.other.dropped, found.other.dropped)
        if other.page != found.page and not are_views:
            self._tell_from(found, other.every)

    def _tell_from(self, found: FoundPair, every: frozenset[int]) -> None:
        """Note which parts of *found* another page, with the hashes *every*, shows as well."""
        found.is_elsewhere = found.is_elsewhere or self._is_within(found.telling, every)
        found.is_kept_elsewhere = found.is_kept_elsewhere or self._is_within(found.of_kept, every)

    def _is_within(self, keys: Mapping[int, int], every: frozenset[int]) -> bool:
        noise = self.site.noise
        return all(key in every or noise.holds(shape) for key, shape in keys.items())


def _is_same(found: FoundPair) -> bool:
    return found.judgement.verdict is Verdict.SAME


def _steady(shown: Sequence[Shown], parts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield hashes of what all of *shown* have in common; without numbers if these differ."""
    first, *others = shown
    for line, text in first.texts.items():
        if all(line in other.texts for other in others):
            yield _key(without(parts, text)), line[0]
        elif all(line[0] in other.lines for other in others):
            yield line[0], line[0]


def _keys_of(shown: Shown, parts: tuple[str, ...]) -> Iterator[int]:
    """Yield hashes of all lines of *shown*, with numbers and without."""
    for (shape, _), text in shown.texts.items():
        yield _key(without(parts, text))
        yield shape


def _key(text: str) -> int:
    return hash64(" ".join(text.split()).encode("utf-8", "surrogatepass"))


def _repeated(*urls: str) -> tuple[str, ...]:
    """Return the parts of URLs that pages may repeat, longest first."""
    parts = {part for url in urls for part in (*echoes(url, ""), urlsplit(url).path)}
    whole = {part for part in (*parts, *map(unquote, parts)) if len(part) > 1}
    return tuple(sorted(whole, key=len, reverse=True))


def _without_names(
    lines: Mapping[tuple[int, int], str],
    others: Iterable[tuple[tuple[int, int], str]],
    parts: tuple[str, ...],
) -> dict[int, int]:
    """Return hashes of *lines* without parts of URLs, and without words of *others*.

    A log-in form may name the page that was asked for.
    """
    if not lines:
        return {}
    joined = "\n".join(without(parts, text) for text in lines.values())
    names = {name for _, text in others for name in (text, *_BETWEEN_NAMES.split(text))}
    for name in sorted(names, key=len, reverse=True):
        if name and name in joined:
            joined = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", joined)
    return {_key(text): shape for text, (shape, _) in zip(joined.split("\n"), lines, strict=True)}
