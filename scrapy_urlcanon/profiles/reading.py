"""Reads the tables of a profile's file, and collects all problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.exceptions import Problem, did_you_mean
from scrapy_urlcanon.rule_files.documents import is_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class TableReader:
    """Reads values from tables, and notes a problem for each that is not of the expected type."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.problems: list[Problem] = []

    def note(self, key: str, message: str) -> None:
        self.problems.append(Problem(self.origin, message, key=key))

    def table(self, value: object, key: str, keys: Sequence[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.note(key, f"expected a table, got {value!r}")
            return {}
        for name in value:
            if name not in keys:
                self.note(f"{key}.{name}".strip("."), "no such key" + did_you_mean(name, keys))
        return value

    def text(self, table: Mapping[str, Any], name: str, key: str, default: str = "") -> str:
        value: object = table.get(name, default)
        if not isinstance(value, str):
            self.note(f"{key}.{name}".strip("."), f"expected a text, got {value!r}")
            return ""
        if not value and not default and name != "within":
            self.note(f"{key}.{name}".strip("."), "it is missing, or empty")
        return value

    def texts(self, table: Mapping[str, Any], name: str, key: str) -> tuple[str, ...]:
        value = table.get(name, [])
        if not is_texts(value):
            self.note(f"{key}.{name}".strip("."), f"expected a list of texts, got {value!r}")
            return ()
        return tuple(value)

    def flag(self, table: Mapping[str, Any], name: str, key: str) -> bool:
        value = table.get(name, False)
        if not isinstance(value, bool):
            self.note(f"{key}.{name}", f"expected true or false, got {value!r}")
        return value is True

    def version(self, table: Mapping[str, Any], name: str, key: str) -> tuple[int, ...]:
        value = table.get(name)
        if value is None:
            return ()
        version = parse_version(value) if isinstance(value, str) else ()
        if not version:
            self.note(f"{key}.{name}", f"expected a version such as '1.39', got {value!r}")
        return version

    def each(
        self, table: Mapping[str, Any], name: str, read: Callable[[object, str], Any]
    ) -> Iterator[Any]:
        value = table.get(name, [])
        if not isinstance(value, list):
            self.note(name, f"expected tables [[{name}]], got {value!r}")
            return
        for number, each in enumerate(value):
            yield read(each, f"{name}[{number}]")


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of the version that *text* begins with; empty if it begins with none.

    >>> parse_version("1.39.17-1+deb12"), parse_version("beta")
    ((1, 39, 17), ())
    """
    numbers = []
    for piece in text.split("."):
        digits = piece[: len(piece) - len(piece.lstrip("0123456789"))]
        if not digits.isascii() or not digits or len(digits) > _LONGEST_NUMBER:
            break
        numbers.append(int(digits))
        if digits != piece:
            break
    return tuple(numbers)


_LONGEST_NUMBER = 9
