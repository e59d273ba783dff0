"""Operations for the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from scrapy_urlcanon.canonicalizer.names import is_writable
from scrapy_urlcanon.canonicalizer.rules import path
from scrapy_urlcanon.learn.location import Location, parts_of, with_path
from scrapy_urlcanon.learn.operations.base import Operation

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.rules.base import PathRule


class _PathOperation(Operation):
    """An option for the path."""

    is_for_path = True

    def on_path(self, path: str) -> str:
        before, _ = parts_of(path)
        return cast("PathRule", self.rule).path(before) + path[len(before) :]

    def _apply_once(self, location: Location) -> Location:
        path = self.on_path(location.path)
        if path == location.path:
            return location
        new = with_path(location, path)
        return location if new == location else new


@dataclass(frozen=True)
class DropIndexFile(_PathOperation):
    """Drop the index file of a directory."""

    option = path.DirectoryIndex
    file_name: str

    @property
    def setting(self) -> object:
        return [self.file_name]

    @property
    def handle(self) -> str:
        return "/" + self.file_name


@dataclass(frozen=True)
class StripTrailingSlash(_PathOperation):
    """Strip the slash at the end of the path, except from the root."""

    option = path.TrailingSlash
    setting = "strip"
    handle = "/"


@dataclass(frozen=True)
class CollapseSlashes(_PathOperation):
    """Collapse several slashes in a row into one."""

    option = path.DuplicateSlashes
    setting = "collapse"
    handle = "//"


@dataclass(frozen=True)
class LowerPath(_PathOperation):
    """Write the path in lower case."""

    option = path.PathCase
    setting = "lower"
    handle = "upper case"


@dataclass(frozen=True)
class DropPathParam(_PathOperation):
    """Drop a path parameter such as ``;jsessionid=...`` from every segment."""

    option = path.PathParams
    name: str
    handle = ";"

    @property
    def setting(self) -> object:
        return [unquote(self.name)]

    @property
    def is_valid(self) -> bool:
        return super().is_valid and is_writable(unquote(self.name))
