"""Estimates how much memory the waiting requests take."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scrapy import Item, Request
from scrapy.http import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

R = TypeVar("R")

_REQUEST = 1_000
"""The bytes of an empty request, with the bookkeeping for it."""
_SHARED = 1_000
"""Objects of at least this many bytes are checked for being shared by several requests."""
_SAMPLE = 100
"""At most this many elements of a container are weighed, as a sample of the rest."""
_MAX_VISITED = 2_000
"""The most objects within one value that are weighed."""


def parts_of(request: Request) -> Iterable[object]:
    """Return the objects that *request* holds. Requests of the same page may share some."""
    return (request.url, request.body, *request.meta.values(), *request.cb_kwargs.values())


def weigh(value: object) -> int:
    """Return an estimate of the bytes that *value* takes, with everything it contains.

    Containers, items, requests and responses are descended into. Only the first elements of a long
    container are weighed, so that the time is bounded.

    >>> weigh({"rows": [bytes(1000) for _ in range(10_000)]}) // 1_000_000
    10
    """
    total = 0.0
    todo = deque([(value, 1.0)])
    visited: set[int] = set()
    while todo:
        item, times = todo.popleft()
        if id(item) in visited:
            continue
        visited.add(id(item))
        total += times * getsizeof(item, 0)
        if len(visited) < _MAX_VISITED:
            size, children = _content(item)
            sample = list(islice(children, _SAMPLE))
            todo.extend((child, times * size / len(sample)) for child in sample)
    return int(total)


def _content(item: Any) -> tuple[int, Iterable[object]]:
    """Return how many objects *item* consists of, and these objects."""
    if isinstance(item, (list, tuple, AbstractSet, deque)):
        return len(item), item
    if isinstance(item, (dict, Item)):
        return 2 * len(item), chain.from_iterable(item.items())
    parts: tuple[object, ...] = ()
    if isinstance(item, Request):
        parts = tuple(parts_of(item))
    elif isinstance(item, Response):
        # The body counts twice: whoever keeps a response has probably decoded its text as well.
        parts = (item.url, item.body, item.body, item.headers, item.request)
    elif dataclasses.is_dataclass(item) or hasattr(item, "__attrs_attrs__"):
        parts = tuple(getattr(item, "__dict__", {}).values())
    return len(parts), parts


class HeldBytes(Generic[R]):
    """Adds up the bytes of kept requests, counting an object that several of them share once.

    >>> held = HeldBytes(lambda request: request)
    >>> page = 100_000 * "text"
    >>> one, other = ["/1", page], ["/2", page]
    >>> [held.add(one) // 100_000, held.add(other) // 100_000, held.total // 100_000]
    [4, 4, 4]
    >>> [held.remove(one) // 100_000, held.remove(other) // 100_000, held.total]
    [4, 4, 0]

    :param parts: returns the objects that a request holds.
    """

    def __init__(self, parts: Callable[[R], Iterable[object]]) -> None:
        self._parts = parts
        self.total = 0
        """An estimate of the bytes of all requests."""
        # By id of a request: its own bytes, and the ids of the objects that others may share.
        self._requests: dict[int, tuple[int, tuple[int, ...]]] = {}
        # By id of an object, which some request keeps alive: its bytes, and how many requests hold
        # it.
        self._objects: dict[int, tuple[int, int]] = {}

    def add(self, request: R) -> int:
        """Add *request*; return its bytes including shared objects, or 0 if it was added before."""
        if id(request) in self._requests:
            return 0
        own = _REQUEST
        shared = []
        size = 0
        for part in self._parts(request):
            known = self._objects.get(id(part))
            weight = known[0] if known else weigh(part)
            if weight < _SHARED:
                own += weight
                continue
            self._objects[id(part)] = weight, known[1] + 1 if known else 1
            if not known:
                self.total += weight
            shared.append(id(part))
            size += weight
        self.total += own
        self._requests[id(request)] = own, tuple(shared)
        return own + size

    def remove(self, request: R) -> int:
        """Remove *request*; return what :meth:`add` returned, or 0 if it was not added."""
        own, shared = self._requests.pop(id(request), (0, ()))
        self.total -= own
        size = own
        for identity in shared:
            weight, holders = self._objects.pop(identity)
            size += weight
            if holders > 1:
                self._objects[identity] = weight, holders - 1
            else:
                self.total -= weight
        return size
