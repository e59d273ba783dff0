"""What goes in and out: the request, the response, and the ways to fail."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


class Fault(enum.Enum):
    """A way in which a server fails to give its response."""

    RESET = enum.auto()
    """The connection is reset (TCP RST) instead of an answer."""

    SILENCE = enum.auto()
    """No answer, until the client hangs up or the server closes."""

    TRUNCATION = enum.auto()
    """Half of the announced body, then the end of the connection."""


@dataclass(frozen=True)
class Request:
    """A request as it came over the wire: nothing in it is decoded or normalized."""

    method: str
    scheme: str
    """``http`` or ``https``."""

    host: str
    """Host name, followed by the port where the client named one that is not the
    scheme's default."""

    target: str
    """Path and query, as sent."""

    headers: Mapping[str, str]
    """By lower-case name; the values of a repeated header are joined by ``", "``."""

    body: bytes = b""

    @property
    def url(self) -> str:
        """The URL that was asked for.

        >>> Request("GET", "https", "shop.example", "/a?b=%7e", {}).url
        'https://shop.example/a?b=%7e'
        """
        return f"{self.scheme}://{self.host}{self.target}"

    @property
    def path(self) -> str:
        """The target up to its first ``?``."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The target behind its first ``?``."""
        return self.target.partition("?")[2]


@dataclass(frozen=True)
class Response:
    """An answer. The server adds ``Content-Length`` and ``Connection``."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    """Pairs, as ``Set-Cookie`` may be repeated."""

    body: bytes = b""
    fault: Fault | None = None
    """How the server is to fail; ``None`` where it is to send the answer whole."""


Respond: TypeAlias = Callable[[Request], Response]
"""A site: a function that answers requests. It is called from several threads."""


def page(html: str, *, status: int = 200) -> Response:
    """Return the response that holds an HTML page, as UTF-8.

    >>> page("<p>Gone</p>", status=410).body
    b'<p>Gone</p>'
    """
    content_type = ("Content-Type", "text/html; charset=utf-8")
    return Response(status, (content_type,), html.encode())


def redirect(url: str, status: int = 301) -> Response:
    """Return the response that redirects to *url*, which may be relative.

    >>> redirect("/a/").headers
    (('Location', '/a/'),)
    """
    return Response(status, (("Location", url),))
