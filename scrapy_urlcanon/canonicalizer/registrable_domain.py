"""The registrable domain of a host, by the Public Suffix List."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from scrapy_urlcanon.canonicalizer.url import is_ip_address

# What a name is by the list; other names have such names below them.
_SUFFIX, _ANY_LABEL, _EXCEPTION = 1, 2, 4


@lru_cache(maxsize=1)
def _names() -> dict[str, int]:
    """Return what the names of the list that the package ships are, and the names above them.

    No network. Its private part counts, as in browsers: two users of one hosting domain are two
    sites. Most hosts take two look-ups, where the package takes ten times as long.
    """
    # Not needed by a crawl under the rules that most have, before it is over.
    from publicsuffixlist import PSLFILE  # noqa: PLC0415

    names: dict[str, int] = {}
    for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines():
        rule = line.strip().lower()
        if not rule or rule.startswith("//"):
            continue
        if not rule.isascii():
            rule = rule.encode("idna").decode()
        name, kind = rule, _SUFFIX
        if rule.startswith("!"):
            name, kind = rule[1:], _EXCEPTION
        elif rule.startswith("*."):
            # Of `*.ck` the name `ck` is a suffix too.
            name, kind = rule[2:], _SUFFIX | _ANY_LABEL
        names[name] = names.get(name, 0) | kind
        above = name.partition(".")[2]
        while above and above not in names:
            names[above] = 0
            above = above.partition(".")[2]
    return names


def start_of_domain(host: str) -> int:
    """Return where in *host*, a normalized one, its registrable domain begins; -1 if it has none.

    >>> start_of_domain("www.shop.example.co.uk"), start_of_domain("co.uk")
    (9, -1)
    """
    names = _names()
    # The public suffix is the last label, where that is on no list.
    start = suffix = host.rfind(".") + 1
    kind = names.get(host[start:])
    # A host with an empty label is on no list.
    if kind is None and (not host[start:] or is_ip_address(host)):
        return -1
    if ".." in host or host[0] == ".":
        return -1
    while kind is not None:
        if kind & _SUFFIX:
            suffix = start
        elif kind & _EXCEPTION:
            suffix = host.index(".", start) + 1
            break
        if not start:
            break
        start = host.rfind(".", 0, start - 1) + 1
        if kind & _ANY_LABEL:
            suffix = start
        kind = names.get(host[start:])
    return host.rfind(".", 0, suffix - 1) + 1 if suffix else -1


def has_domain_from(host: str, start: int) -> bool:
    """Tell whether the registrable domain of *host*, a normalized one, begins at *start* or later.

    As :func:`start_of_domain` says, in a quarter of the time for most hosts.

    :param start: where a label begins.

    >>> has_domain_from("www.example.co.uk", 4), has_domain_from("www.co.uk", 4)
    (True, False)
    """
    names = _names()
    rest = host[start:]
    above = rest.partition(".")[2]
    # What is not among the names has none below it either. Else the walk tells, as it does of what
    # may be an address or have an empty label.
    if (
        rest not in names
        and above
        and not names.get(above, 0) & _ANY_LABEL
        and host[-1].isalpha()
        and host[0] != "."
        and ".." not in host
    ):
        return True
    return start_of_domain(host) >= start


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
    start = start_of_domain(host)
    return None if start < 0 else host[start:]


def domain_or_host(host: str) -> str:
    """Return the registrable domain of *host*, a normalized one, or *host* where it has none.

    >>> domain_or_host("www.example.co.uk"), domain_or_host("192.0.2.1")
    ('example.co.uk', '192.0.2.1')
    """
    return registrable_domain(host) or host
