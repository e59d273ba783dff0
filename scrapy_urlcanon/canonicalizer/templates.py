"""Templates: the shape of a path and of parameters, with named places.

A template is a path and, behind a ``?``, the parameters that it needs::

    /books/{slug}/{isbn:digits}-item.html
    /index.php?page=article&id={id}
    /showthread.php?{id:digits}-{title}

``{name}`` or ``{name:class}`` stands for one or more characters: :mod:`.text_templates` has the
classes, and how the places of one text are found.

A parameter that has no ``=`` is read as a path is, so that ``/index.php?/topic/{id}`` takes no
slash for a part of the number. At most one may have places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import as_path, encode_path, encode_query_text
from scrapy_urlcanon.canonicalizer.text_templates import PLACE, TextTemplate, parse_parts
from scrapy_urlcanon.canonicalizer.url import is_utf8
from scrapy_urlcanon.exceptions import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.text_templates import Place
    from scrapy_urlcanon.canonicalizer.url import Url


@frozen(eq=False)
class Template:
    """A path and the parameters that belong to it, each the shape of a text.

    >>> template = parse_template("/test/{kind}?id={id:digits}")
    >>> str(template), list(template.kinds.items())
    ('/test/{kind}?id={id:digits}', [('kind', 'segment'), ('id', 'digits')])
    """

    text: str
    """As it was written."""
    path: TextTemplate
    params: Mapping[str, TextTemplate]
    """The shapes of the values, by the percent-encoded name of the parameter."""
    bare: TextTemplate | None = None
    """The shape of the parameter that has no ``=``, as a path; None if there is none."""

    def __str__(self) -> str:
        return self.text

    @property
    def places(self) -> tuple[Place, ...]:
        """All places, those of the path first."""
        bare = self.bare.places if self.bare else ()
        return self.path.places + bare + self.places_of_params

    @property
    def places_of_params(self) -> tuple[Place, ...]:
        """The places in values of parameters."""
        return tuple(place for shape in self.params.values() for place in shape.places)

    @property
    def has_query(self) -> bool:
        """Whether it names parameters."""
        return bool(self.params) or self.bare is not None

    @property
    def kinds(self) -> dict[str, str]:
        """The class of each name."""
        return {place.name: place.kind for place in self.places}

    def match(self, url: Url) -> Match | None:
        """Return what the normalized *url* has in each place, or None if it does not fit.

        It does not fit if it has one of the parameters twice, or several that have the shape of
        the one without ``=``.
        """
        found = self.path.match(url.path)
        if found is None:
            return None
        if not self.has_query:
            return Match(found, url.query or ())
        others: list[str] = []
        seen = set()
        for piece in url.query or ():
            name, _, value = piece.partition("=")
            shape = self.params.get(name)
            if shape is None:
                others.append(piece)
                continue
            in_value = None if name in seen else shape.match(value)
            if in_value is None:
                return None
            seen.add(name)
            found |= in_value
        if self.bare is not None:
            fitting = self.fitting(others)
            if len(fitting) != 1:
                return None
            ((piece, in_bare),) = fitting
            others.remove(piece)
            found |= in_bare
        return Match(found, tuple(others)) if len(seen) == len(self.params) else None

    def fitting(self, pieces: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
        """Return those of *pieces* that have the shape of the parameter without ``=``.

        Each comes with what it has in each place.
        """
        return [
            (piece, found)
            for piece in pieces
            if self.bare is not None
            and not piece.partition("=")[2]
            and (found := self.bare.match(as_path(piece.removesuffix("=")))) is not None
        ]


class Match(NamedTuple):
    """How a template fits a URL."""

    found: Mapping[str, str]
    """What stands in each place, percent-encoded as it is there."""
    others: tuple[str, ...]
    """The pieces of the query that the template does not name."""


class TemplateIndex:
    """Finds, among many templates, those that a URL may fit, in nearly constant time.

    They are indexed by their literal texts: the value of a parameter, or the first segment of the
    path (or else its beginning) and its end. Beginnings and ends have few different lengths.

    >>> from scrapy_urlcanon.canonicalizer.url import split
    >>> index = TemplateIndex(map(parse_template, ["/a/{id}", "/b/{id}", "/{page}.html"]))
    >>> index.candidates(split("http://example.com/b/7"))
    [1]
    """

    def __init__(self, templates: Iterable[Template]) -> None:
        self._by_value: dict[tuple[str, str], list[int]] = {}
        # By the lengths of beginning and end; None stands for the whole first segment.
        self._by_ends: dict[tuple[int | None, int], dict[tuple[str, str], list[int]]] = {}
        for position, template in enumerate(templates):
            self._file(template, position)
        self._lengths = list(self._by_ends.items())

    def _file(self, template: Template, position: int) -> None:
        for name, shape in template.params.items():
            if not shape.places:
                value = "".join(map(str, shape.parts))
                self._by_value.setdefault((name, value), []).append(position)
                return
        first, *_, last = 2 * template.path.parts
        # A path begins with a slash.
        start, end = str(first), last if isinstance(last, str) else ""
        segment, slash, _ = start[1:].partition("/")
        has_segment = slash or len(template.path.parts) == 1
        lengths = (None if has_segment else len(start), len(end))
        texts = (segment if has_segment else start, end)
        self._by_ends.setdefault(lengths, {}).setdefault(texts, []).append(position)

    def candidates(self, url: Url) -> list[int]:
        """Return the positions of the templates whose shape *url* may have, in their order."""
        path = url.path
        segment = path[1:].partition("/")[0]
        found: list[int] = []
        for (start, end), by_texts in self._lengths:
            beginning = segment if start is None else path[:start]
            positions = by_texts.get((beginning, path[-end:] if end else ""))
            if positions:
                found += positions
        if self._by_value:
            for piece in url.query or ():
                name, _, value = piece.partition("=")
                found += self._by_value.get((name, value), ())
        return sorted(set(found)) if len(found) > 1 else found


@lru_cache(maxsize=10_000)
def parse_template(text: str) -> Template:
    """Return the template that *text* describes.

    :raises TemplateError: if it is not valid.
    """
    template = _parse(text, {})
    names = [place.name for place in template.places]
    for name in names:
        if names.count(name) > 1:
            raise TemplateError(f"{{{name}}} stands in it twice")
    return template


def stripped(template: Template) -> Template:
    """Return the *template* without slashes at the end of its path.

    >>> str(stripped(parse_template("/tag/{tag}/?page={page}")))
    '/tag/{tag}?page={page}'
    """
    return parse_template(without_last_slash(template.text))


def without_last_slash(text: str) -> str:
    """Return the *text* of a template without slashes at the end of its path."""
    path, question_mark, query = text.partition("?")
    return (path.rstrip("/") or "/") + question_mark + query


def parse_target(text: str, source: Template) -> Template:
    """Return the template *text*, to be filled with what *source* found.

    Its places have the classes that they have in *source*, and may be repeated.

    :raises TemplateError: if it is not valid, or has a place that *source* does not have.
    """
    kinds = source.kinds
    target = _parse(text, kinds)
    for name, kind in target.kinds.items():
        if name not in kinds:
            raise TemplateError(f"{{{name}}} is not in {source.text!r}" + did_you_mean(name, kinds))
        if kind != kinds[name]:
            raise TemplateError(f"{{{name}}} has the class {kinds[name]!r} in {source.text!r}")
    return target


def _parse(text: str, kinds: Mapping[str, str]) -> Template:
    """Return the template *text*; *kinds* are the classes of names that it gives none."""
    if not is_utf8(text):
        raise TemplateError("it holds half of a surrogate pair")
    path, question_mark, query = text.partition("?")
    if not path.startswith("/"):
        raise TemplateError("a template begins with a slash: it is a path, without the host")
    if "#" in text:
        raise TemplateError("a template has no fragment")
    params: dict[str, TextTemplate] = {}
    bare = None
    for piece in query.split("&") if question_mark else ():
        name, equals, value = piece.partition("=")
        if not equals and PLACE.search(piece):
            if bare is not None:
                raise TemplateError("two parameters without = have places")
            bare = TextTemplate(parse_parts(piece, _encode_bare, kinds))
            continue
        if not name or "{" in name or "}" in name:
            raise TemplateError(f"expected a parameter with a name, got {piece!r}")
        name = encode_query_text(name)
        if name in params:
            raise TemplateError(f"the parameter {name!r} stands in it twice")
        params[name] = TextTemplate(parse_parts(value, encode_query_text, kinds))
    return Template(text, TextTemplate(parse_parts(path, encode_path, kinds)), params, bare)


def _encode_bare(text: str) -> str:
    return as_path(encode_query_text(text))
