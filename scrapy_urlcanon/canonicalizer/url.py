"""The value that the rules work on: an http or https URL in its components.

:func:`strip_whitespace`, :func:`add_scheme`, :func:`fix_slashes` and :func:`split` do what
the URL parser of the WHATWG URL standard does before it has components,
:func:`normalize_host` and :func:`normalize_port` what it does with a host and a port.
Nothing else is normalized here: that is what the rules
are for, and each of them shows in :meth:`~scrapy_urlcanon.Canonicalizer.explain`.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from scrapy_urlcanon.exceptions import UnparsableUrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEFAULT_PORTS = {"http": "80", "https": "443"}

_C0_CONTROL_OR_SPACE = "".join(map(chr, range(0x21)))
_TAB_OR_NEWLINE = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_QUERY_OR_FRAGMENT = re.compile(r"[?#]|\Z")
_BACKSLASH = "\\"
_SLASHES = "/" + _BACKSLASH


class Url(NamedTuple):
    """An http or https URL in its components, each as text (RFC 3986, section 3).

    >>> str(Url("http", None, "example.com", None, "/a", ("x=1", "y=2"), None))
    'http://example.com/a?x=1&y=2'
    """

    scheme: str
    """Without the colon."""
    userinfo: str | None
    """What stands before the ``@``, or None."""
    host: str
    """With its brackets, where it is an IPv6 address."""
    port: str | None
    """Its digits; empty where only the colon is there; None where there is none."""
    path: str
    """With its leading slash, or empty."""
    query: tuple[str, ...] | None
    """What stands between the ``&``, or None where there is no ``?``."""
    fragment: str | None
    """None where there is no ``#``."""

    # As _replace, in a third of the time.

    def with_host(self, host: str) -> Url:
        """Return the URL with another host."""
        return made_of((self.scheme, self.userinfo, host, *self[3:]))

    def with_path(self, path: str) -> Url:
        """Return the URL with another path."""
        return made_of((*self[:4], path, *self[5:]))

    def with_query(self, query: tuple[str, ...] | None) -> Url:
        """Return the URL with another query."""
        return made_of((*self[:5], query, self.fragment))

    def __str__(self) -> str:
        text = f"{self.scheme}://"
        if self.userinfo is not None:
            text += f"{self.userinfo}@"
        text += self.host
        if self.port is not None:
            text += f":{self.port}"
        text += self.path
        if self.query is not None:
            text += "?" + "&".join(self.query)
        if self.fragment is not None:
            text += f"#{self.fragment}"
        return text


made_of: Callable[[Iterable[object]], Url] = partial(tuple.__new__, Url)
"""Returns the URL of components in their order, in half the time that the class takes."""


def strip_whitespace(text: str) -> str:
    r"""Return *text* without outer control characters and spaces, tabs and newlines.

    The first steps of the basic URL parser (WHATWG URL, section 4.4).

    >>> strip_whitespace(" http://example.com/a\n  b ")
    'http://example.com/a  b'
    """
    return text.strip(_C0_CONTROL_OR_SPACE).translate(_TAB_OR_NEWLINE)


def add_scheme(text: str) -> str:
    """Return *text* with ``https:`` before it where it begins with ``//``.

    >>> add_scheme("//example.com/a")
    'https://example.com/a'
    """
    return f"https:{text}" if text.startswith(("//", "\\\\")) else text


def fix_slashes(text: str) -> str:
    r"""Return *text* with two slashes after the scheme, and slashes for backslashes.

    Browsers do so for the special schemes, of which http and https are two (WHATWG URL,
    section 4.4, "special authority ignore slashes state" and "path state"). Backslashes
    of the query and the fragment stay.

    >>> fix_slashes("http:\\\\example.com\\a?b\\c")
    'http://example.com/a?b\\c'

    :raises UnparsableUrlError: if *text* has no scheme, or another than http and https.
    """
    scheme = _SCHEME.match(text)
    if not scheme:
        raise UnparsableUrlError(
            "it has no scheme: an absolute URL begins with http:// or https://"
        )
    if scheme[1].lower() not in DEFAULT_PORTS:
        raise UnparsableUrlError(f"its scheme is {scheme[1]}, and the rules are for http and https")
    rest = text[scheme.end() :]
    end = _QUERY_OR_FRAGMENT.search(rest).start()  # type: ignore[union-attr]
    return f"{scheme[0]}//{rest[:end].lstrip(_SLASHES).replace(_BACKSLASH, '/')}{rest[end:]}"


