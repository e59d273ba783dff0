"""Splits plain URLs, and sorts their parameters.

``compiled.pyx`` has the same functions, and those of
:mod:`~scrapy_urlcanon.canonicalizer.percent_encoding`, for machines with a C compiler.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path, encode_query
from scrapy_urlcanon.canonicalizer.url import is_ip_address

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

# Kinds of names in the Public Suffix List; other names have such names below them.
SUFFIX, ANY_LABEL, EXCEPTION = 1, 2, 4

# A plain path: nothing in it is or needs to be encoded, and it has no parameters.
_PATH_TEXT = r"A-Za-z0-9\-._~!$&'()*+,=:@/"
_not_plain = re.compile(f"[^{_PATH_TEXT}]").search
# Path, query and fragment that are to be encoded, but hold nothing that the URL parser
# drops or refuses. In a path still nothing may need to be encoded that is not.
_ENCODED_PATH = f"/[{_PATH_TEXT}%]*"
_is_visible = re.compile(r"[!-~]*").fullmatch
# Scheme and host that the host parser of the WHATWG URL standard leaves as they are: lower
# case, no port, no userinfo, and a last label that cannot be a number. Nor may it have
# empty labels or Punycode.
_plain_prefix = re.compile(r"https?://((?:[a-z0-9_\-][a-z0-9_\-.]*\.)?[a-z]+)").fullmatch
_encoded = re.compile(rf"({_ENCODED_PATH})?(?:\?([!-\"$-~]*))?(?:#[!-~]*)?").fullmatch


def read(url: str) -> str | tuple[str, str, str, bool] | None:
    """Return the prefix, the path and the query of a plain URL.

    They are normalized, and followed by whether *url* already was so and has no fragment. The
    prefix alone is returned if only a normalized path follows it. None is returned for a URL that
    is not plain: one that is not ASCII, has path parameters or dot segments, or characters that the
    URL parser drops or refuses.

    >>> read("http://a.com/b"), read("http://a.com/b?c#d"), read("http://a.com/../b")
    ('http://a.com', ('http://a.com', '/b', 'c=', False), None)
    """
    # From 8 on: after the slashes of the scheme there is at least one letter of a host.
    start = url.find("/", 8)
    if start < 0:
        start = len(url)
    before = url[:start]
    other = _not_plain(url, start)
    if other is None and start < len(url):
        return None if "/." in url[start:] else before
    if other and other[0] == "?" and other.start() > start and url.isascii() and "#" not in url:
        path, _, written = url[start:].partition("?")
        query = encode_query(written)
        is_spelled_so = query == written != ""
        if not (is_spelled_so or _is_visible(written)):
            return None
    else:
        match = _encoded(url, start)
        if match is None:
            return None
        path, query = encode_path(match[1] or "/"), encode_query(match[2] or "")
        is_spelled_so = False
    return None if "/." in path else (before, path, query, is_spelled_so)


def plain_host(prefix: str) -> str | None:
    """Return the host of *prefix*, scheme and host, if the host parser leaves it unchanged.

    >>> plain_host("http://a.com"), plain_host("http://A.com"), plain_host("http://1.1")
    ('a.com', None, None)
    """
    match = _plain_prefix(prefix)
    return None if match is None or ".." in prefix or "xn--" in prefix else match[1]


def is_under(host: str, ends: Container[str]) -> bool:
    """Tell whether the last label of *host*, or the last two of them, are one of *ends*.

    >>> is_under("www.a.com", {"a.com"}), is_under("a.com", {"com"}), is_under("a.com", {"b.com"})
    (True, True, False)
    """
    last = host.rfind(".")
    return host[host.rfind(".", 0, last) + 1 :] in ends or host[last + 1 :] in ends


def start_of_domain(host: str, names: Mapping[str, int]) -> int:
    """Return the index in *host*, normalized, where its registrable domain begins; -1 for none.

    >>> names = {"uk": SUFFIX, "co.uk": SUFFIX}
    >>> start_of_domain("www.shop.example.co.uk", names), start_of_domain("co.uk", names)
    (9, -1)

    :param names: the kinds of the names in the Public Suffix List (https://publicsuffix.org/list/),
        and of the names above them.
    """
    # If no rule of the list matches, the public suffix is the last label.
    start = suffix = host.rfind(".") + 1
    kind = names.get(host[start:])
    # A host with an empty label is on no list.
    if kind is None and (not host[start:] or is_ip_address(host)):
        return -1
    if ".." in host or host[0] == ".":
        return -1
    while kind is not None:
        if kind & SUFFIX:
            suffix = start
        elif kind & EXCEPTION:
            suffix = host.index(".", start) + 1
            break
        if not start:
            break
        start = host.rfind(".", 0, start - 1) + 1
        if kind & ANY_LABEL:
            suffix = start
        kind = names.get(host[start:])
    return host.rfind(".", 0, suffix - 1) + 1 if suffix else -1


def without_www(host: str, names: Mapping[str, int], *, numbered: bool) -> str:
    """Return the normalized *host* without its first labels ``www``.

    As many of them go as leave a registrable domain.

    >>> without_www("www.www2.a.com", {}, numbered=True), without_www("www.com", {}, numbered=True)
    ('a.com', 'www.com')
    >>> without_www("www.www2.a.com", {}, numbered=False)
    'www2.a.com'

    :param names: as in :func:`start_of_domain`.
    :param numbered: whether digits may follow in such a label.
    """
    start = start_of_domain(host, names) if host.startswith("www") else 0
    digits = "0123456789" if numbered else ""
    at = 0
    for label in host[: max(start, 0)].split(".")[:-1]:
        if label.rstrip(digits) != "www":
            break
        at += len(label) + 1
    return host[at:]


def canonical_prefix(
    prefix: str,
    ends: Container[str],
    scheme: str,
    names: Mapping[str, int] | None,
    numbered: bool,  # noqa: FBT001
) -> str | None:
    """Return the canonical form of *prefix*, scheme and host; itself if nothing changes.

    None for a host that is not plain, and for one under one of *ends*.

    >>> canonical_prefix("http://www.a.com", set(), "https://", {}, True)
    'https://a.com'
    >>> canonical_prefix("http://www.a.com", set(), "", None, False)
    'http://www.a.com'
    >>> canonical_prefix("http://www.a.com", {"a.com"}, "", None, False)

    :param ends: as in :func:`is_under`.
    :param scheme: the canonical scheme with its slashes; "" keeps that of *prefix*.
    :param names: as in :func:`without_www`; None keeps the host.
    :param numbered: as in :func:`without_www`.
    """
    host = plain_host(prefix)
    if host is None or is_under(host, ends):
        return None
    kept = host if names is None else without_www(host, names, numbered=numbered)
    canonical = (scheme or prefix[: -len(host)]) + kept
    return prefix if canonical == prefix else canonical


def trimmed_path(path: str, indexes: frozenset[str]) -> str | None:
    """Return *path* without a trailing slash, or a last segment that is one of *indexes*.

    None for a path with repeated slashes, or if another segment would have to be dropped next.

    >>> indexes = frozenset({"index.html"})
    >>> trimmed_path("/a/index.html", indexes), trimmed_path("/", indexes)
    ('/a', '/')
    >>> trimmed_path("/a//b", indexes), trimmed_path("/index.html/", indexes)
    (None, None)
    """
    if "//" in path:
        return None
    if path[path.rfind("/") + 1 :] in indexes:
        path = path[: path.rfind("/") + 1]
    if path == "/" or path[-1:] != "/":
        return path
    path = path[:-1]
    return None if path[path.rfind("/") + 1 :] in indexes else path


def are_named(query: str, names: set[str]) -> bool:
    """Tell whether each parameter of *query*, which has one ``=`` each, has one of *names*.

    >>> are_named("a=1&b=2", {"a", "b", "c"})
    True
    """
    return names.issuperset(query.replace("=", "&").split("&")[::2])


def are_filled(query: str, names: set[str]) -> bool:
    """Tell whether each parameter of *query* has one of *names*, and a value.

    >>> are_filled("a=1&b=2", {"a", "b"}), are_filled("a=1&b=", {"a", "b"})
    (True, False)
    """
    texts = query.replace("=", "&").split("&")
    return "" not in texts and names.issuperset(texts[::2])


def sort_query(query: str) -> str:
    """Return *query* with its parameters in the order of their texts.

    >>> sort_query("b=1&a=2&a=1")
    'a=1&a=2&b=1'
    """
    if "&" not in query:
        return query
    pieces = query.split("&")
    pieces.sort()
    return "&".join(pieces)
