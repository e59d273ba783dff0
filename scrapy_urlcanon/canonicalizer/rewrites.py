"""Pairs of templates: a URL that fits the first gets the shape of the second."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.percent_encoding import as_path, as_query_text, encode_path
from scrapy_urlcanon.canonicalizer.templates import (
    Template,
    TemplateIndex,
    parse_target,
    parse_template,
    without_last_slash,
)
from scrapy_urlcanon.canonicalizer.text_templates import PATH, SEGMENT, Place, TextTemplate
from scrapy_urlcanon.canonicalizer.url import Url, made_of
from scrapy_urlcanon.exceptions import TemplateError, UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_urlcanon.canonicalizer.templates import Match

# What places of these classes take in a path is often a title; others take identifiers.
_DESCRIPTIVE = frozenset({SEGMENT, "word", "slug", PATH})

# In the query of a normalized URL: what a path begins with, and what ends it.
_SLASH, *_BEHIND_PATH = map(as_query_text, "/?#")


@frozen(eq=False)
class Rewrite:
    """A pair of templates.

    >>> from scrapy_urlcanon.canonicalizer.url import Url
    >>> rewrite = parse_rewrite("/test?id={id}", "/test_{id}")
    >>> url = Url("http", None, "example.com", None, "/test", ("a=1", "id=x+y"), None)
    >>> str(rewrite.apply(url))
    'http://example.com/test_x%20y?a=1'
    """

    source: Template
    target: Template
    _from_query: frozenset[str] = field(init=False, repr=False)
    """The names of the places that are in parameters."""

    _in_addresses: frozenset[str] = field(init=False, repr=False)
    """The names of the places in values that begin with a slash, as a path does."""

    _format: str | None = field(init=False, repr=False)
    """The new path as a format string; None if some of the texts found must be respelled."""

    may_lead_to_itself: bool = field(init=False, repr=False)
    """Whether its result may have the shape of :attr:`source` again."""

    @_from_query.default
    def _names_in_query(self) -> frozenset[str]:
        return frozenset(place.name for place in self.source.places_of_params)

    @_in_addresses.default
    def _names_in_addresses(self) -> frozenset[str]:
        return frozenset(
            place.name
            for shape in self.source.params.values()
            if shape.parts and str(shape.parts[0]).startswith(_SLASH)
            for place in shape.places
        )

    @_format.default
    def _format_of_path(self) -> str | None:
        shape = self.target.path
        if any(place.name in self._from_query for place in shape.places):
            return None
        return "".join(
            f"%({part.name})s" if isinstance(part, Place) else part.replace("%", "%%")
            for part in shape.parts
        )

    @may_lead_to_itself.default
    def _may_lead_to_itself(self) -> bool:
        return self.may_lead_to(self)

    def may_lead_to(self, other: Rewrite) -> bool:
        """Tell whether the *other* pair may change what this one made."""
        # A pair that takes a parameter away does not fit its own result.
        if other is self and (
            not self.source.params.keys() <= self.target.params.keys()
            or (self.source.bare and not self.target.bare)
        ):
            return False
        return self.target.path.may_have(other.source.path)

    def apply(self, url: Url) -> Url:
        """Return the normalized *url* in its new shape, or unchanged.

        It stays unchanged if it does not have the shape of :attr:`source`, already has a
        parameter that :attr:`target` would add, or holds a text that could not be told from
        another one once it had moved.
        """
        match = self.source.match(url)
        if match is None:
            return url
        path = self.path_of(match.found)
        query = self._query_of(match) if self.target.has_query else match.others
        if path is None or query is None:
            return url
        return made_of((*url[:4], path, query or None, url.fragment))

    def _query_of(self, match: Match) -> tuple[str, ...] | None:
        """Return the query in its new shape, or None where what was found cannot stand in it."""
        params, bare = self.target.params, self.target.bare
        if any(piece.partition("=")[0] in params for piece in match.others):
            return None
        query = list(match.others)
        for name, shape in params.items():
            value = self._fill(shape, match.found, into_query=True)
            if value is None:
                return None
            query.append(f"{name}={value}")
        if bare:
            text = self._fill(bare, match.found, into_query=False)
            piece = as_query_text(text or "") + "="
            if text is None or as_path(piece[:-1]) != text or self.target.fitting(query):
                return None
            # Where the order of parameters matters, servers look for a path at the beginning.
            query.insert(0, piece)
        return tuple(query)

    def path_of(self, found: Mapping[str, str]) -> str | None:
        """Return the path in its new shape, or None where what was *found* cannot stand in it."""
        if self._format is None:
            path = self._fill(self.target.path, found, into_query=False)
        else:
            path = self._format % found
        return path if path is not None and _is_normalized(path) else None

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
                    if part.name in self._in_addresses and _has_more_than_a_path(text):
                        return None
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


def _has_more_than_a_path(address: str) -> bool:
    """Tell whether an address in a parameter has a query or a fragment.

    In a path these would be percent-encoded, which gives no URL of the site.
    """
    return any(sign in address for sign in _BEHIND_PATH)


def _is_normalized(path: str) -> bool:
    """Tell whether the normalizations that are always on would leave *path* as it is.

    A text that was moved into the path must not be changed by them: ``/dir?name=..`` is not ``/``.
    """
    if path.endswith(";") or encode_path(path) != path:
        return False
    if "/." not in path:
        return True
    segments = {segment.partition(";")[0] for segment in path.split("/")}
    return segments.isdisjoint({".", ".."})


def _move(text: str, kind: str, *, into_query: bool) -> str:
    """Return *text* of a path in the spelling of a query, or the other way round."""
    if into_query:
        return as_query_text(text)
    return as_path(text) if kind == PATH else encode_path(text.replace("+", "%20"))


@lru_cache(maxsize=10_000)
def parse_rewrite(source: str, target: str) -> Rewrite:
    """Return the pair of the templates *source* and *target*.

    :raises TemplateError: if one of them is not a template, the second has a name that the
        first does not have, or the pair would merge different pages by oversight.
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


