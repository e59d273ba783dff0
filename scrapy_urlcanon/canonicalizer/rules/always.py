"""The normalizations that are always on: other spellings of the very same URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.percent_encoding import (
    encode_fragment,
    encode_parameter,
    encode_path,
    encode_userinfo,
)
from scrapy_urlcanon.canonicalizer.rules.base import Classical, Normalization, TextNormalization
from scrapy_urlcanon.canonicalizer.url import (
    DEFAULT_PORTS,
    add_scheme,
    fix_slashes,
    is_ip_address,
    normalize_host,
    normalize_port,
    strip_root_dot,
    strip_whitespace,
)

if TYPE_CHECKING:
    from scrapy_urlcanon.canonicalizer.url import Url

ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""For :meth:`str.translate`."""


class Whitespace(TextNormalization):
    """Trim spaces and control characters; remove tabs and newlines (WHATWG URL, 4.4)."""

    name = "whitespace"
    classical = (Classical("Whitespace", " http://example.com/a\n"),)
    changes = ((" http://example.com/a\n b ", "http://example.com/a%20b"),)

    def apply(self, text: str) -> str:
        return strip_whitespace(text)


class ProtocolRelative(TextNormalization):
    """Give ``//host/path`` the scheme of the page that links it, or else https."""

    name = "protocol_relative"
    classical = (Classical("Protocol-relative link", "//example.com/a"),)
    changes = (("//example.com/a", "https://example.com/a"),)

    def apply(self, text: str) -> str:
        return add_scheme(text)


class Slashes(TextNormalization):
    r"""Write two slashes after the scheme, and slashes for backslashes (WHATWG URL, 4.4)."""

    name = "slashes"
    classical = (Classical("Backslashes", "http:\\\\example.com\\a"),)
    changes = (
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http:/example.com", "http://example.com/"),
    )
    keeps = ("http://example.com/?a=%5C",)

    def apply(self, text: str) -> str:
        return fix_slashes(text)


class Case(Normalization):
    """Write the scheme and the host in lower case (RFC 3986, 6.2.2.1)."""

    name = "case"
    classical = (Classical("Scheme and host in lower case", "HTTP://WWW.Example.com/A"),)
    changes = (("HTTP://Example.COM/A", "http://example.com/A"),)

    def apply(self, url: Url) -> Url:
        return url._replace(
            scheme=url.scheme.translate(ASCII_LOWER), host=url.host.translate(ASCII_LOWER)
        )


class IpAddress(Normalization):
    """Write an IPv4 address in four decimal parts, and compress an IPv6 one (WHATWG URL, 3.5)."""

    name = "ip_address"
    classical = (Classical("Notation of an IP address", "http://0xD0.77.188.166/"),)
    changes = (
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
    )

    def apply(self, url: Url) -> Url:
        host = normalize_host(url.host)
        return url._replace(host=host) if is_ip_address(host) else url


class Idn(Normalization):
    """Write an internationalized domain name in ASCII (UTS 46, as in the WHATWG URL standard)."""

    name = "idn"
    classical = (Classical("Internationalized domain name (IDN)", "http://例子.卷筒纸"),)
    changes = (
        ("http://例子.卷筒纸/", "http://xn--fsqu00a.xn--3lr804guic/"),
        ("http://例子.卷筒纸", "http://xn--fsqu00a.xn--3lr804guic/"),
        ("http://%65xample.com/", "http://example.com/"),
    )

    def apply(self, url: Url) -> Url:
        return url._replace(host=normalize_host(url.host))


class TrailingDot(Normalization):
    """Drop the dot of the root zone after the host (RFC 3986, 3.2.2)."""

    name = "trailing_dot"
    classical = (Classical("Dot of the root zone", "http://example.com./"),)
    changes = (("http://example.com./", "http://example.com/"),)

    def apply(self, url: Url) -> Url:
        return url._replace(host=strip_root_dot(url.host))


class DefaultPort(Normalization):
    """Drop the default port of the scheme (RFC 3986, 6.2.3)."""

    name = "default_port"
    classical = (Classical("Default port", "http://example.com:80/bar.html"),)
    changes = (("http://example.com:80/", "http://example.com/"),)
    keeps = ("https://example.com:80/",)

    def apply(self, url: Url) -> Url:
        if url.port is None:
            return url
        port = normalize_port(url.port)
        return url._replace(port=None if port == DEFAULT_PORTS[url.scheme] else port)


class FragmentDirective(Normalization):
    """Drop what follows ``:~:`` in the fragment, such as a text to scroll to.

    A browser takes it off before a script can see it (WICG, URL Fragment Text Directives, 3.3).
    """

    name = "fragment_directive"
    classical = (Classical("Text fragment", "http://example.com/a#:~:text=word"),)
    changes = (
        ("http://example.com/a#b:~:text=word", "http://example.com/a"),
        ("http://example.com/#:~:text=a,b", "http://example.com/"),
    )
    keeps = ("http://example.com/?a=:~:", "http://example.com/#a~:")

    def apply(self, url: Url) -> Url:
        if url.fragment is None or ":~:" not in url.fragment:
            return url
        return url._replace(fragment=url.fragment.partition(":~:")[0])


