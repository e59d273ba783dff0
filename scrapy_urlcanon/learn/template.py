"""Rewriting a URL by a pair of templates, such as ``/node/{a:digits}/print -> /node/{a}``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import Location, Place, name_of, value_of
from scrapy_urlcanon.learn.operations import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_urlcanon.learn.operations import Operation

_FIELD = re.compile(r"\{(?P<name>\w+)(?::(?P<kind>digits|path))?\}")

# What numbers the parts of a listing in a path, as the parameters of `proposals.PAGINATION` do.
_PART = re.compile(
    r"(?<![a-z])(?:page|paged|pagina|seite|pg|p)[-_/]?([0-9]+|\{_\w+:digits\})(?![0-9a-z])",
    re.IGNORECASE,
)
_CHARACTERS = {None: "[^/&=]+", "digits": "[0-9]+", "path": "[^&]+"}


@dataclass(frozen=True, order=True)
class Rewrite:
    """Rewrite path and query by a pair of templates.

    A field stands for one or more characters of one segment, or of one value; with ``:digits``
    for ASCII digits only, with ``:path`` for slashes too. Parameters that the first template does
    not name are left as they are.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> Rewrite("/wp-trackback.php?p={a:digits}", "/?p={a}").apply(locate("http://a.example/wp-trackback.php?p=7")).url
    'http://a.example/?p=7'
    """

    source: str
    target: str

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "rewrite_path"

    @property
    def handle(self) -> str:
        """A parameter of the first template, its first or last segment, or their number."""
        path, _, query = self.source.partition("?")
        if query:
            return "?" + name_of(query.split("&")[0])
        if ":path}" not in path:
            return f"{path.count('/')} segments"
        for mark in (path[: path.find("/", 1) + 1], "/" + path.rpartition("/")[2]):
            if mark and "{" not in mark:
                return mark
        return ANY

    @property
    def setting(self) -> object:
        """The pair of templates."""
        return [[self.source, self.target]]

    @cached_property
    def _pattern(self) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
        path, _, query = self.source.partition("?")
        params = {name_of(param): _compile(value_of(param)) for param in query.split("&") if param}
        return _compile(path), params

    @cached_property
    def _filler(self) -> tuple[str, list[str]]:
        path, _, query = self.target.partition("?")
        return path, [param for param in query.split("&") if param]

    def fields(self, location: Location) -> dict[str, str] | None:
        """Return what the fields of the first template stand for in a URL.

        Or None where it does not match.
        """
        pattern, params = self._pattern
        match = pattern.fullmatch(location.place.path)
        if match is None:
            return None
        found = match.groupdict()
        for name, value in params.items():
            texts = [value_of(param) for param in location.params if name_of(param) == name]
            match = value.fullmatch(texts[0]) if len(texts) == 1 else None
            if match is None:
                return None
            found.update(match.groupdict())
        return found

    @cached_property
    def kept(self) -> frozenset[str]:
        """Names of the fields that the second template has."""
        return frozenset(match["name"] for match in _FIELD.finditer(self.target))

    @cached_property
    def dropped_parts(self) -> frozenset[str]:
        """Numbers of parts of a listing, or fields for them, that the second template has not.

        >>> Rewrite("/list/page-{_a:digits}/", "/list/page-1/").dropped_parts
        frozenset({'{_a:digits}'})
        >>> Rewrite("/list/page-{a:digits}/print", "/list/page-{a}/").dropped_parts
        frozenset()
        """
        return frozenset(_PART.findall(self.source)).difference(_PART.findall(self.target))

    @cached_property
    def added_parts(self) -> frozenset[str]:
        """Numbers of parts of a listing that only the second template has.

        >>> Rewrite("/news/{a}/", "/news/{a}/page-2/").added_parts
        frozenset({'2'})
        """
        return frozenset(_PART.findall(self.target)).difference(_PART.findall(self.source))

    def after(self, step: Operation) -> Rewrite:
        """Return the pair for URLs that a change to the path came before.

        >>> from scrapy_urlcanon.learn.operations import LowerPath
        >>> Rewrite("/Node/{a}/Print", "/Node/{a}").after(LowerPath())
        Rewrite(source='/node/{a}/print', target='/node/{a}')
        """
        texts = []
        for template in (self.source, self.target):
            path, mark, query = template.partition("?")
            changed = step.apply(Location(Place("http", "", path), ()))
            texts.append(changed.place.path + mark + query)
        return Rewrite(*texts)

    def covers(self, location: Location) -> bool:
        """Whether the first template says all of the URL, its whole query included."""
        return len(location.params) == len(self._pattern[1]) and self.fields(location) is not None

    def apply(self, location: Location) -> Location:
        """Rewrite the URL."""
        found = self.fields(location)
        if found is None:
            return location
        taken = self._pattern[1]
        path, params = self._filler
        rest = [param for param in location.params if name_of(param) not in taken]
        changed = Location(
            location.place._replace(path=_fill(path, found)),
            tuple(sorted([*rest, *(_fill(param, found) for param in params)])),
        )
        return location if changed == location else changed


def _compile(template: str) -> re.Pattern[str]:
    pattern, position = "", 0
    for match in _FIELD.finditer(template):
        pattern += re.escape(template[position : match.start()])
        pattern += f"(?P<{match['name']}>{_CHARACTERS[match['kind']]})"
        position = match.end()
    return re.compile(pattern + re.escape(template[position:]))


def literal_of(template: str) -> str:
    """Return what is left of a template without its fields.

    >>> literal_of("/page-{a:digits}/{b}")
    '/page-/'
    """
    return _FIELD.sub("", template)


def _fill(template: str, found: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: found[match["name"]], template)
