"""The URLs that a crawl has seen that was cut short, which are not a random half of a site."""

from __future__ import annotations

import re
from hashlib import sha1
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

_NUMBER = re.compile("[0-9]+")


def _digest(salt: str, url: str) -> bytes:
    return sha1((salt + url).encode("utf-8", "replace")).digest()


def _drawn(salt: str, url: str, share: float) -> bool:
    return int.from_bytes(_digest(salt, url)[:4], "big") / 2**32 < share


def _size(url: str) -> int:
    """Return how many segments and parameters a URL has."""
    parts = urlsplit(url)
    return len([*filter(None, parts.path.split("/")), *filter(None, parts.query.split("&"))])


def _shape(url: str) -> Hashable:
    """Return the shape that URLs of one kind of things share."""
    host, path, query = urlsplit(url)[1:4]
    folder, _, name = path.rpartition("/")
    names = {param.partition("=")[0] for param in query.split("&") if param}
    return host, _NUMBER.sub("0", folder), bool(_NUMBER.search(name)), frozenset(names)


def _section(url: str) -> Hashable:
    """Return the first directory of a URL."""
    host, path = urlsplit(url)[1:3]
    first, slash, _ = path[1:].partition("/")
    return host, first if slash else ""


def _numbers(url: str) -> tuple[list[int], str]:
    """Return a sort key for the order in which things were created."""
    parts = urlsplit(url)
    return [int(number[:18]) for number in _NUMBER.findall(f"{parts.path}?{parts.query}")], url


def _first_half(
    urls: Collection[str], group: Callable[[str], Hashable], order: Callable[[str], Any]
) -> set[str]:
    groups: dict[Hashable, list[str]] = {}
    for url in sorted(urls, key=order):
        groups.setdefault(group(url), []).append(url)
    found: set[str] = set()
    for members in groups.values():
        # Of a group of one, half is none or one.
        odd = len(members) % 2 and _drawn("r", members[0], 0.5)
        found.update(members[: len(members) // 2 + odd])
    return found


CRAWLS: dict[str, Callable[[Collection[str]], set[str]]] = {
    # Breadth first: those near the home page, as far as the URL tells.
    "half, by depth": lambda urls: _first_half(
        urls, lambda _: None, lambda url: (_size(url), _digest("d", url))
    ),
    # As the site was years ago: the things with the smallest numbers, of each kind.
    "half, by number": lambda urls: _first_half(urls, _shape, _numbers),
    # In the order of an index: of each directory the first ones, so that whole scripts are missing.
    "half, by alphabet": lambda urls: _first_half(urls, _section, str),
    "third, drawn": lambda urls: {url for url in urls if _drawn("t", url, 1 / 3)},
    "tenth, drawn": lambda urls: {url for url in urls if _drawn("t", url, 0.1)},
}
"""By the name of a crawl, a function that returns the URLs that it has seen."""
