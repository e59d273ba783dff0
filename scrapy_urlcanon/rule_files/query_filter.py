"""Reads Brave's query filter JSON: lists of parameters with match patterns.

Format: ``brave-lists/clean-urls.json`` and its like in https://github.com/brave/adblock-lists.
The match patterns are those of browser extensions:
https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Match_patterns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeGuard

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.approximation import includes_no_subdomain, is_host, path_at_border
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.documents import is_texts
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMAT = "query filter"

_MATCH_PATTERN = re.compile(r"(\*|https?)://(\*|(?:\*\.)?[a-z0-9_.-]+)(/.*)", re.IGNORECASE)
_PLAIN_PATH = re.compile(r"(?:/[\w.~-]+)*/\*")


def is_format(document: object) -> TypeGuard[list[dict[str, Any]]]:
    """Tell whether *document*, parsed JSON, is meant as such a list."""
    return isinstance(document, list) and any(
        isinstance(item, dict) and "params" in item for item in document
    )


def read(document: list[dict[str, Any]]) -> Imported:
    """Translate *document*, parsed JSON, into our options.

    :raises ValueError: with all that is wrong, each with its place.
    """
    problems = list(_problems(document))
    if problems:
        raise ValueError("; ".join(problems))
    left_out: list[LeftOut] = []
    groups = [_translate(f"[{index}]", item, left_out) for index, item in enumerate(document)]
    return Imported(FORMAT, compose(groups), tuple(left_out))


def _problems(document: list[Any]) -> Iterator[str]:
    for index, item in enumerate(document):
        if not isinstance(item, dict):
            yield f"[{index}]: expected an object, got {item!r}"
            continue
        for key in ("include", "exclude", "params"):
            if not is_texts(item.get(key, [] if key == "exclude" else None)):
                yield f"[{index}].{key}: expected a list of texts, got {item.get(key)!r}"


def _translate(where: str, item: dict[str, Any], left_out: list[LeftOut]) -> RuleGroup:
    group = RuleGroup()
    names = [name for name in item["params"] if is_writable(name)]
    left_out += [
        LeftOut(f"{where}.params", name, NOT_WRITABLE)
        for name in item["params"]
        if not is_writable(name)
    ]
    scopes = {pattern: _inside(pattern) for pattern in item["include"]}
    for pattern, found in scopes.items():
        # A pattern for a host alone is not needed beside one for the host and its subdomains.
        scope = found or _host_alone_within(pattern, scopes.values())
        if scope is None:
            reason = "our patterns are for all schemes, a host with its subdomains, and a prefix"
            left_out.append(LeftOut(f"{where}.include", pattern, reason))
        else:
            group.drop(scope, names)
    for pattern in item.get("exclude", []):
        excepted = _superset(pattern)
        if excepted.host != ANY_HOST:
            group.except_for(excepted, None)
        else:
            group.remove(None)
            reason = "it cannot be expressed: all of this entry is left out"
            left_out.append(LeftOut(f"{where}.exclude", pattern, reason))
    return group


def _inside(pattern: str) -> Pattern | None:
    """Return the scope that *pattern* is, or None.

    >>> _inside("*://*.example.com/a/*")
    Pattern(host='example.com', path='/a/*', conditions=())
    """
    found = _MATCH_PATTERN.fullmatch(pattern)
    if not found or found[1] != "*" or not _PLAIN_PATH.fullmatch(found[3]):
        return None
    host = found[2].lower()
    path = "" if found[3] == "/*" else found[3]
    if host == "*":
        return Pattern(ANY_HOST, path)
    if not is_host(host.removeprefix("*.")):
        return None
    if host.startswith("*."):
        return Pattern(host[2:], path)
    return Pattern(host, path) if includes_no_subdomain(host) else None


def _host_alone_within(pattern: str, scopes: Iterable[Pattern | None]) -> Pattern | None:
    """Return the scope among *scopes* for the host of *pattern* with its subdomains, or None."""
    scope = _inside(pattern.replace("://", "://*.", 1))
    return scope if any(other and scope and other.covers(scope) for other in scopes) else None


def _superset(pattern: str) -> Pattern:
    """Return a scope that holds at least for the URLs of *pattern*."""
    found = _MATCH_PATTERN.fullmatch(pattern)
    host = found[2].lower().removeprefix("*.") if found else ANY_HOST
    if not found or not (host == ANY_HOST or is_host(host)):
        return Pattern(ANY_HOST)
    path = found[3].partition("*")[0]
    return Pattern(host, path_at_border(path.partition("?")[0]))
