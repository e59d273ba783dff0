"""The types of the options' values: what is valid, and how the layers come together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.names import Entry
from scrapy_urlcanon.exceptions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping


class Setting(NamedTuple):
    """The value of an option after all layers."""

    value: Any
    """For lists a tuple of :class:`~scrapy_urlcanon.canonicalizer.names.Entry`, for
    mappings a mapping to pairs of value and layer, else as it was written."""
    layer: str
    """The last layer that had a say."""


class ValueType(ABC):
    """What the values of an option look like."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what is expected, for error messages and the documentation."""

    @abstractmethod
    def problem(self, value: object) -> str | None:
        """Say what is wrong with *value*, or None."""

    def merge(self, lower: Setting | None, value: Any, layer: str) -> Setting:
        """Return the setting that *value* in *layer* makes of that of the *lower* layers."""
        del lower
        return Setting(value, layer)


def _expected(value_type: ValueType, value: object) -> str:
    return f"expected {value_type}, got {value!r}"


@frozen
class Choice(ValueType):
    """One of a few words."""

    choices: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(repr(choice) for choice in self.choices)

    def problem(self, value: object) -> str | None:
        if isinstance(value, str) and value in self.choices:
            return None
        return _expected(self, value) + did_you_mean(value, self.choices)


@frozen
class Flag(ValueType):
    """True or False."""

    def __str__(self) -> str:
        return "True or False"

    def problem(self, value: object) -> str | None:
        return None if isinstance(value, bool) else _expected(self, value)


@frozen
class NameList(ValueType):
    """A list of names; the lists of all layers unite.

    ``*`` in a name stands for any text, and ``!name`` takes a name of a lower layer, or
    one that a glob of the same list matches, back.
    """

    optional: bool = field(default=False, kw_only=True)
    """Whether None, which is no list, is a value too and discards the lower layers."""

    def __str__(self) -> str:
        return "a list of names" + (" or None" if self.optional else "")

    def problem(self, value: object) -> str | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, (list, tuple)):
            return _expected(self, value)
        for name in value:
            if not isinstance(name, str) or name in {"", "!"}:
                return f"expected names, and {name!r} is not one"
        return None

    def merge(self, lower: Setting | None, value: Any, layer: str) -> Setting:
        if value is None:
            return Setting(None, layer)
        entries = {entry.pattern: entry for entry in (lower and lower.value) or ()}
        for name in value:
            pattern = name.removeprefix("!")
            # Re-inserted: the last entry that matches decides.
            entries.pop(pattern, None)
            entries[pattern] = Entry(pattern, name.startswith("!"), layer)
        return Setting(tuple(entries.values()), layer)


@frozen
class NameMap(ValueType):
    """A mapping of names to texts; the mappings of all layers unite.

    None in place of a text takes a name of a lower layer back.
    """

    def __str__(self) -> str:
        return "a mapping of names to texts"

    def problem(self, value: object) -> str | None:
        if not isinstance(value, dict):
            return _expected(self, value)
        for name, text in value.items():
            if not isinstance(name, str) or not isinstance(text, (str, type(None))):
                return f"expected names and texts, got {name!r}: {text!r}"
        return None

    def merge(self, lower: Setting | None, value: Mapping[str, str | None], layer: str) -> Setting:
        united = dict(lower.value) if lower else {}
        for name, text in value.items():
            if text is None:
                united.pop(name, None)
            else:
                united[name] = (text, layer)
        return Setting(united, layer)
