"""Operations for parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from scrapy_urlcanon.canonicalizer.names import is_writable
from scrapy_urlcanon.canonicalizer.percent_encoding import (
    decode_parameter,
    decode_query_text,
    encode_query_text,
)
from scrapy_urlcanon.canonicalizer.rules import query
from scrapy_urlcanon.canonicalizer.rules.signed import is_signed
from scrapy_urlcanon.learn.location import Location, is_path_in_query, parts_of, value_of
from scrapy_urlcanon.learn.operations.base import ANY, REPEATED, Operation
from scrapy_urlcanon.learn.vocabulary import is_ordering, may_be_default

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_urlcanon.canonicalizer.rules import ParameterRule

# For how many lists of parameters an operation remembers the result.
_MOST_KNOWN = 1_000


def _is_said(text: str) -> bool:
    """Tell whether a rule can hold a name or a value; it cannot if the bytes are no UTF-8."""
    return encode_query_text(decode_query_text(text)) == text


class _ParameterOperation(Operation):
    """An option that drops parameters, each by itself."""

    @property
    def beginning(self) -> str:
        """The beginning of all parameters that may be dropped."""
        return ""

    @cached_property
    def _left(self) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        """A function that returns the parameters that are left, the same object for equal input."""
        rule, beginning = cast("ParameterRule", self.rule), self.beginning

        @lru_cache(_MOST_KNOWN)
        def left(params: tuple[str, ...]) -> tuple[str, ...]:
            kept = [
                p
                for p in params
                if not p.startswith(beginning) or rule.drops(*decode_parameter(p)) is None
            ]
            return params if rule.spares_signed and is_signed(params) else tuple(kept)

        return left

    def apply(self, location: Location) -> Location:
        origin, path, params = location
        left = self._left(params)
        return location if len(left) == len(params) else Location(origin, path, left)


@dataclass(frozen=True)
class _NamedParameterOperation(_ParameterOperation):
    name: str
    """The name as in URLs, percent-encoded."""

    @property
    def handle(self) -> str:
        return "?" + self.name

    @property
    def beginning(self) -> str:
        return self.name + "="

    @property
    def drops(self) -> frozenset[str]:
        return frozenset((self.name,))

    @property
    def is_for_listings(self) -> bool:
        return is_ordering(self.name)

    @property
    def is_valid(self) -> bool:
        # The option would take a path in the query for a name, and drop it.
        return _is_said(self.name) and not is_path_in_query(self.name)


@dataclass(frozen=True)
class DropParam(_NamedParameterOperation):
    """Drop a parameter, whatever its value."""

    option = query.DropParams

    @property
    def setting(self) -> object:
        return [decode_query_text(self.name)]

    @property
    def is_valid(self) -> bool:
        return super().is_valid and is_writable(decode_query_text(self.name))

    def as_seen(self, changed: Iterable[Location]) -> Operation:
        """Return the operation that drops only one value, if no other was seen.

        ``assignedto=-1`` says nothing about ``assignedto=7``.
        """
        values = (p for source in changed for p in source.params if p.startswith(self.beginning))
        seen = next(values, None)
        if (
            seen is None
            or any(other != seen for other in values)
            or not may_be_default(self.name, value := value_of(seen))
        ):
            return self
        one = DropValue(self.name, value)
        return one if one.is_valid else self


@dataclass(frozen=True)
class DropValue(_NamedParameterOperation):
    """Drop a parameter if it has its default value."""

    option = query.DefaultParams
    is_fitted = True
    value: str

    @property
    def setting(self) -> object:
        return {decode_query_text(self.name): decode_query_text(self.value)}

    @property
    def is_valid(self) -> bool:
        return super().is_valid and _is_said(self.value)

    @property
    def default(self) -> str | None:
        return self.value


@dataclass(frozen=True)
class KeepOnly(_ParameterOperation):
    """Drop all parameters but these.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> KeepOnly(("id",)).apply(locate("http://a.example/?id=7&_16=")).url
    'http://a.example/?id=7'
    """

    option = query.KeepParams
    names: tuple[str, ...]
    handle = ANY

    @property
    def setting(self) -> object:
        return [decode_query_text(name) for name in self.names]

    def apply(self, location: Location) -> Location:
        # The option would take a path in the query for a name, and not keep it.
        path, segments = parts_of(location.path)
        return super().apply(location._replace(path=path) if segments else location)

    @property
    def is_valid(self) -> bool:
        return all(
            is_writable(decode_query_text(n)) and not is_path_in_query(n) for n in self.names
        )


@dataclass(frozen=True)
class DropRepeated(Operation):
    """Drop parameters that repeat an earlier one."""

    option = query.RepeatedParams
    setting = "drop"
    handle = REPEATED