def split(text: str) -> Url:
    """Return the components of *text*, which begins with a scheme and two slashes.

    Nothing is normalized: ``str(split(text)) == text``.

    >>> split("http://user@EXAMPLE.com:80?a&&b#").host
    'EXAMPLE.com'
    """
    scheme, _, rest = text.partition("://")
    rest, hash_, fragment = rest.partition("#")
    rest, question_mark, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    userinfo, at, host_and_port = authority.rpartition("@")
    end_of_address = host_and_port.find("]") if host_and_port.startswith("[") else 0
    colon = host_and_port.find(":", max(end_of_address, 0))
    return Url(
        scheme,
        userinfo if at else None,
        host_and_port if colon < 0 else host_and_port[:colon],
        None if colon < 0 else host_and_port[colon + 1 :],
        slash + path,
        tuple(query.split("&")) if question_mark else None,
        fragment if hash_ else None,
    )


@lru_cache(maxsize=4096)
def normalize_host(host: str) -> str:
    """Return *host* as the host parser of the WHATWG URL standard (section 3.5) writes it.

    Lower case, percent-decoded, IDNA by UTS 46, an IPv4 address in four decimal parts,
    an IPv6 address in brackets, lower-case and compressed.

    >>> normalize_host("B\u00fccher.example"), normalize_host("0xC0.0.2.1")
    ('xn--bcher-kva.example', '192.0.2.1')

    :raises UnparsableUrlError: if the standard does not take it for a host.
    """
    # Most hosts are plain, and their crawls are not to wait for it.
    import ada_url  # noqa: PLC0415

    try:
        return ada_url.URL(f"https://{host}/").hostname
    except ValueError:
        raise UnparsableUrlError(f"{host!r} is not a host" if host else "it has no host") from None


def strip_root_dot(host: str) -> str:
    """Return *host* without the dot of the root zone at its end (RFC 3986, section 3.2.2).

    >>> strip_root_dot("example.com."), strip_root_dot("example.com..")
    ('example.com', 'example.com..')
    """
    return host[:-1] if host.endswith(".") and host != "." and host[-2] != "." else host


def is_route(fragment: str) -> bool:
    """Tell whether *fragment* is an address, from which a script in a browser makes a page.

    >>> is_route("!/a"), is_route("/a"), is_route("top")
    (True, True, False)
    """
    return fragment.startswith(("!", "/"))


def home_of(path: str) -> str:
    """Return the directory of the user of a server whose page is at *path*; ``/`` if of none.

    Many servers have one at ``/~name/`` for each (Apache, ``mod_userdir``).

    >>> home_of("/~ann/a/b"), home_of("/%7eann"), home_of("/a/~ann/")
    ('/~ann/', '/%7eann/', '/')
    """
    first = path[1:].partition("/")[0]
    return f"/{first}/" if first.lower().startswith(("~", "%7e")) else "/"


def is_utf8(text: str) -> bool:
    """Tell whether *text* can be encoded: half of a surrogate pair, as JSON may hold, cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def normalize_port(port: str) -> str:
    """Return *port* without leading zeros.

    >>> normalize_port("0080")
    '80'

    :raises UnparsableUrlError: if it is no number of 16 bits (WHATWG URL, section 4.4,
        "port state").
    """
    if not port:
        return ""
    digits = port.lstrip("0") or "0"
    if not (port.isascii() and port.isdigit() and len(digits) <= 5 and int(digits) <= 0xFFFF):  # noqa: PLR2004
        raise UnparsableUrlError(f"{port!r} is not a port")
    return digits


def is_ip_address(host: str) -> bool:
    """Tell whether the normalized *host* is an IPv4 or IPv6 address.

    A host whose last label is a number is an IPv4 address or no host at all (WHATWG URL,
    section 3.5, "ends in a number checker").

    >>> is_ip_address("192.0.2.1"), is_ip_address("[::1]"), is_ip_address("example.com")
    (True, True, False)
    """
    return host.endswith("]") or (host[-1:].isdigit() and host.rpartition(".")[2].isdigit())
