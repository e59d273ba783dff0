"""The compact form of a URL that candidate rules are tried on.

A canonicalizer works on one URL at a time; learning tries hundreds of candidates on a million
URLs. So each URL is brought into the canonicalizer's normal form once, and taken apart into its
origin (scheme and host), its path and its parameters, which are shared between URLs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.parsing import parse
from scrapy_urlcanon.canonicalizer.percent_encoding import encode_path
from scrapy_urlcanon.canonicalizer.rules.separators import QuerySeparator
from scrapy_urlcanon.canonicalizer.url import Url, split
from scrapy_urlcanon.canonicalizer.values import Setting

if TYPE_CHECKING:
    from collections.abc import Container

# What every policy does: the normalizations that are always on, the order of the parameters.
_NORMAL = Canonicalizer({"*": {"tracking_params": "keep"}}, preset="safe")
_SEMICOLONS = QuerySeparator({QuerySeparator.name: Setting(";", Layer("learning"))})

# Escapes of a query that mean the character to everybody; people read them so.
_READABLE = {f"%{ord(char):02X}": char for char in "!$'()*,/:;?@[]|"}
_ESCAPE = re.compile("|".join(_READABLE))


class Origin(NamedTuple):
    """What a URL begins with; a site has few of them."""

    scheme: str
    """Empty where the URL cannot be parsed; no rule touches it."""
    host: str
    """With the port and the userinfo, where there are any; the whole URL where it is no URL."""


Place: TypeAlias = "tuple[Origin, str]"
"""What a URL has before its query: its origin, and its path."""


class Location(NamedTuple):
    """A URL in its normal form."""

    origin: Origin
    path: str
    params: tuple[str, ...]
    """Its parameters, ``name=value``, sorted."""

    @property
    def place(self) -> Place:
        """Where the URL points to before its query."""
        return self[:2]

    @property
    def url(self) -> str:
        """The URL as people read it: the canonicalizer takes it for the same."""
        scheme, host = self.origin
        query = "?" + "&".join(readable_params(self)) if self.params else ""
        return f"{scheme}://{host}{self.path}{query}" if scheme else host


def readable(param: str) -> str:
    """Return a parameter, or the name of one, without the escapes that need not be.

    >>> readable("title=Special%3AC%2B%2B"), readable("a=b%3Dc%3D%3D")
    ('title=Special:C%2B%2B', 'a=b%3Dc==')
    """
    if "%" not in param:
        return param
    bare = param.removesuffix("%3D").removesuffix("%3D") if "=" in param else param
    padding = "=" * ((len(param) - len(bare)) // 3)  # of base64
    return _ESCAPE.sub(lambda match: _READABLE[match[0]], bare) + padding


def readable_params(location: Location) -> tuple[str, ...]:
    """Return the parameters of a URL as people read them, in the order of that text."""
    params = location.params
    if any("%" in param for param in params):
        return tuple(sorted(map(readable, params)))
    return params


def reading_order(location: Location) -> tuple[Origin, str, tuple[str, ...]]:
    """Return what sorts URLs as people read them."""
    return location.origin, location.path, readable_params(location)


def name_of(param: str) -> str:
    """Return the name of a parameter.

    >>> name_of("page=2"), name_of("print")
    ('page', 'print')
    """
    return param.partition("=")[0]


def value_of(param: str) -> str:
    """Return the value of a parameter; the empty string where it has none."""
    return param.partition("=")[2]


def host_of(origin: Origin) -> str:
    """Return the host of an origin, without userinfo and port.

    >>> host_of(locate("http://me@[::1]:81/").origin)
    '[::1]'
    """
    host = origin.host
    return _base(origin.scheme, host).host if ":" in host or "@" in host else host


def locate(url: str, semicolon_hosts: Container[str] = ()) -> Location:
    """Take a URL apart, in its normal form.

    :param semicolon_hosts: hosts, as this writes them, where ``;`` separates parameters too.

    Nothing is raised: what the canonicalizer cannot parse gets an origin without a scheme.

    >>> locate("HTTP://Example.com:80?b=2%2c3&a=%261#top")
    Location(origin=Origin(scheme='http', host='example.com'), path='/', \
params=('a=%261', 'b=2%2C3'))
    """
    location = _take_apart(url)
    if ";" in url and location.origin.host in semicolon_hosts:
        return _take_apart(str(_SEMICOLONS.apply(parse(url, []))))
    return location


def _take_apart(url: str) -> Location:
    normal = _NORMAL.canonical_or_none(url)
    if normal is None:
        return Location(Origin("", url), "", ())
    before, _, query = normal.partition("?")
    scheme, _, rest = before.partition("://")
    host, slash, path = rest.partition("/")
    return Location(_origin(scheme, host), slash + path, tuple(query.split("&")) if query else ())


_origin = lru_cache(maxsize=4096)(Origin)  # shared, as each URL has one


@lru_cache(maxsize=4096)
def _base(scheme: str, host: str) -> Url:
    return split(f"{scheme}://{host}/")


def to_url(location: Location) -> Url:
    """Return the URL in the canonicalizer's components.

    >>> str(to_url(locate("http://example.com:81/a?q=b+c")))
    'http://example.com:81/a?q=b+c'
    """
    (scheme, host), path, params = location
    if ":" not in host and "@" not in host:
        return Url(scheme, None, host, None, path, params or None, None)
    return _base(scheme, host)._replace(path=path, query=params or None)


def from_url(url: Url) -> Location:
    """Return what a rule made of a URL, normalized again where that is necessary."""
    if not is_normal_path(url.path):
        return locate(str(url))
    host = url.host
    if url.userinfo is not None or url.port is not None:
        host = str(url._replace(path="", query=None)).partition("://")[2]
    query = url.query
    params = tuple(sorted(query)) if query and len(query) > 1 else query or ()
    return Location(_origin(url.scheme, host), url.path, params)


def with_path(location: Location, path: str) -> Location:
    """Return a URL with another path, normalized where that is necessary."""
    if not is_normal_path(path):
        return locate(str(to_url(location)._replace(path=path)))
    return Location(location.origin, path, location.params)


def is_normal_path(path: str) -> bool:
    """Tell whether the normalizations that are always on leave a path as it is, for all we see."""
    return "/." not in path and path[-1:] not in {"", ";"} and encode_path(path) == path
