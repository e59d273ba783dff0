"""The patterns of url-matcher, which duplicate-url-discarder's rules are for.

Their meaning is that of url-matcher 0.6 (``url_matcher/patterns.py``): a pattern that is only a
host includes its subdomains; with a path, a query or a fragment it stands for that host with and
without ``www.`` only. A path is a prefix, compared as text; ``*`` in it stands for any text, and a
``|`` at its end for the end of the path. Letter case makes no difference anywhere.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from attrs import frozen

from scrapy_urlcanon.canonicalizer.patterns import ANY_HOST, Condition, Pattern
from scrapy_urlcanon.rule_files.approximation import includes_no_subdomain, is_host, path_at_border

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9.+-]*:)?//")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_PLAIN_PATH = re.compile(r"(/[A-Za-z0-9._~!$&'()+,;=:@%-]*)*")
_MOST_ALTERNATIVES = 50


@frozen
class UrlMatcherPattern:
    """One include or exclude pattern.

    >>> UrlMatcherPattern.parse("https://Shop.example.com/a/*?sort=up")
    UrlMatcherPattern(text='https://Shop.example.com/a/*?sort=up', scheme='https', \
host='shop.example.com', port=None, path='/a/*', query='sort=up', fragment='')
    """

    text: str
    scheme: str
    host: str
    port: int | None
    path: str
    query: str
    fragment: str

    @classmethod
    def parse(cls, text: str) -> UrlMatcherPattern:
        """Parse *text*.

        :raises ValueError: if it has no host, or one that cannot be parsed.
        """
        found = _SCHEME.match(text)
        try:
            parts = urlsplit(text if found and found[1] else f"//{text}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or text.startswith("//"):
            raise ValueError(
                f"expected an empty pattern or one that begins with a host, got {text!r}"
            )
        return cls(text, parts.scheme, host, port, parts.path, parts.query, parts.fragment)

    def is_host_alone(self) -> bool:
        """Whether it is only a host, so that it includes the subdomains."""
        return not (self.path or self.query or self.fragment)

    def problem(self) -> str | None:
        """Return what our patterns cannot express, apart from the host, or None."""
        if self.scheme or self.port is not None:
            return "our patterns hold for every scheme and port"
        if self.fragment:
            return "our patterns know no fragment"
        if not self._has_plain_host():
            return f"{self.host!r} is no host that url-matcher would find in a URL of Scrapy's"
        return None

    def _has_plain_host(self) -> bool:
        return _HOST.fullmatch(self.host) is not None and is_host(self.host)

    def path_problem(self) -> str | None:
        """Return what our patterns cannot express about the path, or None."""
        if self.path.endswith("|"):
            return "our patterns match a path with all that is below it, never it alone"
        if not _PLAIN_PATH.fullmatch(self.literal_path().replace("*", "")):
            return "its path has characters that no URL of Scrapy's has"
        return None

    def literal_path(self) -> str:
        """Return the path without a ``*`` at its end, which makes no difference to a prefix."""
        return self.path.rstrip("*")

    def is_path_whole(self) -> bool:
        """Whether our path matches all URLs that its path matches as a text."""
        path = self.literal_path()
        return path == "" or path.endswith("/") or "*" in path

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that in our patterns stand only for URLs of this pattern.

        It stands for ``example.com`` and ``www.example.com``. Our patterns can express only the
        second, since the first would include all other subdomains.
        """
        if self.is_host_alone() or includes_no_subdomain(self.host):
            return (self.host,)
        return (f"www.{self.host}",)

    def scopes(self) -> Iterator[Pattern]:
        """Return our patterns for it, none of which holds for other URLs.

        :raises ValueError: if its query is not one that ours can express.
        """
        conditions = [
            [(name, value) for value in values]
            for name, values in parse_qs(self.query, keep_blank_values=True).items()
        ]
        if any("*" in name for name, _ in (choice for c in conditions for choice in c)):
            raise ValueError("a * in the name of a parameter stands for any text here")
        alternatives = 1
        for choices in conditions:
            alternatives *= len(choices)
        if alternatives > _MOST_ALTERNATIVES:
            raise ValueError(f"more than {_MOST_ALTERNATIVES} combinations of its values")
        path = self.literal_path()
        # Ours for a directory is also for the directory without its slash, which theirs is not for.
        # With a * ours is for whole paths, and theirs for a prefix.
        is_whole = "*" in path or (path.endswith("/") and path != "/")
        path = f"{path}*" if is_whole else path.rstrip("/")
        for host in self.hosts():
            for choice in product(*conditions):
                query = tuple(sorted(Condition(name, value) for name, value in choice))
                yield Pattern(host, path, query)

    def superset(self) -> Pattern | None:
        """Return a pattern of ours that holds at least for all of its URLs.

        None if there is none but the one for all URLs. Letter case in the path is taken as written,
        since paths differ in it.
        """
        if not self._has_plain_host():
            return None
        path = self.path.partition("*")[0].rstrip("|")
        return Pattern(self.host, path_at_border(path))


EVERYWHERE = Pattern(ANY_HOST)
