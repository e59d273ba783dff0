"""The compact form of a URL that candidate rules are tried on.

A canonicalizer works on one URL at a time; learning tries hundreds of candidates on a million
URLs. So each URL is taken apart once, into the *place* (scheme, host and path) and its
parameters, both of them texts shared between URLs.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.canonicalizer.percent_encoding import decode_path

if TYPE_CHECKING:
    from collections.abc import Container

_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")

# What the canonicalizer takes for one character in a query, percent-encoded or not. There they are
# encoded, here they are raw, because that is what people read.
_RAW_IN_QUERY = {
    f"%{ord(char):02X}": char for char in f"{ascii_letters}{digits}-._~!$'()*,/:?@[]|"
} | {"%20": "+"}

# A number, a digest or token of sixteen characters or more, or a UUID.
_IDENTIFIER = re.compile(
    r"[0-9]+|(?=[a-z]*[0-9])[0-9a-z]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """Where a URL points to before its query."""

    scheme: str
    host: str
    """With the port, where there is one."""
    path: str


class Location(NamedTuple):
    """A URL taken apart: its place, and its sorted parameters, ``name=value`` or ``name``."""

    place: Place
    params: tuple[str, ...]

    @property
    def url(self) -> str:
        """Return the URL as text."""
        scheme, host, path = self.place
        return (
            f"{scheme}://{host}{path}?{'&'.join(self.params)}"
            if self.params
            else f"{scheme}://{host}{path}"
        )


def name_of(param: str) -> str:
    """Return the name of a parameter.

    >>> name_of("page=2"), name_of("print")
    ('page', 'print')
    """
    return param.partition("=")[0]


def value_of(param: str) -> str:
    """Return the value of a parameter; the empty string where it has none."""
    return param.partition("=")[2]


def is_identifier(text: str) -> bool:
    """Whether a text names one of many things, and none of a few by what it means.

    What is learned of one of them says nothing of the others.

    >>> is_identifier("42"), is_identifier("da39a3ee5e6b4b0d"), is_identifier("HEAD")
    (True, True, False)
    """
    return bool(_IDENTIFIER.fullmatch(text))


def locate(url: str, semicolon_hosts: Container[str] = ()) -> Location:
    """Take an absolute http(s) URL apart.

    :param semicolon_hosts: hosts, as this writes them, where ``;`` separates parameters too.

    Only what every preset does anyway is folded: the case of scheme and host, percent-encoding,
    default ports, the order of the parameters, the fragment. Nothing is raised for odd URLs; what
    makes no sense stays as it is.

    >>> locate("HTTP://Example.com:80?b=2%2c3&a=%261#top").url
    'http://example.com/?a=%261&b=2,3'
    """
    scheme, _, rest = url.partition("://")
    rest = rest.partition("#")[0]
    before, _, query = rest.partition("?")
    authority, slash, path = before.partition("/")
    scheme = scheme.lower()
    host = authority.lower()
    port = ":80" if scheme == "http" else ":443"
    host = host.removesuffix(port)
    path = slash + path or "/"
    if "%" in rest:
        path = decode_path(path)
        query = _ESCAPE.sub(_in_query, query)
    if not query:
        return Location(Place(intern(scheme), intern(host), path), ())
    if ";" in query and host in semicolon_hosts:
        query = query.replace(";", "&")
    params = [param for param in query.split("&") if param]
    if len(params) > 1:
        params.sort()
    return Location(Place(intern(scheme), intern(host), path), tuple(params))


def _in_query(match: re.Match[str]) -> str:
    escape = match[0].upper()
    return _RAW_IN_QUERY.get(escape, escape)
