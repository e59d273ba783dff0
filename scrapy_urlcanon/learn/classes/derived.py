"""Finds how the other URL of a page is made from the URL under which it was seen.

It may be the URL without a parameter, the URL of the newest version, or that of the thing to which
a tab belongs. It is made of texts and numbers of the first URL, and of texts that are always the
same. Where it should be another page may have been seen.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.location import Location
from scrapy_urlcanon.learn.site import NO_EVIDENCE
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.location import Origin

_Piece: TypeAlias = "tuple[str | int, ...]"
Way: TypeAlias = "tuple[Origin, tuple[_Piece, ...], tuple[_Piece, ...]]"
"""How to make a URL from another one: its origin, and the pieces of its path and query. Each piece
consists of literal texts, and of numbers: which of the texts of the other URL to take."""


def way_to(other: Location, one: Location) -> Way:
    """Return how *other* is made from *one*.

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
    """Return the way that leads from a URL of a class to another URL for most pages, or None.

    A page with thousands of both has millions of pairs. But a way that holds for most of the pages
    holds for at least one page of any half of them. So ways are collected from the half with the
    fewest pairs, and only these are tried on the other half.

    :param pages: for each page, its URLs in the class and its other URLs, at least one of each.
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
    """Tell whether *way* is the way from one of the *urls* to one of the URLs in *there*."""
    return any((other := follow(way, one)) in there and way_to(other, one) == way for one in urls)


def follow(way: Way, one: Location) -> Location:
    """Return the URL that *way* makes from *one*; *one* itself if it has too few texts."""
    origin, path, query = way
    texts = _texts(one)
    try:
        segments, params = ([_filled(piece, texts) for piece in pieces] for pieces in (path, query))
    except IndexError:
        return one
    return Location(origin, "/".join(segments), tuple(sorted(params)))


def shown_in_place(
    pages: Sequence[tuple[Sequence[Location], Sequence[Location]]],
    classes: Iterable[SkipClass],
    groups: Groups,
) -> Callable[[Location], set[int]]:
    """Return a function that tells which pages were seen where another URL should show a page.

    It takes a URL of a class. Where most pages of the class have their other URL is found by
    :func:`.way_of_most`: from the URL, as in the same URL without a parameter, or else back from
    the other URL. ``/article/7`` does not tell ``/user/3/article/7``, but the latter tells the
    former.

    :param pages: for each page of the class, its URLs there and its other URLs, at least one.
    :param classes: the other classes with any of these.
    """
    way, back = way_of_most(pages), way_of_most((others, urls) for urls, others in pages)
    led: dict[Location, set[int]] = {}
    if back:
        for beside in classes:
            for url in beside.members:
                led.setdefault(follow(back, url), set()).update(groups.pages_of(url))

    def shown(one: Location) -> set[int]:
        if way and (url := follow(way, one)) in groups.pages:
            # Then ways back do not count: `/7/reviews` leads to `/7`, but does not show `/7?print`.
            found = {*groups.pages_of(url)}
        else:
            found = led.get(one, set())
        return found - {NO_EVIDENCE}

    return shown


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
