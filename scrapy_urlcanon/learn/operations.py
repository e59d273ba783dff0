"""What a learned rule does to a URL: the vocabulary of the rule catalogue, on the compact form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote_plus

from scrapy_urlcanon.learn.location import Location, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WWW = re.compile(r"www[0-9]*\.(?=.)")
_SLASHES = re.compile("(?<!:)//+")

#: Options that change the path, in the catalogue before ``rewrite_path``.
PATH_OPTIONS = frozenset(
    ("path_params", "duplicate_slashes", "path_case", "directory_index", "trailing_slash")
)

#: The mark that all URLs bear.
ANY = "any"

#: The mark of those that have a parameter twice, with one value.
REPEATED = "repeated"


class Operation(Protocol):
    """One change to a URL. Operations are frozen, hashable and sorted by their text."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""

    @property
    def handle(self) -> str:
        """A mark that every URL bears which the operation changes; see :func:`handles_of`."""

    @property
    def setting(self) -> object:
        """What stands in a rules file; lists and mappings of several rules unite."""

    def apply(self, location: Location) -> Location:
        """Return the changed URL, or the same object where there is nothing to change."""


def apply_all(operations: Iterable[Operation], location: Location) -> Location:
    """Return what the operations, one after the other, make of a URL.

    The same object where there is nothing to change.
    """
    for operation in operations:
        location = operation.apply(location)
    return location


def handles_of(location: Location) -> Iterator[str]:
    """Yield the marks by which operations find the URLs that they may change.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> sorted(handles_of(locate("http://www.example.com/a/?b=1")))
    ['/', '/a/', '2 segments', '?b', 'any', 'http', 'www', 'www.example.com']
    """
    place, params = location
    path = place.path
    yield ANY
    yield place.host
    for param in params:
        yield "?" + name_of(param)
    if len(params) > 1 and len(set(params)) < len(params):
        yield REPEATED
    yield "/" + path.rpartition("/")[2]
    yield path[: path.find("/", 1) + 1]
    yield f"{path.count('/')} segments"
    yield place.scheme
    if place.host.startswith("www"):
        yield "www"
    if "//" in path:
        yield "//"
    if path != path.lower():
        yield "upper case"
    if ";" in path:
        yield ";"


@dataclass(frozen=True, order=True, slots=True)
class DropParam:
    """Drop a parameter, whatever its value."""

    name: str
    """As it stands in the URL, percent-encoded."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "drop_params"

    @property
    def handle(self) -> str:
        """The parameter."""
        return "?" + self.name

    @property
    def setting(self) -> object:
        """The name, decoded."""
        return [unquote_plus(self.name)]

    def apply(self, location: Location) -> Location:
        """Drop the parameter."""
        start = self.name + "="
        kept = tuple([p for p in location.params if not p.startswith(start) and p != self.name])
        return location if len(kept) == len(location.params) else Location(location.place, kept)


@dataclass(frozen=True, order=True, slots=True)
class DropValue:
    """Drop a parameter where it has its default value."""

    name: str
    value: str

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "default_params"

    @property
    def handle(self) -> str:
        """The parameter."""
        return "?" + self.name

    @property
    def setting(self) -> object:
        """Name and value, decoded."""
        return {unquote_plus(self.name): unquote_plus(self.value)}

    def apply(self, location: Location) -> Location:
        """Drop the parameter if it has that value."""
        param = f"{self.name}={self.value}"
        if param not in location.params and (self.value or self.name not in location.params):
            return location
        names = (param,) if self.value else (param, self.name)
        return Location(location.place, tuple([p for p in location.params if p not in names]))


@dataclass(frozen=True, order=True, slots=True)
class DropIndexFile:
    """Drop the index file of a directory."""

    file_name: str

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "directory_index"

    @property
    def handle(self) -> str:
        """The last segment of the path."""
        return "/" + self.file_name

    @property
    def setting(self) -> object:
        """The file name."""
        return [self.file_name]

    def apply(self, location: Location) -> Location:
        """Drop the file name after the last slash."""
        directory, _, name = location.place.path.rpartition("/")
        return _with_path(location, directory + "/") if name == self.file_name else location


@dataclass(frozen=True, order=True, slots=True)
class StripTrailingSlash:
    """Strip the slash at the end of the path, but for the root."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "trailing_slash"

    @property
    def handle(self) -> str:
        """An empty last segment."""
        return "/"

    @property
    def setting(self) -> object:
        """The value of the option."""
        return "strip"

    def apply(self, location: Location) -> Location:
        """Strip the slashes."""
        path = location.place.path
        return (
            _with_path(location, path.rstrip("/") or "/")
            if path.endswith("/") and path != "/"
            else location
        )


