"""Pairs of templates: what has the shape of the first gets that of the second."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path, encode_query_text
from scrapy_urlcanon.canonicalizer.templates import (
    PATH,
    SEGMENT,
    Place,
    Template,
    TemplateError,
    TextTemplate,
    parse_target,
    parse_template,
)
from scrapy_urlcanon.canonicalizer.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# What such a place takes in a path is often text for readers; the others are identifiers.
_DESCRIPTIVE = frozenset({SEGMENT, "slug", PATH})


@frozen(eq=False)
class Rewrite:
    """A pair of templates.

    >>> rewrite = parse_rewrite("/test?id={id}", "/test_{id}")
    >>> url = Url("http", None, "example.com", None, "/test", ("a=1", "id=x+y"), None)
    >>> str(rewrite.apply(url))
    'http://example.com/test_x%20y?a=1'
    """

    source: Template
    target: Template
    _from_query: frozenset[str] = field(init=False, repr=False)
    """The names of what is found in parameters."""

    @_from_query.default
    def _names_in_query(self) -> frozenset[str]:
        return frozenset(place.name for place in self.source.places_of_params)

    def apply(self, url: Url) -> Url:
        """Return *url*, a normalized one, in its new shape, or as it is.

        It stays as it is where it has not the shape of :attr:`source`, has a parameter
        already that :attr:`target` would add, or holds a text that could not be told
        from another one once it had moved.
        """
        match = self.source.match(url)
        if match is None:
            return url
        if any(piece.partition("=")[0] in self.target.params for piece in match.others):
            return url
        path = self._fill(self.target.path, match.found, into_query=False)
        if path is None or not _is_normalized(path):
            return url
        query = list(match.others)
        for name, shape in self.target.params.items():
            value = self._fill(shape, match.found, into_query=True)
            if value is None:
                return url
            query.append(f"{name}={value}")
        return url._replace(path=path, query=tuple(query) or None)

    def _fill(
        self, shape: TextTemplate, found: Mapping[str, str], *, into_query: bool
    ) -> str | None:
        """Return *shape* with what was found, or None where that cannot stand there."""
        texts = []
        for part in shape.parts:
            if isinstance(part, Place):
                from_query = part.name in self._from_query
                text = found[part.name]
                if from_query != into_query:
                    moved = _move(text, part.kind, into_query=into_query)
                    if _move(moved, part.kind, into_query=from_query) != text:
                        return None
                    text = moved
                if not part.takes(text):
                    return None
                texts.append(text)
            else:
                texts.append(part)
        return "".join(texts)


def _is_normalized(path: str) -> bool:
    """Tell whether the normalizations that are always on would leave *path* as it is.

    They would change what was put into it: ``/dir?name=..`` is not the page ``/``.
    """
    if path.endswith(";") or encode_path(path) != path:
        return False
    segments = {segment.partition(";")[0] for segment in path.split("/")}
    return segments.isdisjoint({".", ".."})


def _move(text: str, kind: str, *, into_query: bool) -> str:
    """Return *text* of a path in the spelling of a query, or the other way round."""
    if into_query:
        return encode_query_text(text.replace("+", "%2B"))
    text = text.replace("+", "%20")
    return encode_path(text.replace("%2F", "/") if kind == PATH else text)


def parse_rewrite(source: str, target: str) -> Rewrite:
    """Return the pair of the templates *source* and *target*.

    :raises TemplateError: if one of them is none, the second has a name that the first
        has not, or the pair would make one page of several by oversight.
    """
    if source == target:
        raise TemplateError(f"{source!r} -> {target!r}: the two are the same")
    parsed: list[Template] = []
    for text in (source, target):
        try:
            parsed.append(parse_target(text, parsed[0]) if parsed else parse_template(text))
        except TemplateError as error:
            raise TemplateError(f"{text!r}: {error}") from None
    rewrite = Rewrite(*parsed)
    problem = _lost(rewrite)
    if problem:
        raise TemplateError(f"{source!r} -> {target!r}: {problem}")
    return rewrite


def _lost(rewrite: Rewrite) -> str | None:
    """Say what *rewrite* loses that may tell pages apart, or None.

    A place that the second template does not have is dropped, and all that differ in it
    alone become one page. That is the purpose where it takes a text for readers. Numbers
    and choices are identifiers, and a parameter that does not matter is for
    ``drop_params``: these are dropped only where the name says that they are meant to be.
    """
    kept = rewrite.target.kinds
    in_params = {place.name for place in rewrite.source.places_of_params}
    for place in rewrite.source.places:
        identifies = place.kind not in _DESCRIPTIVE or place.name in in_params
        if place.name not in kept and identifies and not place.name.startswith("_"):
            return (
                f"{place} is not in the second template, so that pages which differ in it would "
                f"become one; where that is meant, call it {{_{str(place)[1:]}"
            )
    return None


def follow(url: Url, rewrites: Sequence[Rewrite]) -> Iterator[tuple[Rewrite, Url]]:
    """Apply *rewrites* in turn until none changes *url*; yield each change.

    It stops in any case after as many rounds as a chain of all of them can take.
    """
    for _ in range(len(rewrites) + 1):
        start = url
        for rewrite in rewrites:
            changed = rewrite.apply(url)
            if changed != url:
                url = changed
                yield rewrite, url
        if url == start:
            return


def find_unsettled(rewrites: Sequence[Rewrite]) -> list[Url] | None:
    """Return a URL that *rewrites* change again and again, with what becomes of it, or None.

    They are tried on samples of their own shapes. What the samples do not show is found
    for each URL by the limit on the number of passes.
    """
    if not any(_may_follow(first, second) for first, second in product(rewrites, repeat=2)):
        return None
    words = _words(rewrites)
    for rewrite in rewrites:
        for sample in _samples(rewrite.source, words):
            way = [sample, *(url for _, url in follow(sample, rewrites))]
            if next(follow(way[-1], rewrites), None):
                return way
    return None


def _may_follow(first: Rewrite, second: Rewrite) -> bool:
    """Tell whether *second* may change what *first* made."""
    # A parameter that a pair takes away is not there for it a second time.
    if first is second and not first.source.params.keys() <= first.target.params.keys():
        return False
    return _may_fit(first.target.path, second.source.path)


def _may_fit(made: TextTemplate, shape: TextTemplate) -> bool:
    """Tell whether a text of the shape *made* may have the other *shape*.

    Nearly always the literal texts at their beginnings or ends rule it out.
    """
    for end in (0, -1):
        one, other = made.parts[end], shape.parts[end]
        if not isinstance(one, str) or not isinstance(other, str):
            continue
        if end == 0 and not one.startswith(other) and not other.startswith(one):
            return False
        if end == -1 and not one.endswith(other) and not other.endswith(one):
            return False
    return True


def _words(rewrites: Sequence[Rewrite]) -> list[str]:
    """Return texts to fill places with: two of no meaning, and what the templates say."""
    literal = (
        word
        for rewrite in rewrites
        for template in (rewrite.source, rewrite.target)
        for part in template.path.parts
        if isinstance(part, str)
        for word in re.findall("[A-Za-z0-9]+", part)
    )
    return ["x1", "y2", *list(dict.fromkeys(literal))[:4]]


def _samples(template: Template, words: list[str]) -> Iterator[Url]:
    """Yield URLs of the shape *template*: with equal and with different texts in its places."""
    places = template.places
    for turn in range(len(words)):
        for step in (0, 1):
            found = {
                place.name: _sample(place, words, turn + step * position)
                for position, place in enumerate(places)
            }
            url = Url(
                "http",
                None,
                "host.invalid",
                None,
                _filled(template.path, found),
                tuple(f"{name}={_filled(shape, found)}" for name, shape in template.params.items())
                or None,
                None,
            )
            if template.match(url):
                yield url


def _sample(place: Place, words: list[str], number: int) -> str:
    if place.choices:
        return place.choices[number % len(place.choices)]
    word = words[number % len(words)]
    return word if place.takes(word) else str(number + 1)


def _filled(shape: TextTemplate, found: Mapping[str, str]) -> str:
    return "".join(found[p.name] if isinstance(p, Place) else p for p in shape.parts)
