"""Expresses URL patterns of filter lists in our patterns: by narrower scopes, and by wider ones.

Syntax: https://adguard.com/kb/general/ad-filtering/create-own-filters/#basic-rules-syntax.
``||`` is the beginning of a host or of a parent domain of it, ``^`` a separator or the end of the
URL, ``|`` the end, and ``*`` any text. A text without these at its ends may stand anywhere in the
URL.
"""

from __future__ import annotations

import re

from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Condition, Pattern
from scrapy_urlcanon.rule_files import url_regex
from scrapy_urlcanon.rule_files.approximation import is_plain_host
from scrapy_urlcanon.rule_files.finite_regex import NotFiniteError

_ANCHORED = re.compile(r"([^/^*|?$:]+)(.*)", re.DOTALL)
_PATH = re.compile(r"/[\w.~!'();:@=&+%,/*-]*")
_SCHEME = re.compile(r"\|?(?:https?|\*)?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"\|(?:wss?|ftp|file|data|blob)://?", re.IGNORECASE)
_BEHIND_SEPARATOR = re.compile(r"[/^]+([\w.-]*)(.?)")
_NO_WORD = re.compile(r"[*^|?&=#$\\]+")


class CannotExpressError(ValueError):
    """Our patterns and options cannot express this part of a rule."""


def host_pattern(host: str) -> str | None:
    """Return the host of a pattern of ours for *host*, a name or ``name.*``, or None.

    >>> host_pattern("Example.com"), host_pattern("google.*"), host_pattern("*.a.com")
    ('example.com', 'google.*', None)
    """
    host = host.lower()
    return host if is_plain_host(host.removesuffix(".*")) else None


def scopes_inside(pattern: str) -> list[Pattern]:
    """Return scopes in which every URL matches *pattern*.

    >>> [str(scope) for scope in scopes_inside("||a.com/x^")]
    ['a.com/x']
    >>> [str(scope) for scope in scopes_inside("||google.*/maps/*/at")]
    ['google.*/maps/*/at*']
    >>> [str(scope) for scope in scopes_inside("/redirect/")]
    ['*/redirect/*', '*/*/redirect/*']

    :raises CannotExpressError: if there are none worth having.
    """
    if not pattern.strip("*"):
        return [Pattern(ANY_HOST)]
    if pattern.startswith("||"):
        host, rest = _host_and_rest(pattern[2:])
        if host is None:
            raise CannotExpressError("our patterns begin with a plain host, or are for all")
        return [Pattern(host, path) for path in _paths_inside(rest)]
    if pattern.startswith(("/", "*/")) and not _is_regex(pattern):
        text = pattern.strip("*")
        if not _PATH.fullmatch(text):
            raise CannotExpressError("what may stand anywhere is no plain path")
        if text == "/":
            return [Pattern(ANY_HOST)]
        return [Pattern(ANY_HOST, f"{text}*"), Pattern(ANY_HOST, f"/*{text}*")]
    raise CannotExpressError("our patterns begin with a plain host, or are for all")


def _host_and_rest(text: str) -> tuple[str | None, str]:
    """Return the host that *text* begins with, and the rest; None for a host that is not plain."""
    found = _ANCHORED.fullmatch(text)
    if not found:
        return None, text
    host, rest = found.groups()
    if host.endswith("."):
        # What follows may be the rest of the host.
        return host_pattern(f"{host}*"), rest.removeprefix("*")
    return host_pattern(host), rest


def _paths_inside(rest: str) -> list[str]:
    bare = rest.rstrip("*")
    text = bare.removesuffix("^")
    if not text:
        return [""]
    if rest.startswith("^"):
        raise CannotExpressError("what follows the host is no plain path")
    if not _PATH.fullmatch(text):
        raise CannotExpressError("its path depends on the query, or is no plain one")
    if bare == text:
        return [f"{text}*" if text != "/" else ""]
    if text.endswith("/"):
        raise CannotExpressError("our patterns match a directory with all that is below it")
    return [text, f"{text}/*"] if "*" in text else [text]


def scopes_around(pattern: str) -> list[Pattern] | None:
    """Return scopes that hold all http URLs that *pattern* matches; None if there are none.

    >>> [str(scope) for scope in scopes_around("||a.com/x?id=")]
    ['a.com/x*']
    >>> [str(scope) for scope in scopes_around("/unsub/?")]
    ['*/*unsub*', '*?*unsub*=*', '*?*=*unsub*']
    """
    if _OTHER_SCHEME.match(pattern):
        return []
    if _is_regex(pattern):
        try:
            return url_regex.scopes_around(pattern[1:-1])[0]
        except NotFiniteError:
            return None
    scheme = _SCHEME.match(pattern)
    if scheme or pattern.startswith("||"):
        return _around_host(pattern[scheme.end() if scheme else 2 :])
    return _around_text(pattern.lstrip("*"))


def _around_text(text: str) -> list[Pattern] | None:
    """Return scopes that hold all URLs in which *text* stands anywhere."""
    if text[:1] in {"?", "&", "="}:
        # It cannot stand in a host.
        return _with_word(ANY_HOST, text)
    found = _BEHIND_SEPARATOR.match(text)
    if not found or text.strip("*/^") == "":
        return None if text.strip("*/^") else [Pattern(ANY_HOST)]
    word, end = found.groups()
    if not word:
        return _around_text(text[found.end(1) :].lstrip("*"))
    if end in {"", "*"}:
        # The separator may be the last one of `://`, and this the beginning of a host.
        return None
    host = host_pattern(word) if "." in word else None
    hosts = [Pattern(host)] if host else []
    return hosts + _with_word(ANY_HOST, text)


def _around_host(text: str) -> list[Pattern] | None:
    """Return scopes that hold all URLs in which *text* stands where a host begins."""
    host, rest = _host_and_rest(text)
    if host is None or (rest and rest[0] not in "/^?:&*"):
        return None
    if not host.endswith(".*") and rest[:1] in {"", "*"}:
        if rest or "." not in host:
            return None
        # It may be the beginning of a longer name, such as `a.com.au`.
        return [Pattern(host), Pattern(f"{host}.*")]
    return _within(Pattern(host), rest)


def _within(scope: Pattern, rest: str) -> list[Pattern]:
    """Return scopes on the host of *scope* that hold what *rest* matches behind it."""
    if not rest.startswith("/"):
        return _with_word(scope.host, rest)
    literal = re.split(r"[*^|?$]", rest, maxsplit=1)[0]
    if scope.host.endswith(".*"):
        # `*` stands for the beginning of the path as well.
        return _with_word(scope.host, rest)
    return [Pattern(scope.host, f"{literal}*") if literal != "/" else scope]


def _with_word(host: str, text: str) -> list[Pattern]:
    """Return scopes on *host* in which the longest word of *text* stands in path or query."""
    word = max((part.strip("/") for part in _NO_WORD.split(text)), key=len)
    if not word:
        return [Pattern(host)]
    return [
        Pattern(host, f"/*{word}*"),
        Pattern(host, "", (Condition(f"*{word}*", "*"),)),
        Pattern(host, "", (Condition("*", f"*{word}*"),)),
    ]


def _is_regex(pattern: str) -> bool:
    return (
        len(pattern) > 1
        and pattern.startswith("/")
        and pattern.endswith("/")
        and ("\\" in pattern or "^" in pattern[1:2] or "(" in pattern)
    )
