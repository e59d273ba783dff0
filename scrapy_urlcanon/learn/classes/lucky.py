"""Classes with one word that may be but the luckiest of all that stand in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.derived import follow, way_of_most
from scrapy_urlcanon.learn.location import name_of
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.thresholds import Record
from scrapy_urlcanon.learn.trials.siblings import alike_to, among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from scrapy_urlcanon.learn.classes.derived import Way
    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.rates import Rate
    from scrapy_urlcanon.learn.thresholds import Thresholds

    Pages: TypeAlias = Sequence[tuple[Sequence[Location], Sequence[Location]]]
    RateBeside: TypeAlias = Callable[[tuple[()], Mapping[Location, Location]], Rate]


def lost_by_rivals(
    found: SkipClass,
    pages: Pages,
    classes: Iterable[SkipClass],
    groups: Groups,
    *,
    thresholds: Thresholds,
    rate_beside: RateBeside,
) -> int:
    """Return how many pages other words lose, in place of one that may be but the luckiest.

    Where each of three tabs has something to say of few things, one may have had none yet.

    :param pages: of each page of the class its URLs there, and others, at least one.
    :param classes: all classes of the site.
    :param rate_beside: how often captures change, as all candidates tell it but those that make
        one what some URLs are said to be one with.
    """
    rivals = _rivals(found, classes)
    way = way_of_most(pages) if rivals else None
    if way is None:
        return 0
    _, path, params = follow(way, min(found.members))
    kept = {*path.split("/"), *params}
    lost = 0
    for word, others in rivals.items():
        # A word that stays is the name of a thing, and some things may have nothing else to show.
        if word in kept:
            continue
        together = [found, *others]
        records: dict[object, Record] = {
            one.template: _record(one, way, groups) for one in together
        }
        alike = alike_to(found.template, records)
        if alike:
            mine, pooled, count = among(alike, found.template)
            urls = [min(one.members) for one in together]
            rate = rate_beside((), {url: follow(way, url) for url in urls})
            if not thresholds.special_word(mine, pooled, count, rate):
                lost += pooled.lost
    return lost


def _rivals(found: SkipClass, classes: Iterable[SkipClass]) -> dict[str, list[SkipClass]]:
    """Return the classes that differ from one in a word, by that word."""
    rivals: dict[str, list[SkipClass]] = {}
    own = [*_words(found.template)]
    for other in classes:
        if other.host == found.host and not other.sections and not found.sections:
            words = [*_words(other.template)]
            places = [n for n, pair in enumerate(zip(own, words, strict=False)) if len({*pair}) > 1]
            if len(own) == len(words) and len(places) == 1 and _are_words(own, words, places[0]):
                rivals.setdefault(own[places[0]], []).append(other)
    return rivals


def _words(template: str) -> Iterator[str]:
    path, _, query = template.partition("?")
    yield from path.split("/")
    yield "?"
    yield from query.split("&")


def _are_words(own: Sequence[str], others: Sequence[str], place: int) -> bool:
    """Tell whether there are two words in one place, or two values of one parameter."""
    one, other = own[place], others[place]
    is_query = place > own.index("?")
    return "{" not in one + other and (not is_query or name_of(one) == name_of(other))


def _record(found: SkipClass, way: Way, groups: Groups) -> Record:
    """Return how many pages of a class are at the place that is told from their URLs."""
    agree = lost = far = 0
    for page, urls in found.pages.items():
        there = {p for url in urls for p in _shown(follow(way, url), url, groups)}
        if page in there:
            agree += 1
        elif there:
            lost += 1
            far += all(groups.site.are_far(page, other) for other in there)
    return Record(agree, lost, far)


def _shown(place: Location, url: Location, groups: Groups) -> set[int]:
    if place == url or place not in groups.pages:
        return set()
    return {*groups.pages_of(place)} - {NO_EVIDENCE}
