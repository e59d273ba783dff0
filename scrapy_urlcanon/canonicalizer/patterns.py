"""Patterns: which URLs a rule of the configuration is for.

All that is to be known of a pattern is here: reading and writing its text, matching a URL, and how
two patterns relate (:meth:`Pattern.covers`, :meth:`Pattern.overlaps`, :attr:`Pattern.specificity`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.percent_encoding import (
    decode_parameter,
    decode_query_text,
    encode_path,
)
from scrapy_urlcanon.canonicalizer.url import is_ip_address, is_utf8, normalize_host, strip_root_dot
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.canonicalizer.url import Url

ANY_HOST = "*"

_plain_host = re.compile(r"(?:[a-z0-9_\-][a-z0-9_\-.]*\.)?[a-z]+").fullmatch
_LONGEST_HOST = 253  # characters, without the dot of the root zone (RFC 1035, section 2.3.4)


class Condition(NamedTuple):
    """A condition on one parameter of the query."""

    name: str
    """Decoded; ``*`` stands for any text."""
    value: str
    """Decoded; ``*`` stands for any text."""

    def is_met_by(self, name: str, value: str) -> bool:
        """Tell whether a parameter, decoded, fulfils the condition."""
        return (name == self.name or fits(self.name, name)) and (
            value == self.value or fits(self.value, value)
        )

    def covers(self, other: Condition) -> bool:
        """Tell whether every parameter that fulfils *other* fulfils this condition too."""
        # A `*` of the other one can only be matched by one of ours, and so can any text for it.
        return self.is_met_by(other.name, other.value)


class Pattern(NamedTuple):
    """A host with its subdomains, a path prefix and conditions on the query.

    >>> pattern = parse_pattern("Wiki.example.com/index.php?title=Special:*")
    >>> pattern.host, pattern.path, [condition.name for condition in pattern.conditions]
    ('wiki.example.com', '/index.php', ['title'])
    """

    host: str
    """Normalized, or ``*``. The rule holds for its subdomains too. ``name.*`` stands for all hosts
    in which ``name`` is followed by something."""
    path: str = ""
    """Percent-encoded, without a slash at the end; it matches on segment borders. One with a
    ``*``, which stands for any text, matches whole paths."""
    conditions: tuple[Condition, ...] = ()
    """All of them must hold. They are sorted."""

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The shortest text from which :func:`parse_pattern` makes this pattern.

        >>> parse_pattern("Wiki.example/index.php/?title=Special:*&a=b%26c").text
        'wiki.example/index.php?a=b%26c&title=Special%3A*'
        """
        return f"{self.host}{self.path}" + (self._query and f"?{self._query}")

    @property
    def readable(self) -> str:
        """The text with a slash after the name of a directory and before a query.

        >>> parse_pattern("example.com/forum").readable, parse_pattern("example.com?a").readable
        ('example.com/forum/', 'example.com/?a=*')
        """
        if self._query:
            return f"{self.host}{self.path or '/'}?{self._query}"
        is_whole = "." in self.path.rpartition("/")[2] or "*" in self.path
        return self.text + ("/" if self.path and not is_whole else "")

    @property
    def _query(self) -> str:
        return "&".join(
            f"{quote(condition.name, safe='*')}={quote(condition.value, safe='*')}"
            for condition in self.conditions
        )

    @property
    def is_for_whole_host(self) -> bool:
        """Whether path and query make no difference."""
        return not self.path and not self.conditions

    @property
    def specificity(self) -> tuple[bool, int, int, int]:
        """What orders the patterns of one origin: the higher wins.

        ``*`` < ``name.*`` < shorter host < longer host; then the longer path; then more conditions.
        """
        labels = 0 if self.host == ANY_HOST else self.host.count(".") + 1
        return "*" not in self.host, labels, self.path.count("/"), len(self.conditions)

    def matches_on_its_host(self, url: Url) -> bool:
        """Tell whether path and query of the normalized *url* match; its host is known to match.

        >>> from scrapy_urlcanon.canonicalizer.url import split
        >>> pattern = parse_pattern("example.com/forum?t=1*")
        >>> pattern.matches_on_its_host(split("http://www.example.com/forum/a?t=17"))
        True
        >>> pattern.matches_on_its_host(split("http://www.example.com/forums?t=17"))
        False
        """
        if not includes_path(self.path, url.path):
            return False
        if not self.conditions:
            return True
        parameters = [decode_parameter(piece) for piece in url.query or ()]
        return all(
            any(condition.is_met_by(name, value) for name, value in parameters)
            for condition in self.conditions
        )

    def covers(self, other: Pattern) -> bool:
        """Tell whether this pattern is for every URL that *other* is for.

        >>> pattern = parse_pattern("example.com/forum?t=1*")
        >>> pattern.covers(parse_pattern("www.example.com/forum/new?t=17&u=1"))
        True
        >>> pattern.covers(parse_pattern("www.example.com/forum/new?t=*"))
        False
        """
        return (
            includes_host(self.host, other.host)
            and _covers_path(self.path, other.path)
            and all(
                any(condition.covers(another) for another in other.conditions)
                for condition in self.conditions
            )
        )

    def overlaps(self, other: Pattern) -> bool:
        """Tell whether there may be a URL that both patterns are for.

        The conditions do not matter: a parameter may stand in a query several times.

        >>> pattern = parse_pattern("example.com/forum?t=1")
        >>> pattern.overlaps(parse_pattern("www.example.com?t=2"))
        True
        >>> pattern.overlaps(parse_pattern("www.example.com/blog?t=1"))
        False
        """
        hosts = self.host, other.host
        return (
            includes_host(*hosts)
            or includes_host(*reversed(hosts))
            or (any(map(is_host_glob, hosts)) and not any(map(is_ip_address, hosts)))
        ) and _paths_overlap(self.path, other.path)


