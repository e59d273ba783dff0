"""Patterns for one host and port: of what a site declares, and of the programs found on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.patterns import Pattern, fits, includes_path

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url


class SitePattern(NamedTuple):
    """The paths with a prefix on one scheme, host and port.

    That is what a robots.txt speaks of (RFC 9309, section 2.3), and what no :class:`Pattern` can
    say: its subdomains are not included, and the prefix is one as text.

    >>> from scrapy_urlcanon.canonicalizer.url import split
    >>> pattern = SitePattern(split("http://example.com/"), "/forum*/show")
    >>> pattern.matches_on_its_host(split("http://example.com/forums/showthread.php"))
    True
    """

    site: Url
    """A URL of the site, normalized."""
    prefix: str
    """``*`` in it stands for any text."""

    @property
    def is_for_whole_host(self) -> bool:
        """No: it is for one scheme and one port at most."""
        return False

    @property
    def host(self) -> str:
        """The host, without its subdomains."""
        return self.site.host

    @property
    def text(self) -> str:
        """The host and the prefix."""
        return f"{self.host}{self.prefix}"

    @property
    def specificity(self) -> tuple[bool, int, int, int]:
        """What orders it among patterns, as :attr:`Pattern.specificity`."""
        return True, self.host.count(".") + 1, self.prefix.count("/"), 0

    def matches_on_its_host(self, url: Url) -> bool:
        """Tell whether *url*, whose host may be a subdomain of this one, is one of the URLs."""
        is_of_site = (url.scheme, url.host, url.port) == self.site[0:1] + self.site[2:4]
        return is_of_site and fits(self.prefix.rstrip("*") + "*", url.path)


class PlacePattern(NamedTuple):
    """The URLs of a program on one host and port, below its place, that a pattern is for.

    Not those on subdomains, nor those of another program whose place is below this one.
    """

    pattern: Pattern
    port: str | None
    """None where it is that of the scheme."""
    others: tuple[str, ...] = ()
    """Places of other programs, without the slash at the end."""

    @property
    def is_for_whole_host(self) -> bool:
        """No: it is for one port at most."""
        return False

    @property
    def host(self) -> str:
        """The host, without its subdomains."""
        return self.pattern.host

    @property
    def text(self) -> str:
        """The pattern as text, with the port."""
        return self.pattern.text if self.port is None else f"{self.pattern.text} (:{self.port})"

    @property
    def specificity(self) -> tuple[bool, int, int, int]:
        """What orders it among patterns, as :attr:`Pattern.specificity`."""
        return self.pattern.specificity

    def matches_on_its_host(self, url: Url) -> bool:
        """Tell whether *url*, normalized and on this host, is one of the URLs."""
        return (
            url.port == self.port
            and self.pattern.matches_on_its_host(url)
            and not any(includes_path(other, url.path) for other in self.others)
        )
