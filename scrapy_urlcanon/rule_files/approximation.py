"""Expresses the hosts and path prefixes of other programs' patterns in our patterns."""

from __future__ import annotations

import re

from scrapy_urlcanon.canonicalizer.patterns import Pattern, parse_pattern

_PLAIN_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def is_host(text: str) -> bool:
    """Tell whether *text* can be the host of a pattern: a host as it stands in URLs.

    >>> is_host("xn--bcher-kva.example"), is_host("a.0x1"), is_host("B\u00fccher.example")
    (True, False, False)
    """
    try:
        return parse_pattern(text) == Pattern(text)
    except ValueError:
        return False


def is_plain_host(text: str) -> bool:
    """Tell whether *text* is a host of letters of ASCII, digits, hyphens and underscores.

    >>> is_plain_host("a.example"), is_plain_host("a..example"), is_plain_host("a.0x1")
    (True, False, False)
    """
    return _PLAIN_HOST.fullmatch(text) is not None and is_host(text)


def includes_no_subdomain(host: str) -> bool:
    """Tell whether *host* as a pattern stands for itself alone.

    Our patterns include the subdomains of a host. An IPv4 address has none, and
    ``www.example.com`` is assumed to have none.

    >>> includes_no_subdomain("www.example.com"), includes_no_subdomain("example.com")
    (True, False)
    """
    return host.startswith("www.") or host.rpartition(".")[2].isdigit()


def path_at_border(prefix: str) -> str:
    """Return the longest path on a segment border that covers all paths with *prefix*.

    A prefix is compared as text: ``/dp`` is also a prefix of ``/dpa``.

    >>> path_at_border("/a/dp"), path_at_border("/a/dp/"), path_at_border("//dp")
    ('/a', '/a/dp', '')
    """
    return prefix.rpartition("/")[0].rstrip("/")