def includes_host(host: str, other: str) -> bool:
    """Tell whether a pattern for *host* is for *other*, a host or that of a pattern."""
    if host in (ANY_HOST, other):
        return True
    if is_host_glob(host):
        # The host of a pattern stands for longer ones, all of which have what it has.
        is_name = len(other) <= _LONGEST_HOST and not is_ip_address(other) and other != ANY_HOST
        return is_name and f".{host[:-1]}" in f".{other}"
    if not other.endswith(f".{host}") or is_ip_address(other):
        return False
    return len(other) <= _LONGEST_HOST or host in with_parents(other)


def includes_path(prefix: str, path: str) -> bool:
    """Tell whether *path* is *prefix* or below it, or has the shape of one with ``*``."""
    if "*" in prefix:
        return fits(prefix, path)
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def is_host_glob(host: str) -> bool:
    """Tell whether *host*, that of a pattern, is one like ``name.*``."""
    return host.endswith(".*")


def host_globs(host: str, labels: Iterable[int]) -> Iterator[str]:
    """Yield the hosts like ``name.*`` of patterns that are for the normalized *host*.

    >>> list(host_globs("www.example.co.uk", [1]))
    ['www.*', 'example.*', 'co.*']

    :param labels: how many labels before the last they may have.
    """
    if is_ip_address(host) or len(host) > _LONGEST_HOST:
        return
    parts = host.split(".")
    for count in labels:
        for start in range(len(parts) - count):
            yield ".".join(parts[start : start + count]) + ".*"


def fits(glob: str, text: str) -> bool:
    """Tell whether *text* matches *glob*, in which ``*`` stands for any text."""
    return _glob_matcher(glob)(text)


_glob_matcher = lru_cache(maxsize=4096)(glob_matcher)


def _covers_path(prefix: str, other: str) -> bool:
    """Tell whether a pattern with *prefix* is for all paths that one with *other* is for."""
    if "*" not in other:
        # What is below it differs at the end alone.
        return includes_path(prefix, other or "/") and ("*" not in prefix or prefix.endswith("*"))
    if "*" in prefix:
        # A `*` of the other one can only be matched by one of ours, and so can any text for it.
        return fits(prefix, other)
    return not prefix or other.partition("*")[0].startswith(f"{prefix}/")


