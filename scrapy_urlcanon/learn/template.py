"""Rewriting a URL by a pair of templates, such as ``/node/{a:digits}/print -> /node/{a}``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.location import Location, name_of, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELD = re.compile(r"\{(?P<name>\w+)(?P<digits>:digits)?\}")


@dataclass(frozen=True, order=True)
class Rewrite:
    """Rewrite path and query by a pair of templates.

    A field stands for one or more characters of one segment, or of one value; with ``:digits``
    for ASCII digits only. Parameters that the first template does not name are left as they are.

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
        """A parameter of the first template, or the number of its segments."""
        path, _, query = self.source.partition("?")
        return "?" + name_of(query.split("&")[0]) if query else f"{path.count('/')} segments"

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
        characters = "[0-9]+" if match["digits"] else "[^/&=]+"
        pattern += f"(?P<{match['name']}>{characters})"
        position = match.end()
    return re.compile(pattern + re.escape(template[position:]))


def _fill(template: str, found: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: found[match["name"]], template)
