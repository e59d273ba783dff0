"""Expresses regular expressions for URLs in our patterns: by narrower scopes, and by wider ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Pattern
from scrapy_urlcanon.rule_files.approximation import (
    includes_no_subdomain,
    is_plain_host,
    path_at_border,
)
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError, finite_texts, split_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANYTHING = frozenset({".*", "^.*", "^.*$"})
"""Expressions that match every URL."""

_SCHEME = re.compile(r"\^?(?:https\?|https|http|\(\?:https\?\)):(?:\\?/){2}")
_ONE_SCHEME = re.compile(r"\^?https?:")
_NOT_HTTP = re.compile(r"\^(?:wss?|wss\?|ftp):")
_ANY_SUBDOMAINS = re.compile(r"\((?:\?:)?\[a-z0-9-\]\+\\?\.\)\*\??")
_ANY_SUFFIX = re.compile(
    r"\^https\?:(?:\\?/){2}(?:\((?:\?:)?\[a-z0-9-\]\+\\?\.\)\*\??)?([^/]*?)"
    r"\((?:\?:)?\\\.\[a-z\]\{2,\}\)\{1,\}"
)
_WORD = re.compile(r"[^.*+?()\[\]{}|\\^$]")


def scopes_inside(pattern: str) -> Iterator[Pattern]:
    r"""Return scopes that hold only for URLs that *pattern* matches.

    >>> [str(scope) for scope in scopes_inside(r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.(?:com|de)\/x\/")]
    ['a.com/x/*', 'a.de/x/*']

    :raises NotFiniteError: if there are none.
    """
    if pattern in _ANYTHING:
        yield Pattern(ANY_HOST)
        return
    if _ONE_SCHEME.match(pattern):
        raise NotFiniteError("it is for one scheme, and our patterns are for all")
    with_subdomains, hosts, rest = _hosts(pattern)
    paths = finite_texts(re.sub(r"\.\*\??\Z", "", rest))
    for host in hosts:
        if not with_subdomains and not includes_no_subdomain(host):
            raise NotFiniteError(
                f"it is for {host} without its subdomains, and our patterns include them"
            )
        for path in paths:
            # The expression does not end there: the path is a prefix, compared as text.
            if not re.fullmatch(r"(/[\w.~-]+)*/?", path):
                raise NotFiniteError("its path is not a plain prefix")
            yield Pattern(host, f"{path}*" if path.strip("/") else "")


def scopes_around(expression: str) -> tuple[list[Pattern], bool]:
    r"""Return scopes for all http URLs that *expression* matches, and whether they hold no others.

    >>> scopes_around(r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.com\/b\/c.*?x=")
    ([Pattern(host='a.com', path='/b', conditions=())], False)
    >>> [str(scope) for scope in scopes_around(r"^https?:\/\/a\.com")[0]]
    ['a.com', 'a.com.*']

    :raises NotFiniteError: if there are none but the one for all URLs.
    """
    if _NOT_HTTP.match(expression):
        return [], True
    with_any_suffix = _ANY_SUFFIX.match(expression)
    if with_any_suffix:
        names = finite_texts(with_any_suffix[1], dot_is_literal=True)
        if all(map(is_plain_host, names)):
            return [Pattern(f"{name}.*") for name in names], False
    if not expression.startswith("^"):
        raise NotFiniteError("it may match anywhere in a URL")
    with_subdomains, hosts, rest = _hosts(expression)
    path = _literal_path(rest)
    scopes = [Pattern(host, path) for host in hosts]
    if not rest:
        # It may be the beginning of a longer name, such as `a.com.au`.
        scopes += [Pattern(f"{host}.*") for host in hosts]
    return scopes, with_subdomains and not rest


def _literal_path(rest: str) -> str:
    """Return the longest path on a segment border that all matches of *rest* begin with."""
    literal = ""
    position = 0
    while position < len(rest):
        character = rest[position]
        if character == "\\" and not rest[position + 1 : position + 2].isalnum():
            position += 1
            character = rest[position : position + 1]
            if character == "?":
                # The path ends here, so its last segment is a whole one.
                return literal.rstrip("/")
        elif not _WORD.match(character):
            break
        position += 1
        if rest[position : position + 1] in {"*", "?", "{"}:
            break
        literal += character
    return path_at_border(literal)


def _hosts(pattern: str) -> tuple[bool, tuple[str, ...], str]:
    """Return whether subdomains are included, the hosts, and what follows them."""
    scheme = _SCHEME.match(pattern)
    if not scheme or len(split_at(pattern, "|")) > 1:
        raise NotFiniteError("it does not begin with https?:// and a host")
    rest = pattern[scheme.end() :]
    subdomains = _ANY_SUBDOMAINS.match(rest)
    if subdomains:
        rest = rest[subdomains.end() :]
    host = split_at(rest, "/")[0]
    try:
        hosts = tuple(text.lower() for text in finite_texts(host, dot_is_literal=True))
    except NotFiniteError as error:
        raise NotFiniteError(f"it has no finite list of hosts: {error}") from None
    if not all(map(is_plain_host, hosts)):
        raise NotFiniteError("it has no plain hosts")
    return bool(subdomains), hosts, rest[len(host) :]
