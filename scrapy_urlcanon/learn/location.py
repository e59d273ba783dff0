"""The compact form of a URL on which candidate rules are tried.

A canonicalizer works on one URL at a time; learning tries hundreds of candidates on a million URLs.
So each URL is normalized once, and split into its origin (scheme and host), its path and its
parameters, which URLs share in memory.

Some programs have a path in the query: ``showthread.php?12-title/page2``, ``index.php?/topic/12``.
A parameter without ``=`` that looks like a path is appended to the path here, so that operations on
segments apply to it too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.canonicalizer.layers import Layer
from scrapy_urlcanon.canonicalizer.names import is_path
from scrapy_urlcanon.canonicalizer.parsing import parse
from scrapy_urlcanon.canonicalizer.percent_encoding import as_path, as_query_text, encode_path
from scrapy_urlcanon.canonicalizer.rules.separators import QuerySeparator
from scrapy_urlcanon.canonicalizer.url import Url, split
from scrapy_urlcanon.canonicalizer.values import Setting
from scrapy_urlcanon.learn.vocabulary import is_edition, selects_edition

if TYPE_CHECKING:
    from collections.abc import Container

    from scrapy_urlcanon.canonicalizer.templates import Template

# What every policy does: the normalizations that are always on, and sorting the parameters.
_NORMAL = Canonicalizer({"*": {"tracking_params": "keep"}}, preset="safe")
_SEMICOLONS = QuerySeparator({QuerySeparator.name: Setting(";", Layer("learning"))})

# Percent-encodings in a query that every server decodes; people read them as the character.
_READABLE = {f"%{ord(char):02X}": char for char in "!$'()*,/:;?@[]|"}
_ESCAPE = re.compile("|".join(_READABLE))

IN_QUERY = "^"
"""The segment that separates those of the path from those of the query; no other is spelled so."""
MARK = f"/{IN_QUERY}/"
"""Occurs once in a path with segments of the query, and in no other path."""


class Origin(NamedTuple):
    """Scheme and host of a URL; a site has few of them."""

    scheme: str
    """Empty if the URL cannot be parsed; no rule changes it then."""
    host: str
    """With port and userinfo, if there are any; the whole text if it cannot be parsed."""


Place: TypeAlias = "tuple[Origin, str]"
"""What a URL has before its query: origin and path."""


class Location(NamedTuple):
    """A URL in its normal form."""

    origin: Origin
    path: str
    """Followed by the segments of the query, if it has any."""
    params: tuple[str, ...]
    """Its parameters, ``name=value``, sorted, without those that were appended to the path."""

    @property
    def place(self) -> Place:
        """Origin and path of the URL."""
        return self[:2]

    @property
    def url(self) -> str:
        """The URL in readable form: equal to the canonicalizer."""
        scheme, host = self.origin
        path, segments = parts_of(self.path)
        params = readable_params(self)
        if segments:
            params = (readable(as_query_text(segments)), *params)
        query = "?" + "&".join(params) if params else ""
        return f"{scheme}://{host}{path}{query}" if scheme else host

    @property
    def as_linked(self) -> str:
        """The URL as pages most likely link it: without any ``=`` if no parameter has a value.

        Most programs treat both the same. One that reads its query as words shows something else
        for ``?(ed)Top=`` than for ``?(ed)Top``.

        >>> locate("http://a.example/info?(ed)Top").url, locate("http://a.example/?a&b").as_linked
        ('http://a.example/info?(ed)Top=', 'http://a.example/?a&b')
        >>> locate("http://a.example/?a=&b=1").as_linked
        'http://a.example/?a=&b=1'
        """
        if any(map(value_of, self.params)):
            return self.url
        before, mark, query = self.url.partition("?")
        return before + mark + "&".join(param.removesuffix("=") for param in query.split("&"))


def parts_of(path: str) -> tuple[str, str]:
    """Split the path of a location into the URL's path and the part that stands in its query.

    >>> parts_of(locate("http://a.example/forum/?/topic/12").path)
    ('/forum/', '/topic/12')
    """
    path, _, segments = path.partition(MARK)
    return path, segments


def as_template(text: str) -> str:
    """Convert a template for paths of locations to one for URLs.

    >>> as_template("/showthread.php/^/{a:digits}-{b}?p={c:digits}")
    '/showthread.php?{a:digits}-{b}&p={c:digits}'
    """
    path, mark, rest = text.partition(MARK)
    if not mark:
        return text
    segments, question_mark, query = rest.partition("?")
    segments = _NO_PATH.sub(lambda sign: f"%{ord(sign[0]):02X}", segments)
    return f"{path}?{segments}" + (f"&{query}" if question_mark else "")


def is_for_names(template: Template) -> bool:
    """Tell whether a template may match the name of a parameter as a path in the query.

    Such a template would also apply to URLs that gave no evidence for it: what holds for
    ``?12-title`` and ``?13-title`` may not hold for ``?print``.

    >>> from scrapy_urlcanon.canonicalizer.templates import parse_template
    >>> [is_for_names(parse_template(f"/a?{text}")) for text in ("{b}", "{b:digits}-{c}", "b/{c}")]
    [True, False, False]
    """
    parts = template.bare.parts if template.bare else ("/",)
    text = "".join(p if isinstance(p, str) else "a" if p.takes("a") else "0" for p in parts)
    return not is_path(text)


# Characters that are literal in a path but have a meaning in a query.
_NO_PATH = re.compile("[&+=]")


def readable(param: str) -> str:
    """Return a parameter, or a name, with all percent-encodings decoded that need not be there.

    >>> readable("title=Special%3AC%2B%2B"), readable("a=b%3Dc%3D%3D")
    ('title=Special:C%2B%2B', 'a=b%3Dc==')
    """
    if "%" not in param:
        return param
    bare = param.removesuffix("%3D").removesuffix("%3D") if "=" in param else param
    padding = "=" * ((len(param) - len(bare)) // 3)  # of base64
    return _ESCAPE.sub(lambda match: _READABLE[match[0]], bare) + padding


def readable_params(location: Location) -> tuple[str, ...]:
    """Return the parameters of a URL in readable form, sorted in that form."""
    params = location.params
    if any("%" in param for param in params):
        return tuple(sorted(map(readable, params)))
    return params


def reading_order(location: Location) -> tuple[Origin, str, tuple[str, ...]]:
    """Return a sort key by which URLs sort in readable form."""
    return location.origin, location.path, readable_params(location)


def name_of(param: str) -> str:
    """Return the name of a parameter.

    >>> name_of("page=2"), name_of("print")
    ('page', 'print')
    """
    return param.partition("=")[0]


def value_of(param: str) -> str:
    """Return the value of a parameter; the empty string if it has none."""
    return param.partition("=")[2]


def host_of(origin: Origin) -> str:
    """Return the host of an origin, without userinfo and port.

    >>> host_of(locate("http://me@[::1]:81/").origin)
    '[::1]'
    """
    host = origin.host
    return _base(origin.scheme, host).host if ":" in host or "@" in host else host


def locate(url: str, semicolon_hosts: Container[str] = ()) -> Location:
    """Normalize a URL and split it into origin, path and parameters.

    Nothing is raised: a URL that the canonicalizer cannot parse gets an origin without a scheme.

    :param semicolon_hosts: hosts, in the spelling of :class:`Origin`, where ``;`` separates
        parameters too.

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
    params = tuple(query.split("&")) if query else ()
    return _located(_origin(scheme, host), slash + path, params)


