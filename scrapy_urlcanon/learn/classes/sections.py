"""Sections of a site, whose classes are judged together: they differ in one word of the path.

Where each section has few pages, such as one of twenty forums, all of them tell what none tells
alone.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import at_most
from scrapy_urlcanon.learn.classes.members import SkipClass
from scrapy_urlcanon.learn.classes.refused import evidence_of
from scrapy_urlcanon.learn.classes.shapes import is_title
from scrapy_urlcanon.learn.vocabulary import LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from scrapy_urlcanon.learn.classes.look import Look
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.results.rule import Evidence, LearnedRule
    from scrapy_urlcanon.learn.thresholds import Thresholds

_MIN_SECTIONS, _MIN_MEMBERS = 3, 4
"""Fewer classes are no sections, and fewer members of one tell nothing."""

_MAX_UNLIKE = 0.2
"""How probable it must be that a section has as many pages that were seen nowhere else: it is the
worse error to lose a section of other pages among those of which it is one."""

_WORD = re.compile(r"(?<=/)[^/?{}.]+(?=/)")


def sections_of(
    classes: Iterable[SkipClass],
    others_of: Callable[[SkipClass], Iterable[tuple[int, Collection[Location]]]],
) -> Iterator[SkipClass]:
    """Yield what sections are together, without those more pages of which were seen nowhere else.

    :param others_of: the pages of a class, with the other URLs at which each was seen.
    """
    alike: dict[tuple[str, str, str], list[SkipClass]] = {}
    for found in classes:
        # What stands before a place in the path.
        last = found.template.partition("?")[0].rfind("{")
        for word in _WORD.finditer(found.template, 0, max(last, 0)):
            if not (LANGUAGE.fullmatch(word[0]) or is_title(word[0])):
                before, after = found.template[: word.start()], found.template[word.end() :]
                alike.setdefault((found.host, before, after), []).append(found)
    for (host, before, after), sections in alike.items():
        template = f"{before}{{section}}{after}"
        if len(sections) >= _MIN_SECTIONS:
            whole = _together(host, template, sections)
            alone = {page for page, others in others_of(whole) if not others}
            kept = [*_alike(whole, alone)]
            if len(kept) >= _MIN_SECTIONS:
                yield _together(host, template, kept)


def said(
    found: SkipClass,
    evidence: Evidence,
    look_at: Callable[[SkipClass], Look],
    domain: str,
    thresholds: Thresholds,
) -> Iterator[tuple[SkipClass, LearnedRule]]:
    """Yield a class that is accepted with its rule; of sections each with its own."""
    for section in found.sections:
        own = evidence_of(section, look_at(section), Counter(), thresholds)
        yield section, section.rule(domain, own)
    if not found.sections:
        yield found, found.rule(domain, evidence)


def _together(host: str, template: str, sections: Iterable[SkipClass]) -> SkipClass:
    found = SkipClass(host, template, sections=tuple(sections))
    for section in found.sections:
        found.members |= section.members
        for page, showing in section.pages.items():
            found.pages.setdefault(page, []).extend(showing)
    return found


def _alike(whole: SkipClass, alone: AbstractSet[int]) -> Iterator[SkipClass]:
    """Yield the sections that have no more pages alone than the others, but for chance."""
    for section in whole.sections:
        pages = len(section.pages)
        count = len(alone & section.pages.keys())
        share = (len(alone) - count) / max(1, len(whole.pages) - pages)
        chance = 1.0 - at_most(count - 1, pages, share) if count else 1.0
        if count < pages and len(section.members) >= _MIN_MEMBERS and chance > _MAX_UNLIKE:
            yield section
