"""How the prefixes and hosts of foreign patterns are put in terms of ours."""

from __future__ import annotations

from scrapy_urlcanon.canonicalizer.patterns import Pattern, parse_pattern


def is_host(text: str) -> bool:
    """Tell whether *text* can be the host of a pattern: a host as it stands in URLs.

    >>> is_host("xn--bcher-kva.example"), is_host("a.0x1"), is_host("B\u00fccher.example")
    (True, False, False)
    """
    try:
        return parse_pattern(text) == Pattern(text)
    except ValueError:
        return False


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

    >>> path_at_border("/a/dp"), path_at_border("/a/dp/"), path_at_border("//dp")
    ('/a', '/a/dp', '')
    """
    return prefix.rpartition("/")[0].rstrip("/")
