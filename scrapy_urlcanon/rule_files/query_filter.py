"""Reads Brave's query filter JSON: lists of parameters with match patterns.

Format: ``brave-lists/clean-urls.json`` and its like in https://github.com/brave/adblock-lists.
The match patterns are those of browser extensions:
https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Match_patterns.
"""

from __future__ import annotations

import re
from typing import Any, TypeGuard

from scrapy_urlcanon.canonicalizer.names import NOT_WRITABLE, is_writable
from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.approximation import includes_no_subdomain, path_at_border
from scrapy_urlcanon.rule_files.composition import RuleGroup, compose
from scrapy_urlcanon.rule_files.imported import Imported, LeftOut

FORMAT = "query filter"

_MATCH_PATTERN = re.compile(r"(\*|https?)://(\*|(?:\*\.)?[a-z0-9_.-]+)(/.*)", re.IGNORECASE)
_PLAIN_PATH = re.compile(r"(?:/[\w.~-]+)*/\*")


def is_format(document: object) -> TypeGuard[list[dict[str, Any]]]:
    """Tell whether *document*, parsed JSON, is meant as such a list."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(item, dict) and "params" in item for item in document)
    )


def read(document: list[dict[str, Any]]) -> Imported:
    """Return what *document*, parsed JSON, is in our terms.

    :raises ValueError: with all that is wrong, each with its place.
    """
    problems = [
        f"[{index}].{key}: expected a list of texts, got {item.get(key)!r}"
        for index, item in enumerate(document)
        for key in ("include", "exclude", "params")
        if not _is_texts(item.get(key, [] if key == "exclude" else None))
    ]
    if problems:
        raise ValueError("; ".join(problems))
    left_out: list[LeftOut] = []
    groups = [_translate(f"[{index}]", item, left_out) for index, item in enumerate(document)]
    return Imported(FORMAT, compose(groups), tuple(left_out))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _translate(where: str, item: dict[str, Any], left_out: list[LeftOut]) -> RuleGroup:
    group = RuleGroup()
    names = [name for name in item["params"] if is_writable(name)]
    left_out += [
        LeftOut(f"{where}.params", name, NOT_WRITABLE)
        for name in item["params"]
        if not is_writable(name)
    ]
    # What is for a host and its subdomains makes a pattern for the host alone needless.
    with_subdomains = {host for host in map(_with_subdomains, item["include"]) if host}
    for pattern in item["include"]:
        scope = _inside(pattern, with_subdomains)
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


def _with_subdomains(pattern: str) -> str | None:
    found = _MATCH_PATTERN.fullmatch(pattern)
    return found[2][2:].lower() if found and found[2].startswith("*.") else None


def _inside(pattern: str, with_subdomains: set[str]) -> Pattern | None:
    """Return the scope that *pattern* is, or None.

    >>> _inside("*://*.example.com/a/*", set())
    Pattern(host='example.com', path='/a/*', conditions=())
    """
    found = _MATCH_PATTERN.fullmatch(pattern)
    if not found or found[1] != "*" or not _PLAIN_PATH.fullmatch(found[3]):
        return None
    host = found[2].lower()
    path = "" if found[3] == "/*" else found[3]
    if host == "*":
        return Pattern(ANY_HOST, path)
    if host.startswith("*."):
        return Pattern(host[2:], path)
    if host in with_subdomains or includes_no_subdomain(host):
        return Pattern(host, path)
    return None


def _superset(pattern: str) -> Pattern:
    """Return a scope that holds at least what *pattern* does."""
    found = _MATCH_PATTERN.fullmatch(pattern)
    if not found:
        return Pattern(ANY_HOST)
    path = found[3].partition("*")[0]
    return Pattern(found[2].lower().removeprefix("*."), path_at_border(path.partition("?")[0]))
