"""Judges the classes of several sections together, if they differ in one word of the path.

Each section, such as one of twenty forums, may have too few pages to tell anything alone.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.confidence import at_most
from scrapy_urlcanon.learn.classes.members import MIN_MEMBERS, SkipClass
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

_MIN_SECTIONS = 3
"""How many sections it takes."""

_MAX_UNLIKE = 0.2
"""A section is left out if the probability that it has so many pages that were seen nowhere else is
no larger than this. It is the worse error to skip a section of other pages along with the rest."""

_WORD = re.compile(r"(?<=/)[^/?{}.]+(?=/)")


def sections_of(
    classes: Iterable[SkipClass],
    others_of: Callable[[SkipClass], Iterable[tuple[int, Collection[Location]]]],
) -> Iterator[SkipClass]:
    """Yield classes made of several sections that are alike.

    Sections with more pages that were seen nowhere else than the others have are left out.

    :param others_of: returns the pages of a class, each with the other URLs at which it was seen.
    """
    alike: dict[tuple[str, str, str], list[SkipClass]] = {}
    for found in classes:
        # The words before the last field of the path.
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
    """Yield an accepted class with its rule; if it is made of sections, each with its own."""
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
    """Yield the sections with no more pages seen nowhere else than chance makes, by the others."""
    for section in whole.sections:
        pages = len(section.pages)
        count = len(alone & section.pages.keys())
        share = (len(alone) - count) / max(1, len(whole.pages) - pages)
        chance = 1.0 - at_most(count - 1, pages, share) if count else 1.0
        if count < pages and len(section.members) >= MIN_MEMBERS and chance > _MAX_UNLIKE:
            yield section
