"""Scopes: the patterns of the configuration, as a tree from the domain down."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.patterns import (
    ANY_HOST,
    Pattern,
    includes_host,
    includes_path,
    parse_pattern,
)
from scrapy_urlcanon.canonicalizer.percent_encoding import decode_query_text
from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.learn.location import Origin, host_of, parts_of, readable

if TYPE_CHECKING:
    from scrapy_urlcanon.learn.location import Location

MAX_DEPTH = 3
"""The most path segments in a scope. Longer paths are single pages, not sections."""


ANY_VALUE = "=*"
"""The end of a condition that any value meets."""


class Scope(NamedTuple):
    """The URLs of a host and its subdomains, with a path prefix and a parameter if these are set.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> Scope("example.com", ("forum",)).holds(locate("http://www.example.com/forum/1"))
    True
    >>> Scope("example.com", ("forum",)).text
    'example.com/forum/'
    """

    host: str
    """Without a port; subdomains are included, as in the configuration."""
    segments: tuple[str, ...] = ()
    """The first segments of the path."""
    condition: str = ""
    """A parameter that the URL must have: ``name=value``, or ``name=*`` for any value; empty for
    none."""

    def holds(self, location: Location) -> bool:
        """Tell whether the URL is within the scope; its pattern says the same."""
        (scheme, host), path, params = location
        return (
            _includes(self.host, scheme, host)
            and (
                not self.segments or includes_path("/" + "/".join(self.segments), parts_of(path)[0])
            )
            and (not self.condition or self._is_met(params))
        )

    def _is_met(self, params: tuple[str, ...]) -> bool:
        if self.condition.endswith(ANY_VALUE):
            return any(param.startswith(self.condition[:-1]) for param in params)
        return self.condition in params

    def contains(self, other: Scope) -> bool:
        """Tell whether all URLs of another scope are within this one.

        >>> Scope("example.com").contains(Scope("www.example.com", ("forum",)))
        True
        """
        return self.pattern.covers(other.pattern)

    @property
    def pattern(self) -> Pattern:
        """The scope as a pattern of the configuration."""
        return pattern_of(self.text)

    @property
    def text(self) -> str:
        """The scope as a key of ``URLCANON_RULES``."""
        path = "".join(f"/{segment}" for segment in self.segments)
        if self.condition:
            return f"{self.host}{path or '/'}?{readable(self.condition)}"
        return Pattern(self.host, path).readable

    @property
    def is_expressible(self) -> bool:
        """Whether a pattern can express it: no glob, no invalid UTF-8, nothing empty."""
        said = decode_query_text(self.condition.removesuffix(ANY_VALUE))
        is_text = "*" not in self.host + said and "\ufffd" not in said
        return is_text and all(self.segments) and not self.host.startswith(".")


def scopes_of(domain: str, location: Location) -> tuple[Scope, ...]:
    """Return the scopes without a condition that contain a URL, the widest first.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> location = locate("http://www.example.com/a/b.html")
    >>> [scope.text for scope in scopes_of("example.com", location)]
    ['example.com', 'www.example.com', 'www.example.com/a/', 'www.example.com/a/b.html']
    """
    host = host_of(location.origin)
    segments = tuple(_first_segments(location.path))
    if "" in segments:
        segments = segments[: segments.index("")]
    if len(segments) < MAX_DEPTH:
        return _scopes_of(domain, host, segments)
    # The deepest is not cached: there are too many.
    return *_scopes_of(domain, host, segments[:-1]), Scope(host, segments)


def beginning_of(location: Location) -> tuple[str, ...]:
    """Return what determines the scopes of a URL of the site: host and first path segments."""
    return *location.origin, *_first_segments(location.path)


def _first_segments(path: str) -> list[str]:
    return parts_of(path)[0].split("/", MAX_DEPTH + 1)[1 : MAX_DEPTH + 1]


@lru_cache(4096)
def _includes(host: str, scheme: str, other: str) -> bool:
    """Tell whether the scope of a host includes another host."""
    return includes_host(host, host_of(Origin(scheme, other)))


@lru_cache(4096)
def _scopes_of(domain: str, host: str, segments: tuple[str, ...]) -> tuple[Scope, ...]:
    labels = host.removesuffix(domain).rstrip(".").split(".")
    hosts = (".".join((*labels[i:], domain)) for i in range(len(labels) - 1, -1, -1) if labels[i])
    sections = (Scope(host, segments[:i]) for i in range(1, len(segments) + 1))
    return Scope(domain), *map(Scope, hosts), *sections


@lru_cache(4096)
def pattern_of(text: str) -> Pattern:
    """Return the pattern of a rule that the configuration has accepted."""
    return parse_pattern(text)


def domain_of_pattern(text: str) -> str:
    """Return the registrable domain that a rule is for, its host if it has none, or ``*``."""
    host = pattern_of(text).host
    return host if host == ANY_HOST else domain_or_host(host)