class EmptyDelimiters(Normalization):
    """Drop each ``?``, ``#``, ``:``, ``@`` and ``&`` that delimits nothing (RFC 3986, 6.2.3).

    A ``;`` at the end of the path too, as in Scrapy's own fingerprint.
    """

    name = "empty_delimiters"
    classical = (
        Classical("Empty query", "http://example.com/display?"),
        Classical("Stray `&`", "http://example.com/?&a=1&&b=2&"),
    )
    changes = (
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/?a=1&&b=2&", "http://example.com/?a=1&b=2"),
        ("http://@example.com:/#", "http://example.com/"),
        ("http://user:@example.com/", "http://user@example.com/"),
        ("http://example.com/a;", "http://example.com/a"),
    )
    keeps = (
        "http://user:password@example.com/",
        "http://example.com/a;b;",
        "http://example.com/a;/b",
    )

    def apply(self, url: Url) -> Url:
        userinfo = url.userinfo
        if userinfo is not None:
            user, _, password = userinfo.partition(":")
            userinfo = (userinfo if password else user) or None
        _, semicolon, parameters = url.path.rpartition("/")[2].partition(";")
        return url._replace(
            userinfo=userinfo,
            port=url.port or None,
            path=url.path[:-1] if semicolon and not parameters else url.path,
            query=tuple(filter(None, url.query or ())) or None,
            fragment=url.fragment or None,
        )


class PercentEncoding(Normalization):
    """Encode each character one way; never decode what is not equivalent (RFC 3986, 6.2.2).

    The table in :mod:`scrapy_urlcanon.canonicalizer.percent_encoding` says which is which.
    """

    name = "percent_encoding"
    classical = (
        Classical("Escapes in upper case", "http://example.com/a%c2%b1b"),
        Classical("Escapes of unreserved characters", "http://example.com/%7Eann"),
        Classical("Internationalized path (IRI)", "http://example.com/引き割り.html"),
        Classical(
            "Character encoding: a legacy one stays",
            "http://example.com/%88%F8%82%AB%8A%84%82%E8.html",
        ),
        Classical("`+` and `%20`", "http://example.com/?q=a%20b"),
    )
    changes = (
        ("http://example.com/%7euser/%c3%a9", "http://example.com/~user/%C3%A9"),
        (
            "http://example.com/引き割り.html",
            "http://example.com/%E5%BC%95%E3%81%8D%E5%89%B2%E3%82%8A.html",
        ),
        ("http://example.com/?q=a%20b:c", "http://example.com/?q=a+b%3Ac"),
        ("http://us%65r@example.com/", "http://user@example.com/"),
    )
    keeps = (
        "http://example.com/a%2Fb",
        "http://example.com/?q=C%2B%2B",
        "http://example.com/?a=b%26c",
        # Shift_JIS: another spelling of the same text, but the server may know only one.
        "http://example.com/%88%F8%82%AB%8A%84%82%E8.html",
    )

    def apply(self, url: Url) -> Url:
        return url._replace(
            userinfo=url.userinfo and encode_userinfo(url.userinfo),
            path=encode_path(url.path),
            query=url.query and tuple(map(encode_parameter, url.query)),
            fragment=url.fragment and encode_fragment(url.fragment),
        )


class EmptyPath(Normalization):
    """Write ``/`` for an empty path (RFC 3986, 6.2.3)."""

    name = "empty_path"
    classical = (Classical("Empty path", "http://example.com"),)
    changes = (("http://example.com", "http://example.com/"),)

    def apply(self, url: Url) -> Url:
        return url if url.path else url._replace(path="/")


class DotSegments(Normalization):
    """Resolve ``.`` and ``..`` in the path (RFC 3986, 5.2.4).

    In the last segment also before a ``;``: Scrapy's own fingerprint splits parameters
    off there before it looks for dot segments.
    """

    name = "dot_segments"
    classical = (Classical("Dot segments", "http://example.com/a/./b/../c.html"),)
    changes = (
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/a/%2e%2E/", "http://example.com/"),
        ("http://example.com/a/b/..", "http://example.com/a/"),
    )
    keeps = ("http://example.com/a/...", "http://example.com/.well-known/")

    def apply(self, url: Url) -> Url:
        # Every segment follows a slash.
        if "/." not in url.path:
            return url
        *segments, last = url.path[1:].split("/")
        last, semicolon, parameters = last.partition(";")
        resolved: list[str] = []
        for segment in segments:
            _resolve(resolved, segment)
        _resolve(resolved, last)
        if last in {".", ".."}:
            resolved.append("")
        return url._replace(path="/" + "/".join(resolved) + semicolon + parameters)


def _resolve(resolved: list[str], segment: str) -> None:
    if segment == "..":
        del resolved[-1:]
    elif segment != ".":
        resolved.append(segment)


class MissingValue(Normalization):
    """Write ``?a`` as ``?a=``, as readers of form data and Scrapy do (WHATWG URL, 5.1)."""

    name = "missing_value"
    classical = (Classical("Variable without `=`", "http://example.com/?print"),)
    changes = (("http://example.com/?a", "http://example.com/?a="),)

    def apply(self, url: Url) -> Url:
        if url.query is None:
            return url
        return url._replace(
            query=tuple(piece if "=" in piece else piece + "=" for piece in url.query)
        )


TEXT_NORMALIZATIONS: tuple[TextNormalization, ...] = (Whitespace(), ProtocolRelative(), Slashes())
"""In the order in which they apply."""

NORMALIZATIONS: tuple[Normalization, ...] = (
    Case(),
    IpAddress(),
    Idn(),
    TrailingDot(),
    FragmentDirective(),
    EmptyDelimiters(),
    DefaultPort(),
    PercentEncoding(),
    EmptyPath(),
    DotSegments(),
    MissingValue(),
)
"""In the order in which they apply, after the components were split."""

ALWAYS_ON: tuple[TextNormalization | Normalization, ...] = (*TEXT_NORMALIZATIONS, *NORMALIZATIONS)
"""All of them, in order."""
