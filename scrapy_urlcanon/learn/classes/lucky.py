"""Classes with one word that may be but the luckiest of all that stand in its place."""

from __future__ import annotations

from functools import lru_cache, partial
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

    _Rest: TypeAlias = tuple[str, tuple[str, ...], int]
    Pages: TypeAlias = Sequence[tuple[Sequence[Location], Sequence[Location]]]
    RateBeside: TypeAlias = Callable[[tuple[()], Mapping[Location, Location]], Rate]


class Rivals:
    """The classes of a site that differ in one word: one of them may be but the luckiest.

    Where each of three tabs has something to say of few things, one may have had none yet.

    :param classes: all classes of the site.
    :param rate_beside: how often captures change, as all candidates tell it but those that make
        one what some URLs are said to be one with.
    """

    def __init__(
        self,
        classes: Iterable[SkipClass],
        groups: Groups,
        thresholds: Thresholds,
        rate_beside: RateBeside,
    ) -> None:
        self._groups, self._thresholds, self._rate_beside = groups, thresholds, rate_beside
        # By what is left of them without a word.
        self._alike: dict[_Rest, list[SkipClass]] = {}
        for one in classes:
            for _, rest in _without_a_word(one):
                self._alike.setdefault(rest, []).append(one)
        # Classes that differ in one word mostly have the way to their pages in common.
        self._record = lru_cache(maxsize=None)(partial(_record, groups=groups))

    def lose(self, found: SkipClass, pages: Pages) -> int:
        """Return how many pages other words lose, in place of one that may be but the luckiest.

        :param pages: of each page of the class its URLs there, and others, at least one.
        """
        rivals = self._of(found)
        way = way_of_most(pages) if rivals else None
        if way is None:
            return 0
        _, path, params = follow(way, min(found.members))
        kept = {*path.split("/"), *params}
        lost = 0
        for word, places in rivals.items():
            # A word that stays is the name of a thing, and some things may have nothing else to
            # show.
            if word in kept:
                continue
            others = [one for there in places for one in there if one is not found]
            together = [found, *others]
            records: dict[object, Record] = {
                one.template: self._record(one, way) for one in together
            }
            alike = alike_to(found.template, records)
            if not alike:
                continue
            mine, pooled, count = among(alike, found.template)
            if pooled.lost:
                urls = [min(one.members) for one in together]
                rate = self._rate_beside((), {url: follow(way, url) for url in urls})
                if not self._thresholds.special_word(mine, pooled, count, rate):
                    lost += pooled.lost
        return lost

    def _of(self, found: SkipClass) -> dict[str, list[list[SkipClass]]]:
        """Return the classes that differ from one in a word, by that word; also the class itself.

        There is a list for each place where it has that word.
        """
        rivals: dict[str, list[list[SkipClass]]] = {}
        for word, rest in _without_a_word(found):
            alike = self._alike[rest]
            if len(alike) > 1:
                rivals.setdefault(word, []).append(alike)
        return rivals


def _without_a_word(found: SkipClass) -> Iterator[tuple[str, _Rest]]:
    """Yield each word of a template with what is left without it; of parameters the name is left.

    A class that is made of sections has none.
    """
    words = [] if found.sections else [*_words(found.template)]
    for place, word in enumerate(words):
        if "{" not in word:
            name = name_of(word) if place > words.index("?") else ""
            yield word, (found.host, (*words[:place], name, *words[place + 1 :]), place)


def _words(template: str) -> Iterator[str]:
    path, _, query = template.partition("?")
    yield from path.split("/")
    yield "?"
    yield from query.split("&")


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