@dataclass(frozen=True, order=True, slots=True)
class CollapseSlashes:
    """Make several slashes in a row one."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "duplicate_slashes"

    @property
    def handle(self) -> str:
        """Two slashes."""
        return "//"

    @property
    def setting(self) -> object:
        """The value of the option."""
        return "collapse"

    def apply(self, location: Location) -> Location:
        """Collapse the slashes."""
        return _with_path(location, _SLASHES.sub("/", location.place.path))


@dataclass(frozen=True, order=True, slots=True)
class DropRepeated:
    """Drop parameters that the query has already."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "repeated_params"

    @property
    def handle(self) -> str:
        """A parameter that is there twice."""
        return REPEATED

    @property
    def setting(self) -> object:
        """The value of the option."""
        return "drop"

    def apply(self, location: Location) -> Location:
        """Drop the parameters."""
        params = tuple(dict.fromkeys(location.params))
        if len(params) == len(location.params):
            return location
        return Location(location.place, params)


@dataclass(frozen=True, order=True, slots=True)
class LowerPath:
    """Lower the case of the path."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "path_case"

    @property
    def handle(self) -> str:
        """An upper-case letter, be it one of a percent-encoding only."""
        return "upper case"

    @property
    def setting(self) -> object:
        """The value of the option."""
        return "lower"

    def apply(self, location: Location) -> Location:
        """Lower the path but for the hexadecimal digits of its percent-encoding."""
        path = location.place.path
        if "%" not in path:
            return _with_path(location, path.lower())
        parts = path.split("%")
        lowered = [parts[0].lower(), *(part[:2] + part[2:].lower() for part in parts[1:])]
        return _with_path(location, "%".join(lowered))


@dataclass(frozen=True, order=True, slots=True)
class DropPathParam:
    """Drop a path parameter such as ``;jsessionid=...`` from every segment."""

    name: str

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "path_params"

    @property
    def handle(self) -> str:
        """A semicolon in the path."""
        return ";"

    @property
    def setting(self) -> object:
        """The name, decoded."""
        return [unquote_plus(self.name)]

    def apply(self, location: Location) -> Location:
        """Drop the parameter."""
        path = location.place.path
        if ";" not in path:
            return location
        segments = []
        for segment in path.split("/"):
            first, *params = segment.split(";")
            segments.append(";".join([first, *(p for p in params if name_of(p) != self.name)]))
        return _with_path(location, "/".join(segments))


@dataclass(frozen=True, order=True, slots=True)
class StripWww:
    """Strip the ``www`` label, where a registrable domain remains."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "www"

    @property
    def handle(self) -> str:
        """A host that begins with ``www``."""
        return "www"

    @property
    def setting(self) -> object:
        """The value of the option."""
        return "strip"

    def apply(self, location: Location) -> Location:
        """Strip the label where more than one label remains."""
        host = location.place.host
        stripped = _WWW.sub("", host, count=1)
        if stripped == host or "." not in stripped:
            return location
        return Location(location.place._replace(host=stripped), location.params)


@dataclass(frozen=True, order=True, slots=True)
class SetScheme:
    """Make ``http`` and ``https`` one."""

    scheme: str
    """``http`` or ``https``."""

    @property
    def option(self) -> str:
        """The option of the rule catalogue."""
        return "scheme"

    @property
    def handle(self) -> str:
        """The other scheme."""
        return "http" if self.scheme == "https" else "https"

    @property
    def setting(self) -> object:
        """The value of the option."""
        return self.scheme

    def apply(self, location: Location) -> Location:
        """Set the scheme; a URL with a port of its own keeps its."""
        place = location.place
        if place.scheme == self.scheme or ":" in place.host:
            return location
        return Location(place._replace(scheme=self.scheme), location.params)


def _with_path(location: Location, path: str) -> Location:
    place = location.place
    return location if path == place.path else Location(place._replace(path=path), location.params)
