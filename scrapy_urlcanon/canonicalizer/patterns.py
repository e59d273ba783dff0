"""Patterns: which URLs a rule of the configuration is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from scrapy_urlcanon.canonicalizer.names import glob_matcher
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text, encode_path
from scrapy_urlcanon.canonicalizer.rules.base import parameter
from scrapy_urlcanon.canonicalizer.url import is_ip_address, normalize_host
from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_urlcanon.canonicalizer.url import Url

ANY_HOST = "*"

_LONGEST_HOST = 253  # characters, without the dot of the root zone (RFC 1035, section 2.3.4)


@frozen(order=True)
class Condition:
    """A condition on one parameter of the query."""

    name: str
    """Decoded."""
    value: str
    """Decoded; ``*`` stands for any text."""
    matches: Callable[[str], bool] = field(init=False, repr=False, eq=False, order=False)
    """Tells whether a decoded value fulfils the condition."""

    @matches.default
    def _matches(self) -> Callable[[str], bool]:
        return glob_matcher(self.value)


@frozen
class Pattern:
    """A host with its subdomains, a path prefix and conditions on the query.

    >>> pattern = parse_pattern("Wiki.example.com/index.php?title=Special:*")
    >>> pattern.host, pattern.path, [condition.name for condition in pattern.conditions]
    ('wiki.example.com', '/index.php', ['title'])
    """

    host: str
    """Normalized, or ``*``. The rule holds for its subdomains too."""
    path: str = ""
    """Percent-encoded, without a slash at the end; it matches on segment borders."""
    conditions: tuple[Condition, ...] = ()
    """All of them must hold. They are sorted."""

    @property
    def is_for_whole_host(self) -> bool:
        """Whether neither path nor query make a difference."""
        return not self.path and not self.conditions

    @property
    def specificity(self) -> tuple[int, int, int]:
        """What orders the patterns of one origin: the higher wins.

        ``*`` < shorter host < longer host; then the longer path; then more conditions.
        """
        labels = 0 if self.host == ANY_HOST else self.host.count(".") + 1
        return labels, self.path.count("/"), len(self.conditions)

    def matches(self, url: Url) -> bool:
        """Tell whether path and query of *url* match; its host is known to."""
        if self.path and url.path != self.path and not url.path.startswith(self.path + "/"):
            return False
        if not self.conditions:
            return True
        parameters = [parameter(piece) for piece in url.query or ()]
        return all(
            any(name == condition.name and condition.matches(value) for name, value in parameters)
            for condition in self.conditions
        )


def parse_pattern(text: str) -> Pattern:
    """Return the pattern that *text* describes.

    ``*``, ``example.com``, ``example.com/forum/``, ``example.com/index.php?title=Special:*``.

    :raises ValueError: if it does not; the message says what was expected.
    """
    if "://" in text:
        raise ValueError("expected a host, and perhaps a path and a query, without a scheme")
    if "#" in text:
        raise ValueError("expected no fragment: a pattern is a host, a path and a query")
    host_and_path, _, query = text.partition("?")
    host, slash, path = host_and_path.partition("/")
    return Pattern(
        _parse_host(host),
        encode_path(slash + path).rstrip("/"),
        tuple(sorted(_parse_condition(piece) for piece in query.split("&") if piece)),
    )


def _parse_host(host: str) -> str:
    if host == ANY_HOST:
        return host
    if "*" in host:
        raise ValueError(
            f"expected a host or '*', got {host!r}"
            + ("; a host stands for its subdomains too" if host.startswith("*.") else "")
        )
    if "@" in host or "\\" in host:
        raise ValueError(f"expected a host, got {host!r}")
    if ":" in host and not host.endswith("]"):
        raise ValueError(
            f"expected a host without a port, got {host!r}: a pattern is for all ports"
        )
    try:
        return normalize_host(host.removesuffix("."))
    except UnparsableUrlError as error:
        raise ValueError(f"expected a host or '*', and {error}") from None


def _parse_condition(piece: str) -> Condition:
    name, equals, value = map(decode_query_text, piece.partition("="))
    return Condition(name, value if equals else "*")


def with_parents(host: str) -> list[str]:
    """Return *host*, a normalized one, and the domains that it is in, the shortest first.

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
