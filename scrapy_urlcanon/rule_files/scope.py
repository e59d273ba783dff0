"""The URLs that an imported rule is for, and how two such sets relate."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ANY_HOST = "*"


class Scope(NamedTuple):
    """A host with its subdomains, a path prefix and conditions on the query.

    What one pattern of ``URLCANON_RULES`` can say; the text of one is that pattern.

    >>> str(Scope("example.com", "/forum", (("t", "1*"),)))
    'example.com/forum?t=1*'
    """

    host: str
    """Lower case, or ``*``."""
    path: str = ""
    """Empty or with a leading slash, none at the end. It ends on a segment border."""
    query: tuple[tuple[str, str], ...] = ()
    """Names and globs for their values, decoded and sorted."""

    def __str__(self) -> str:
        conditions = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='*')}" for name, value in self.query
        )
        return self.host + self.path + (f"?{conditions}" if conditions else "")

    @property
    def specificity(self) -> tuple[int, int, int]:
        """What orders scopes as the configuration does: the higher one wins."""
        labels = 0 if self.host == ANY_HOST else self.host.count(".") + 1
        return labels, self.path.count("/"), len(self.query)

    def covers(self, other: Scope) -> bool:
        """Tell whether every URL of *other* is one of this scope.

        >>> Scope("example.com").covers(Scope("www.example.com", "/a"))
        True
        >>> Scope("example.com", "/a").covers(Scope("example.com", "/ab"))
        False
        """
        return (
            _host_covers(self.host, other.host)
            and _path_covers(self.path, other.path)
            and set(self.query) <= set(other.query)
        )

    def overlaps(self, other: Scope) -> bool:
        """Tell whether a URL may be of both scopes."""
        return (_host_covers(self.host, other.host) or _host_covers(other.host, self.host)) and (
            _path_covers(self.path, other.path) or _path_covers(other.path, self.path)
        )


class ScopeIndex:
    """Finds the scopes that may overlap another one without looking at all of them."""

    def __init__(self, scopes: Iterable[Scope]) -> None:
        self._of_host: dict[str, list[Scope]] = {}
        self._below_host: dict[str, list[Scope]] = {}
        for scope in dict.fromkeys(scopes):
            self._of_host.setdefault(scope.host, []).append(scope)
            for host in _parents(scope.host):
                self._below_host.setdefault(host, []).append(scope)

    def related(self, scope: Scope) -> Iterator[Scope]:
        """Return the scopes whose host is that of *scope*, above it or below it."""
        yield from self._of_host.get(scope.host, ())
        yield from self._below_host.get(scope.host, ())
        for host in _parents(scope.host):
            yield from self._of_host.get(host, ())


def _parents(host: str) -> Iterator[str]:
    """Return the hosts that stand for *host* too: ``*``, and the domains that it is in."""
    if host != ANY_HOST:
        yield ANY_HOST
        while dot := host.find(".") + 1:
            host = host[dot:]
            yield host


def _host_covers(host: str, other: str) -> bool:
    return host in (ANY_HOST, other) or other.endswith(f".{host}")


def _path_covers(path: str, other: str) -> bool:
    return path == other or other.startswith(f"{path}/") or not path


def includes_no_subdomain(host: str) -> bool:
    """Tell whether *host* as a pattern stands for itself alone.

    Our patterns stand for the subdomains of a host too. An IPv4 address has none, and of
    ``www.example.com`` we take it that it has none of its own.

    >>> includes_no_subdomain("www.example.com"), includes_no_subdomain("example.com")
    (True, False)
    """
    return host.startswith("www.") or host.rpartition(".")[2].isdigit()


def path_at_border(prefix: str) -> str:
    """Return the longest path on a segment border that covers all paths with *prefix*.

    *prefix* is one as text: ``/dp`` is one of ``/dpa`` too.

    >>> path_at_border("/a/dp"), path_at_border("/a/dp/"), path_at_border("/dp")
    ('/a', '/a/dp', '')
    """
    return prefix.rpartition("/")[0]
