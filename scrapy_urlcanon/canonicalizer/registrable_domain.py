"""The host of a URL, and its registrable domain by the Public Suffix List."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from scrapy_urlcanon.canonicalizer.inner_loops import plain_host, start_of_domain
from scrapy_urlcanon.canonicalizer.url import normalize_host, split, strip_root_dot
from scrapy_urlcanon.exceptions import UnparsableUrlError

# Browsers, and the canonicalizer with them, take as many slashes before a host as there are.
_AUTHORITY = re.compile(r"://[/\\]*([^/?#\\]*)")


@lru_cache(maxsize=1)
def suffix_names() -> dict[str, int]:
    """Return what the names of the list that the package ships are, and the names above them.

    No network. Its private part counts, as in browsers: two users of one hosting domain are two
    sites. Most hosts take two look-ups, where the package takes ten times as long.
    """
    # Most crawls do not need it before they end.
    from ada_url import idna_to_ascii  # noqa: PLC0415
    from publicsuffixlist import PSLFILE  # noqa: PLC0415

    from scrapy_urlcanon.canonicalizer.inner_loops.in_python import (  # noqa: PLC0415
        ANY_LABEL,
        EXCEPTION,
        SUFFIX,
    )

    names: dict[str, int] = {}
    for line in Path(PSLFILE).read_text(encoding="utf-8").lower().splitlines():
        rule = line.strip()
        if not rule or rule.startswith("//"):
            continue
        name, kind = rule, SUFFIX
        if rule.startswith("!"):
            name, kind = rule[1:], EXCEPTION
        elif rule.startswith("*."):
            # Of `*.ck` the name `ck` is a suffix too.
            name, kind = rule[2:], SUFFIX | ANY_LABEL
        if not name.isascii():
            # With Python's codec, 500 names take longer than all else here.
            name = idna_to_ascii(name).decode()
        names[name] = names.get(name, 0) | kind
        above = name.partition(".")[2]
        while above and above not in names:
            names[above] = 0
            above = above.partition(".")[2]
    return names


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
    start = start_of_domain(host, suffix_names())
    return None if start < 0 else host[start:]


def domain_or_host(host: str) -> str:
    """Return the registrable domain of the normalized *host*, or *host* if it has none.

    >>> domain_or_host("www.example.co.uk"), domain_or_host("192.0.2.1")
    ('example.co.uk', '192.0.2.1')
    """
    return registrable_domain(host) or host


@lru_cache(4096)
def domain_of(url: str) -> str:
    """Return the registrable domain of *url*, its host if it has none, or ``none``.

    The host is that of :func:`host_of`, so that rules for the domain hold there.

    >>> domain_of("http://www.example.co.uk:80/x"), domain_of("http://0x7f.1"), domain_of("data:,")
    ('example.co.uk', '127.0.0.1', 'none')
    """
    found = _AUTHORITY.search(url)
    return _domain_of_authority(found[1] if found else "")


def host_of(url: str) -> str:
    """Return the host of *url* as the canonicalizer reads it, or "" if it has none.

    A host that cannot be read is returned as it stands.

    >>> host_of("http://user@WWW.Example.com.:80/x"), host_of("http://[::1/"), host_of("data:,")
    ('www.example.com', '', '')
    """
    found = _AUTHORITY.search(url)
    return _host_of_authority(found[1] if found else "")


@lru_cache(4096)
def _domain_of_authority(authority: str) -> str:
    host = _host_of_authority(authority)
    return domain_or_host(host) if host else "none"


@lru_cache(4096)
def _host_of_authority(authority: str) -> str:
    host = plain_host(f"http://{authority}")
    if host is None:
        host = split(f"http://{authority}").host
        try:
            host = strip_root_dot(normalize_host(host))
        except UnparsableUrlError:
            # With brackets that hold no address, a request has it with ``verbatim_url`` only.
            return "" if host.startswith("[") else host
    return host
