"""Options put in order."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from scrapy_urlcanon.canonicalizer.rules.base import Option, Presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from scrapy_urlcanon.canonicalizer.entries import RuleEntry


class Catalogue(Collection[type[Option]]):
    """Options, in the order in which they apply.

    :raises ValueError: if two of them have one name or one place in the order.
    """

    def __init__(self, options: Iterable[type[Option]]) -> None:
        self._options = tuple(sorted(options, key=lambda option: option.place))
        self.by_name: dict[str, type[Option]] = {option.name: option for option in self}
        """Every option by its name."""
        in_presets = {option.name: option.in_presets() for option in self}
        self.presets: dict[str, dict[str, Any]] = {
            preset: {name: values[preset] for name, values in in_presets.items()}
            for preset in Presets.NAMES
        }
        """The value of every option in each preset, before any rule of the user."""
        if len(self.by_name) < len(self):
            raise ValueError("two options have one name")
        if len({option.place for option in self}) < len(self):
            raise ValueError("two options have one place in the order in which they apply")

    def __iter__(self) -> Iterator[type[Option]]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __contains__(self, option: object) -> bool:
        return option in self._options


def taken_back(entries: Iterable[RuleEntry], catalogue: Catalogue) -> dict[str, Any]:
    """Return the options which, in a stronger layer, turn all of *entries* off.

    >>> from scrapy_urlcanon.canonicalizer.entries import RuleEntry
    >>> from scrapy_urlcanon.canonicalizer.rules import CATALOGUE
    >>> taken_back([RuleEntry("drop_params", name) for name in ("sid", "ref")], CATALOGUE)
    {'drop_params': ['!sid', '!ref']}
    """
    options: dict[str, Any] = {}
    for option, entry in entries:
        for name, value in catalogue.by_name[option].taken_back(entry).items():
            known = options.get(name)
            if isinstance(known, list):
                known += value
            elif isinstance(known, dict):
                known |= value
            else:
                options[name] = value
    return options


def options_of(*modules: ModuleType) -> list[type[Option]]:
    """Return the options that *modules* define."""
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and issubclass(value, Option)
    ]
