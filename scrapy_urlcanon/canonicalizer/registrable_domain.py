"""The registrable domain of a host, by the Public Suffix List."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from scrapy_urlcanon.canonicalizer.url import is_ip_address

_RULE, _EXCEPTIONS = "", "!"
_Node = dict[str, Any]


@lru_cache(maxsize=1)
def _suffixes() -> _Node:
    """Return the list that the package ships, as a tree of labels from the last one on.

    No network. Its private part counts, as in browsers: two users of one hosting domain are two
    sites. In a tree a host takes three look-ups, where the package takes ten times as long.
    """
    # Not needed by a crawl under the rules that most have, before it is over.
    from publicsuffixlist import PSLFILE  # noqa: PLC0415

    root: _Node = {}
    for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines():
        rule = line.strip().lower()
        if not rule or rule.startswith("//"):
            continue
        name = rule.removeprefix("!")
        *labels, first = reversed((name if name.isascii() else _encoded(name)).split("."))
        node = root
        for label in labels:
            node = node.setdefault(label, {})
        if rule.startswith("!"):
            node.setdefault(_EXCEPTIONS, set()).add(first)
        else:
            # Of `*.ck` the name `ck` is a suffix too.
            node = node if first == "*" else node.setdefault(first, {})
            node[_RULE] = True
            if first == "*":
                node["*"] = True
    return root


def _encoded(name: str) -> str:
    return name.encode("idna").decode()


def _labels_of_suffix(labels: list[str]) -> int:
    """Return how many of *labels* are those of the public suffix; 0 where it is on no list."""
    node: _Node = _suffixes()
    found = 0
    for depth in range(len(labels)):
        label = labels[-1 - depth]
        if label in node.get(_EXCEPTIONS, ()):
            return depth
        if "*" in node:
            found = depth + 1
        if label not in node:
            break
        node = node[label]
        if _RULE in node:
            found = depth + 1
    return found


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str | None:
    """Return the public suffix of *host* and the label before it, or None if it has none.

    *host* is normalized. See https://publicsuffix.org/ for the list; a top-level domain
    that is not on it is a public suffix too.

    >>> registrable_domain("www.shop.example.co.uk"), registrable_domain("co.uk")
    ('example.co.uk', None)
    >>> registrable_domain("www.shop.intranet"), registrable_domain("localhost")
    ('shop.intranet', None)
    >>> registrable_domain("192.0.2.1")
    """
    # A host with an empty label is on no list.
    labels = host.split(".")
    if len(labels) == 1 or "" in labels or is_ip_address(host):
        return None
    count = max(1, _labels_of_suffix(labels)) + 1
    return ".".join(labels[-count:]) if len(labels) >= count else None


def domain_or_host(host: str) -> str:
    """Return the registrable domain of *host*, a normalized one, or *host* where it has none.

    >>> domain_or_host("www.example.co.uk"), domain_or_host("192.0.2.1")
    ('example.co.uk', '192.0.2.1')
    """
    return registrable_domain(host) or host