def stripped(rewrite: Rewrite) -> Rewrite | None:
    """Return the pair without slashes at the end of paths, or None if it then does nothing.

    >>> pair = stripped(parse_rewrite("/{post}/amp/", "/{post}/"))
    >>> str(pair.source), str(pair.target)
    ('/{post}/amp', '/{post}')
    >>> stripped(parse_rewrite("/{post}", "/{post}/"))
    """
    source, target = (without_last_slash(each.text) for each in (rewrite.source, rewrite.target))
    return None if source == target else parse_rewrite(source, target)


def _lost(rewrite: Rewrite) -> str | None:
    """Say what *rewrite* loses that may tell pages apart, or return None.

    A place that the second template does not have is dropped, so URLs that differ only in it
    become one page. That is the purpose if it takes a text for readers. Numbers and choices
    are identifiers, and a parameter that does not matter is for ``drop_params``: these are
    dropped only if their name says that this is intended.
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


class RewriteIndex(TemplateIndex):
    """Finds, among many pairs, those that may change a URL, by their first templates."""

    def __init__(self, rewrites: Sequence[Rewrite]) -> None:
        super().__init__([rewrite.source for rewrite in rewrites])
        self._rewrites = rewrites

    def follow(self, url: Url) -> list[tuple[Rewrite, Url]]:
        """Apply the pairs in turn until none changes *url*, each at most once; return each change.

        What a pair makes must not have its first shape again: a pair that drops a page number
        would go on with the year before it. If the pairs lead in a circle, the first of its URLs
        as text is the result.

        :raises UnparsableUrlError: if a pair would be applied a second time.
        """
        change = self._next(url, 0)
        if change is None:
            return []
        position, changed = change
        if self._next(changed, position + 1) is None:
            # This is nearly always the case.
            return [(self._rewrites[position], changed)]
        changes: list[tuple[Rewrite, Url]] = []
        seen = {url: 0}
        while change:
            position, changed = change
            rewrite = self._rewrites[position]
            if changed in seen:
                circle = [other for other, number in seen.items() if number >= seen[changed]]
                return changes[: seen[min(circle, key=str)]]
            if any(rewrite is other for other, _ in changes):
                raise UnparsableUrlError(f"its rules do not settle: {rewrite.source} comes again")
            url = changed
            changes.append((rewrite, url))
            seen[url] = len(changes)
            change = self._next(url, position + 1)
        return changes

    def _next(self, url: Url, start: int) -> tuple[int, Url] | None:
        """Return the first pair that changes *url*, from *start* on and then before it."""
        candidates = self.candidates(url)
        if not candidates:
            return None
        if start:
            later = [position for position in candidates if position >= start]
            candidates = later + candidates[: -len(later) or None]
        for position in candidates:
            rewrite = self._rewrites[position]
            changed = rewrite.apply(url)
            if changed is url or changed == url:
                continue
            if not rewrite.may_lead_to_itself or rewrite.apply(changed) == changed:
                return position, changed
        return None


@lru_cache(maxsize=100)
def index_of(rewrites: tuple[Rewrite, ...]) -> RewriteIndex:
    """Return the index of *rewrites*; the policies of one host have the same ones."""
    return RewriteIndex(rewrites)