def _located(origin: Origin, path: str, params: tuple[str, ...]) -> Location:
    """Return the location; a parameter that looks like a path is appended to the path."""
    names = [param[:-1] for param in params if param[-1:] == "=" and is_path_in_query(param[:-1])]
    if len(names) == 1 and as_query_text(segments := as_path(names[0])) == names[0]:
        path, params = path + MARK + segments, tuple([p for p in params if p != f"{names[0]}="])
    return Location(origin, path, params)


def is_path_in_query(name: str) -> bool:
    """Tell whether the name of a parameter, as it stands in a URL, looks like a path.

    >>> [is_path_in_query(name) for name in ("%2Ftopic%2F12", "12-title", "page2", "12")]
    [True, True, False, False]
    """
    may_be = "%" in name or any(map(str.isdigit, name))
    return may_be and is_path(as_path(name))


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
    path, segments = parts_of(path)
    if segments:
        params = tuple(sorted((*params, as_query_text(segments) + "=")))
    if ":" not in host and "@" not in host:
        return Url(scheme, None, host, None, path, params or None, None)
    return _base(scheme, host)._replace(path=path, query=params or None)


def from_url(url: Url) -> Location:
    """Return the location of a URL that a rule made, normalized again if necessary."""
    if not is_normal_path(url.path):
        return locate(str(url))
    host = url.host
    if url.userinfo is not None or url.port is not None:
        host = str(url._replace(path="", query=None)).partition("://")[2]
    query = url.query
    params = tuple(sorted(query)) if query and len(query) > 1 else query or ()
    return _located(_origin(url.scheme, host), url.path, params)


def without_param(location: Location, param: str) -> Location:
    """Return *location* without a parameter, wherever it stands with this value.

    >>> without_param(locate("http://a.example/list?page=2&limit=20"), "limit=20").url
    'http://a.example/list?page=2'
    """
    return location._replace(params=tuple([other for other in location.params if other != param]))


def without_editions(location: Location) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a URL without those that name an edition, and these.

    The number of a parameter is a year only by the parameter's name.

    >>> words, editions = without_editions(locate("http://a.example/2026/c/7?term=26SP&id=1999"))
    >>> sorted(words), sorted(editions)
    (['1999', '26SP', '7', 'c'], ['2026'])
    """
    segments = {*location.path.split("/")} - {""}
    params = {name_of(param): value_of(param) for param in location.params}
    editions = {*filter(is_edition, segments)}
    editions.update(value for name, value in params.items() if selects_edition(name, value))
    return frozenset({*segments, *params.values()} - editions), frozenset(editions)


def with_path(location: Location, path: str) -> Location:
    """Return a location with another path, normalized again if necessary."""
    new = Location(location.origin, path, location.params)
    return new if is_normal_path(parts_of(path)[0]) else locate(str(to_url(new)))


def is_normal_path(path: str) -> bool:
    """Tell whether a path certainly needs no normalization; False means that it may."""
    return "/." not in path and path[-1:] not in {"", ";"} and encode_path(path) == path
