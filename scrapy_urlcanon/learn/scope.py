"""For which URLs of a site a rule holds: the patterns of the configuration, seen as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from scrapy_urlcanon.learn.location import Location, Place

#: Segments of the path that a scope may name. Deeper ones single out pages, not sections.
MAX_DEPTH = 3


class Scope(NamedTuple):
    """A host with its subdomains, a path prefix and parameters that must be there.

    >>> from scrapy_urlcanon.learn.location import locate
    >>> Scope("example.com", ("forum",)).holds(locate("http://www.example.com/forum/1"))
    True
    >>> Scope("example.com", ("forum",)).pattern
    'example.com/forum/'
    """

    host: str
    """Without a port; it stands for its subdomains too, as in the configuration."""
    segments: tuple[str, ...] = ()
    """First segments of the path."""
    condition: str = ""
    """A parameter, ``name=value``, that the URL must have; empty for none."""

    def holds(self, location: Location) -> bool:
        """Whether the URL is within the scope."""
        host = location.place.host.partition(":")[0]
        if host != self.host and not host.endswith("." + self.host):
            return False
        if self.segments:
            path = location.place.path
            prefix = "/" + "/".join(self.segments)
            if path != prefix and not path.startswith(prefix + "/"):
                return False
        return not self.condition or self.condition in location.params

    def contains(self, other: Scope) -> bool:
        """Whether all URLs of another scope are within this one.

        >>> Scope("example.com").contains(Scope("www.example.com", ("forum",)))
        True
        """
        if self.segments and (self.host != other.host):
            return False
        return (
            (other.host == self.host or other.host.endswith("." + self.host))
            and other.segments[: len(self.segments)] == self.segments
            and self.condition in {"", other.condition}
        )

    @property
    def pattern(self) -> str:
        """The scope as a pattern of ``URLCANON_RULES``."""
        path = "".join(f"/{segment}" for segment in self.segments)
        if self.condition:
            return f"{self.host}{path or '/'}?{self.condition}"
        return f"{self.host}{path}/" if path and "." not in self.segments[-1] else self.host + path

    @property
    def is_expressible(self) -> bool:
        """Whether a pattern can say it.

        Globs and separators within a name or a value would be taken as such.
        """
        if any(not segment for segment in self.segments):
            return False
        return not (set(unquote_plus(self.condition)) & set("*#"))


def scopes_of(domain: str, place: Place) -> list[Scope]:
    """Return the scopes that hold a place, the widest first.

    >>> from scrapy_urlcanon.learn.location import Place
    >>> [s.pattern for s in scopes_of("example.com", Place("http", "www.example.com", "/a/b.html"))]
    ['example.com', 'www.example.com', 'www.example.com/a/', 'www.example.com/a/b.html']
    """
    host = place.host.partition(":")[0]
    found = [Scope(domain)]
    labels = host.removesuffix(domain).rstrip(".").split(".")
    found += [
        Scope(".".join(labels[i:]) + "." + domain)
        for i in range(len(labels) - 1, -1, -1)
        if labels[i]
    ]
    segments = place.path.split("/")[1:]
    depth = len(segments) if segments[-1] else len(segments) - 1
    for i in range(1, min(depth, MAX_DEPTH) + 1):
        if not segments[i - 1]:
            break
        found.append(Scope(host, tuple(segments[:i])))
    return found
