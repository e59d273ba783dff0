"""A mapping that forgets its oldest keys when it is full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

K = TypeVar("K")
V = TypeVar("V")


class BoundedMapping(Generic[K, V]):
    """Remembers at most *limit* keys, and at least the last ``limit // 2`` that were set.

    There are two dictionaries. When the younger one is full, the older one is dropped as a whole
    and the younger one takes its place. That takes half the memory per key of an ``OrderedDict``.

    >>> mapping = BoundedMapping(4)
    >>> for key in "abcde":
    ...     mapping[key] = key.upper()
    >>> mapping.get("a"), mapping.get("c"), mapping.get("e")
    (None, 'C', 'E')
    >>> list(mapping)
    ['c', 'd', 'e']
    """

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._young) + len(self._old)

    def __contains__(self, key: K) -> bool:
        """Tell whether *key* is remembered."""
        return key in self._young or key in self._old

    def __iter__(self) -> Iterator[K]:
        """Yield the remembered keys, older ones first."""
        yield from self._old
        yield from self._young

    def __setitem__(self, key: K, value: V) -> None:
        """Store *value* for *key*."""
        self._old.pop(key, None)
        if len(self._young) >= self._half and key not in self._young:
            self._young, self._old = {}, self._young
        self._young[key] = value

    def get(self, key: K) -> V | None:
        """Return the value for *key*, or None."""
        value = self._young.get(key)
        return self._old.get(key) if value is None else value

    def pop(self, key: K) -> V | None:
        """Forget *key* and return its value, or None."""
        old = self._old.pop(key, None)
        return self._young.pop(key, old)
