"""Redirects that go by where the visitor came from.

``/add-tag/old`` leads back to the list that linked it, with ``old`` added to its tags, or to the
cloud of tags, where that was read. A crawl fetches it once, so that it looks as if one of these
were what it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.learn.location import Location, Origin, name_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Shape: TypeAlias = "tuple[Origin, tuple[str, ...], tuple[tuple[str, str], ...]]"
"""A URL with :data:`_PLACE` wherever its text stood."""

# No path and no value has it.
_PLACE = "\0"

#: Texts of which both places were seen, with two pages, before it is no accident.
_MIN_TEXTS = 3


def wavering(
    redirects: Iterable[tuple[Location, Location]], page_of: Callable[[Location], int | None]
) -> frozenset[Location]:
    """Return the URLs that redirect to one place or another, by what is no part of them.

    That is so where other URLs of their shape lead elsewhere with the same text in its place, and
    there is another page under it.

    :param redirects: URLs, and where they lead.
    :param page_of: says which page a URL shows, None where that is not known.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> at = {f"{place}t{i}": i for i, place in enumerate(["/?tag="] * 6 + ["/cloud?tag="] * 6)}
    >>> cloud = {f"http://a.example/cloud?tag=t{i}": 10 + i for i in range(6)}
    >>> pages = {f"http://a.example/?tag=t{i}": i for i in range(6)} | cloud
    >>> hops = [
    ...     (locate(f"http://a.example/add/t{i}"), locate(f"http://a.example/{place}?tag=t{i}"))
    ...     for i in range(6)
    ...     for place in [("", "cloud")[i % 2]]
    ... ]
    >>> len(wavering(hops, lambda url: pages.get(url.url)))
    6
    """
    hops: dict[_Shape, dict[_Shape, dict[str, Location]]] = {}
    for source, target in redirects:
        text = max(_texts(source) & _texts(target), key=lambda text: (len(text), text), default="")
        if text:
            ways = hops.setdefault(_shape(source, text), {})
            ways.setdefault(_shape(target, text), {})[text] = source
    found: set[Location] = set()
    for ways in hops.values():
        # One that few take is no place to which others may lead as well.
        usual = [way for way, sources in ways.items() if len(sources) >= _MIN_TEXTS]
        if len(usual) > 1 and _lead_apart(ways, usual, page_of):
            found.update(source for sources in ways.values() for source in sources.values())
    return frozenset(found)


def _lead_apart(
    ways: dict[_Shape, dict[str, Location]],
    usual: list[_Shape],
    page_of: Callable[[Location], int | None],
) -> bool:
    """Tell whether there are other pages where URLs would have led that took another way."""
    apart = 0
    for way in usual:
        for text in ways[way]:
            pages = {page_of(_filled(other, text)) for other in usual} - {None}
            apart += len(pages) > 1
            if apart >= _MIN_TEXTS:
                return True
    return False


def _texts(url: Location) -> set[str]:
    return {*url.path.split("/"), *map(value_of, url.params)}


def _shape(url: Location, text: str) -> _Shape:
    segments = [_PLACE if segment == text else segment for segment in url.path.split("/")]
    params = [(name_of(p), value_of(p)) for p in url.params]
    return (
        url.origin,
        tuple(segments),
        tuple([(name, _PLACE if value == text else value) for name, value in params]),
    )


def _filled(shape: _Shape, text: str) -> Location:
    origin, segments, params = shape
    return Location(
        origin,
        "/".join([text if segment == _PLACE else segment for segment in segments]),
        tuple(sorted(name + "=" + (text if value == _PLACE else value) for name, value in params)),
    )
