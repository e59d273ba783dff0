"""Turns plain data into attrs classes, with errors that name the place of the problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, has

from scrapy_urlcanon.exceptions import ReportError, did_you_mean
from scrapy_urlcanon.wording import shortened

_NAMES = {int: "a whole number that is not negative", str: "a text"}
_MAX_COUNT = 2**53 - 1
"""The largest integer that all readers of JSON agree on (RFC 8259, section 6)."""


def decode(expected: Any, value: object, place: str = "") -> Any:
    """Return *value*, as :func:`json.loads` returns it, as an instance of *expected*.

    :param expected: int (a count), str, ``tuple[X, ...]``, ``Mapping[str, X]``, or an attrs class
        with fields of these.
    :param place: the place of *value* in the document, for messages.
    :raises ReportError: if *value* is no instance of *expected*.
    """
    if has(expected):
        optional = {field.name for field in fields(expected) if field.default is not NOTHING}
        return expected(**decode_fields(get_type_hints(expected), optional, value, place))
    if get_origin(expected) is tuple:
        if not isinstance(value, (list, tuple)):
            raise _unexpected(place, "a list", value)
        (of, _) = get_args(expected)
        return tuple(decode(of, item, f"{place}[{number}]") for number, item in enumerate(value))
    if get_origin(expected) is Mapping:
        if not isinstance(value, dict):
            raise _unexpected(place, "an object", value)
        (_, of) = get_args(expected)
        return {name: decode(of, item, f"{place}[{name!r}]") for name, item in value.items()}
    if type(value) is not expected or (expected is int and value < 0):  # type: ignore[operator]
        raise _unexpected(place, _NAMES[expected], value)
    if isinstance(value, int) and value > _MAX_COUNT:
        # Larger numbers are no counts, and shares or bars of them could not be computed.
        raise _unexpected(place, f"no number above {_MAX_COUNT:,}", value)
    return value


def decode_fields(
    hints: Mapping[str, Any], optional: Collection[str], value: object, place: str = ""
) -> dict[str, Any]:
    """Return the members of the object *value*, each decoded.

    :param hints: the type of each member, as for :func:`decode`.
    :param optional: the members that may be missing.
    :raises ReportError: if another member is missing or unknown.
    """
    if not isinstance(value, dict):
        raise _unexpected(place, "an object", value)
    for name in value:
        if name not in hints:
            raise ReportError(f"{_join(place, name)}: no such key{did_you_mean(name, hints)}")
    for name in hints:
        if name not in value and name not in optional:
            raise ReportError(f"{_join(place, name)}: is missing")
    return {name: decode(hints[name], item, _join(place, name)) for name, item in value.items()}


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _unexpected(place: str, expected: str, value: object) -> ReportError:
    return ReportError(f"{place}: expected {expected}, got {shortened(repr(value), 60)}")
