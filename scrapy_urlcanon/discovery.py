"""Finds the classes in a package, so that none has to be listed a second time."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = TypeVar("Kind")


def classes_in(package: str, base: type[Kind]) -> tuple[type[Kind], ...]:
    """Return the subclasses of *base* that the modules of *package* define.

    They are sorted by their attribute ``place``.
    """
    return tuple(sorted(_classes_in(package, base), key=attrgetter("place")))


def _classes_in(package: str, base: type[Kind]) -> Iterator[type[Kind]]:
    for found in iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{found.name}")
        for value in vars(module).values():
            is_of_kind = isinstance(value, type) and issubclass(value, base)
            # Classes that a module imports belong to another module.
            if is_of_kind and value is not base and value.__module__ == module.__name__:
                yield value
