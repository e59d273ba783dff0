"""The registrable domain of a host, by the Public Suffix List."""

from __future__ import annotations

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from scrapy_urlcanon.canonicalizer.url import is_ip_address


@lru_cache(maxsize=1)
def _list() -> PublicSuffixList:
    # The list that the package ships: no network. Its private part counts, as in browsers:
    # two users of one hosting domain are two sites.
    return PublicSuffixList(accept_unknown=False)


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str | None:
    """Return the public suffix of *host* and the label before it, or None if it has none.

    *host* is normalized. See https://publicsuffix.org/ for the list; a top-level domain
    that is not on it is a public suffix too.

    >>> registrable_domain("www.shop.example.co.uk"), registrable_domain("co.uk")
    ('example.co.uk', None)
    >>> registrable_domain("www.shop.intranet"), registrable_domain("localhost")
    ('shop.intranet', None)
    >>> registrable_domain("192.0.2.1")
    """
    # A host with an empty label is on no list.
    if is_ip_address(host) or "." not in host or "" in host.split("."):
        return None
    if _list().publicsuffix(host) is None:
        return ".".join(host.split(".")[-2:])
    return _list().privatesuffix(host)


def domain_or_host(host: str) -> str:
    """Return the registrable domain of *host*, a normalized one, or *host* where it has none.

    >>> domain_or_host("www.example.co.uk"), domain_or_host("192.0.2.1")
    ('example.co.uk', '192.0.2.1')
    """
    return registrable_domain(host) or host
