"""Finds the few templates that a URL may fit, among the thousands of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_urlcanon.learn.classes.shapes import ANY_PATH
from scrapy_urlcanon.learn.location import IN_QUERY, host_of, name_of, value_of
from scrapy_urlcanon.learn.vocabulary import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.canonicalizer.text_templates import TextTemplate
    from scrapy_urlcanon.learn.location import Location

Item = TypeVar("Item")


class ClassIndex(Generic[Item]):
    """Templates, indexed by what all URLs that fit them have in common.

    That is the host, the names of the parameters, the depth of the path (unless the template takes
    any path), and the literal texts, with ``0`` in the place of numbers.

    >>> from scrapy_urlcanon.canonicalizer.templates import parse_template
    >>> from scrapy_urlcanon.learn.location import locate
    >>> index = ClassIndex()
    >>> for kind in ("a", "b"):
    ...     template = parse_template(f"/{kind}/{{id:digits}}")
    ...     index.add(locate(f"http://a.example/{kind}/7"), template, kind)
    >>> [kind for _, kind in index.likely(locate("http://a.example/b/8"))]
    ['b']
    """

    def __init__(self) -> None:
        self._templates: dict[
            tuple[object, ...],
            dict[tuple[int, ...], dict[tuple[str, ...], list[tuple[Template, Item]]]],
        ] = {}

    def add(self, location: Location, template: Template, item: Item) -> None:
        """Add an item under its template, which *location* fits."""
        host, depth, names = _outline(location)
        pieces = [
            *_with_places(template.path).split("/"),
            *((IN_QUERY, *_with_places(template.bare).split("/")) if template.bare else ()),
            *(_with_places(template.params[name]) for name in names if name in template.params),
        ]
        if ANY_PATH in template.text:
            depth, pieces = -1, pieces[2:]
        fixed = tuple([place for place, piece in enumerate(pieces) if _ANY_TEXT not in piece])
        text = tuple([NUMBER.sub("0", pieces[place]) for place in fixed])
        alike = self._templates.setdefault((host, depth, *names), {}).setdefault(fixed, {})
        alike.setdefault(text, []).append((template, item))

    def likely(self, location: Location) -> Iterator[tuple[Template, Item]]:
        """Yield the templates that a URL may fit; none that it fits is missing."""
        host, depth, names = _outline(location)
        of_depth = self._templates.get((host, depth, *names), {})
        of_any = self._templates.get((host, -1, *names), {})
        if not (of_depth or of_any):
            return
        values = [NUMBER.sub("0", value_of(param)) for param in location.params]
        pieces = [*NUMBER.sub("0", location.path).split("/"), *values]
        for classes, texts in ((of_depth, pieces), (of_any, values)):
            for fixed, alike in classes.items():
                yield from alike.get(tuple([texts[place] for place in fixed]), ())


_ANY_TEXT = "\0"
"""Stands for a field that matches more than numbers; no URL has this character."""


def _with_places(shape: TextTemplate) -> str:
    """Return the text of a template with ``0`` for each field that matches numbers."""
    return "".join(
        part if isinstance(part, str) else "0" if part.kind == "digits" else _ANY_TEXT
        for part in shape.parts
    )


def _outline(location: Location) -> tuple[str, int, tuple[str, ...]]:
    """Return the host of a URL, the number of slashes in its path, and its parameter names."""
    origin, path, params = location
    return host_of(origin), path.count("/"), tuple(map(name_of, params))
