"""Finds redirects whose target depends on the page that the visitor came from.

``/add-tag/old`` leads back to the list that linked it, with ``old`` added to its tags, or to the
tag cloud if that linked it. A crawl fetches it once, and it looks as if it always led there.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.location import Location, Origin, name_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Shape: TypeAlias = "tuple[Origin, tuple[str, ...], tuple[tuple[str, str], ...]]"
"""A URL with :data:`_PLACE` in the place of one text."""

# No path and no value has this character.
_PLACE = "\0"

_MIN_TEXTS = 3
"""How many texts must lead to a place before other texts are taken to lead there, too."""


def wavering(
    redirects: Iterable[tuple[Location, Location]],
    seen: Callable[[], Iterable[tuple[Location, int]]],
) -> frozenset[Location]:
    """Return the URLs that redirect to one of several places, though nothing in them says which.

    They are found by their shape: URLs of one shape lead to several places, each with the text of
    the URL in it, and some text has a different page at two of these places. (If numbers lead to a
    blog or to the news, each number has a page at one of the two only.)

    :param redirects: URLs, each with its target.
    :param seen: returns the URLs that show a page, each with the page.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> lists, clouds, adds = (
    ...     [locate(f"http://a.example/{place}t{i}") for i in range(6)]
    ...     for place in ("?tag=", "cloud?tag=", "add/")
    ... )
    >>> hops = [*zip(adds[:3], lists), *zip(adds[3:], clouds[3:])]
    >>> len(wavering(hops, lambda: zip(lists, range(6))))
    0
    >>> len(wavering(hops, lambda: [*zip(lists, range(6)), (clouds[5], 6)]))
    6
    """
    hops: dict[_Shape, dict[_Shape, dict[str, Location]]] = {}
    for source, target in redirects:
        text = max(_texts(source) & _texts(target), key=lambda text: (len(text), text), default="")
        if text:
            places = hops.setdefault(_shape(source, text), {})
            places.setdefault(_shape(target, text), {})[text] = source
    usual = {
        shape: [place for place, sources in places.items() if len(sources) >= _MIN_TEXTS]
        for shape, places in hops.items()
    }
    several = {shape: places for shape, places in usual.items() if len(places) > 1}
    if not several:
        return frozenset()
    shown = _shown({place for places in several.values() for place in places}, seen())
    return frozenset(
        source
        for shape, places in several.items()
        if any(_differ(shown[one], shown[other]) for one, other in combinations(places, 2))
        for sources in hops[shape].values()
        for source in sources.values()
    )


def _shown(
    places: Iterable[_Shape], seen: Iterable[tuple[Location, int]]
) -> dict[_Shape, dict[str, int]]:
    """Return for each place the page of each text."""
    found: dict[_Shape, dict[str, int]] = {place: {} for place in places}
    for url, page in seen:
        for text in _texts(url):
            shape = _shape(url, text)
            if shape in found:
                found[shape][text] = page
    return found


def _differ(one: dict[str, int], other: dict[str, int]) -> bool:
    return any(one[text] != other[text] for text in one.keys() & other.keys())


def _texts(url: Location) -> set[str]:
    return {*url.path.split("/"), *map(value_of, url.params)} - {""}


def _shape(url: Location, text: str) -> _Shape:
    segments = [_PLACE if segment == text else segment for segment in url.path.split("/")]
    params = [(name_of(p), value_of(p)) for p in url.params]
    return (
        url.origin,
        tuple(segments),
        tuple([(name, _PLACE if value == text else value) for name, value in params]),
    )