def _paths_overlap(one: str, other: str) -> bool:
    """Tell whether there may be a path that patterns with the paths *one* and *other* are for."""
    if "*" not in one + other:
        return includes_path(one, other) or includes_path(other, one)
    ones, others = (path.partition("*")[0] if "*" in path else f"{path}/" for path in (one, other))
    return ones.startswith(others) or others.startswith(ones)


def parse_pattern(text: str) -> Pattern:
    """Return the pattern that *text* describes.

    ``*``, ``example.com``, ``example.com/forum/``, ``example.com/index.php?title=Special:*``,
    ``example.*``, ``example.com/*.php``, ``example.com/?*_id``.

    :raises ValueError: if it describes none; the message says what was expected.
    :raises TypeError: if it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected a text, got {text!r}")
    if _is_plain_host(text):
        # Nearly all, where there are rules for very many sites.
        return Pattern(text)
    if not is_utf8(text):
        raise ValueError("it holds half of a surrogate pair")
    before, scheme, _ = text.partition("://")
    # A path may hold one, where a site shows those of others (``/web/2020/http://example.com/``).
    if scheme and "/" not in before and "?" not in before:
        raise ValueError(f"expected a host without a scheme, got {text!r}")
    if "#" in text:
        raise ValueError("expected no fragment: a pattern is a host, a path and a query")
    host_and_path, _, query = text.partition("?")
    host, slash, path = host_and_path.partition("/")
    path = encode_path(slash + path)
    return Pattern(
        _parse_host(host),
        path if "*" in path else path.rstrip("/"),
        tuple(sorted(_parse_condition(piece) for piece in query.split("&") if piece)),
    )


def _is_plain_host(text: str) -> bool:
    """Tell whether *text* is a host as the host parser of the WHATWG URL standard leaves it.

    Lower case, no port, and a last label that cannot be a number; no empty label and no Punycode.

    >>> _is_plain_host("www.example.com"), _is_plain_host("a.example/"), _is_plain_host("xn--a.de")
    (True, False, False)
    """
    return bool(_plain_host(text)) and ".." not in text and "xn--" not in text


def _parse_host(host: str) -> str:
    if host == ANY_HOST:
        return host
    if is_host_glob(host) and "*" not in host[:-2]:
        name = _parse_host(host[:-2])
        if is_ip_address(name):
            raise ValueError(f"expected a name before '.*', got {host!r}")
        return f"{name}.*"
    if host.startswith(("*.", ".")):
        # As cookies have it, and certificates.
        raise ValueError(
            f"expected a host or '*', got {host!r}; a host stands for its subdomains too"
        )
    if "*" in host:
        raise ValueError(f"expected a host or '*', got {host!r}")
    if "@" in host or "\\" in host:
        raise ValueError(f"expected a host, got {host!r}")
    if ":" in host and not host.endswith("]"):
        raise ValueError(
            f"expected a host without a port, got {host!r}: a pattern is for all ports"
        )
    try:
        return strip_root_dot(normalize_host(host))
    except UnparsableUrlError as error:
        raise ValueError(f"expected a host or '*', and {error}") from None


def _parse_condition(piece: str) -> Condition:
    name, equals, value = map(decode_query_text, piece.partition("="))
    return Condition(name, value if equals else "*")


def with_parents(host: str) -> list[str]:
    """Return the normalized *host* and the domains that it is in, the shortest first.

    >>> with_parents("www.example.com"), with_parents("192.0.2.1")
    (['com', 'example.com', 'www.example.com'], ['192.0.2.1'])

    Of a host longer than DNS allows only the domains that it does allow, so that the time
    is linear in its length.
    """
    if is_ip_address(host):
        return [host]
    if len(host) > _LONGEST_HOST:
        domain = host[-_LONGEST_HOST:].partition(".")[2]
        return [*with_parents(domain), host] if domain else [host]
    labels = host.split(".")
    return [".".join(labels[start:]) for start in range(len(labels) - 1, -1, -1)]
