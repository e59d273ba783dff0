"""How the other URL of a page comes of the one that it was seen under.

It may be the URL without a parameter, that of the newest version, or that of the thing which a tab
belongs to: it is made of texts and numbers of the one URL, and of some that are always the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.location import Location
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from scrapy_urlcanon.learn.location import Origin

_Piece: TypeAlias = "tuple[str | int, ...]"
Way: TypeAlias = "tuple[Origin, tuple[_Piece, ...], tuple[_Piece, ...]]"
"""An origin, and the pieces of path and query: texts, and the places of those
that are taken from the one URL."""


def way_to(other: Location, one: Location) -> Way:
    """Return how a URL comes of another one.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/v1/p7?tab=b"), locate("http://a.example/v2/p7")
    >>> follow(way_to(other, one), locate("http://a.example/v1/p8?tab=b")).url
    'http://a.example/v2/p8'
    """
    places = {text: place for place, text in reversed([*enumerate(_texts(one))])}
    origin, path, params = other
    return (
        origin,
        tuple([_piece(segment, places) for segment in path.split("/")]),
        tuple([_piece(param, places) for param in params]),
    )


def way_of_most(pages: Iterable[tuple[Sequence[Location], Sequence[Location]]]) -> Way | None:
    """Return how other URLs come of those of a class, for most of the pages; None if for no way.

    :param pages: of each its URLs in the class, and others, at least one.

    A page that has thousands of either has millions of pairs. But what holds for most of the pages
    holds for some of any half of them: with the pairs of that half which has the fewest it is only
    to look for those ways.
    """
    ordered = sorted(pages, key=lambda page: len(page[0]) * len(page[1]))
    count: Counter[Way] = Counter()
    half = (len(ordered) + 1) // 2
    for urls, others in ordered[:half]:
        count.update({way_to(other, one) for one in urls for other in others})
    for done, (urls, others) in enumerate(ordered[half:], half):
        left, there = len(ordered) - done, set(others)
        count.update(
            [
                way
                for way, seen in count.items()
                if 2 * (seen + left) > len(ordered) and _leads(way, urls, there)
            ]
        )
    way = min(count, key=lambda way: (-count[way], repr(way)), default=None)
    return None if way is None or 2 * count[way] <= len(ordered) else way


def _leads(way: Way, urls: Iterable[Location], there: Container[Location]) -> bool:
    """Tell whether one of the other URLs comes of one of these in a way, and that is how."""
    return any((other := follow(way, one)) in there and way_to(other, one) == way for one in urls)


def follow(way: Way, one: Location) -> Location:
    """Return what comes of a URL in a way; the URL itself where it has too little for that."""
    origin, path, query = way
    texts = _texts(one)
    try:
        segments, params = ([_filled(piece, texts) for piece in pieces] for pieces in (path, query))
    except IndexError:
        return one
    return Location(origin, "/".join(segments), tuple(sorted(params)))


def _texts(location: Location) -> list[str]:
    pieces = [*location.path.split("/"), *location.params]
    return pieces + [number for piece in pieces for number in NUMBER.findall(piece)]


def _piece(text: str, places: Mapping[str, int]) -> _Piece:
    if text in places:
        return (places[text],)
    numbers = [*NUMBER.findall(text), ""]
    return tuple(
        part
        for literal, number in zip(NUMBER.split(text), numbers, strict=True)
        for part in (literal, places.get(number, number))
    )


def _filled(piece: _Piece, texts: Sequence[str]) -> str:
    return "".join(part if isinstance(part, str) else texts[part] for part in piece)
