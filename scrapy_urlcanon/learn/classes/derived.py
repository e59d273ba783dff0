"""How the other URL of a page comes of the one that it was seen under.

It may be the URL without a parameter, that of the newest version, or that of the thing which a tab
belongs to: it is made of texts and numbers of the one URL, and of some that are always the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.location import Location
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_urlcanon.learn.location import Address

_Piece: TypeAlias = "tuple[str | int, ...]"
Way: TypeAlias = "tuple[Address, tuple[_Piece, ...], tuple[_Piece, ...]]"
"""An address without its path, and the pieces of path and query: texts, and the places of those
that are taken from the one URL."""


def way_to(other: Location, one: Location) -> Way:
    """Return how a URL comes of another one.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> one, other = locate("http://a.example/v1/p7?tab=b"), locate("http://a.example/v2/p7")
    >>> follow(way_to(other, one), locate("http://a.example/v1/p8?tab=b")).url
    'http://a.example/v2/p8'
    """
    places = {text: place for place, text in reversed([*enumerate(_texts(one))])}
    address, params = other
    return (
        address._replace(path=""),
        tuple([_piece(segment, places) for segment in address.path.split("/")]),
        tuple([_piece(param, places) for param in params]),
    )


def follow(way: Way, one: Location) -> Location:
    """Return what comes of a URL in a way; the URL itself where it has too little for that."""
    address, path, query = way
    texts = _texts(one)
    try:
        segments, params = ([_filled(piece, texts) for piece in pieces] for pieces in (path, query))
    except IndexError:
        return one
    return Location(address._replace(path="/".join(segments)), tuple(sorted(params)))


def _texts(location: Location) -> list[str]:
    pieces = [*location.address.path.split("/"), *location.params]
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
