"""The server: an HTTP proxy that answers everything itself."""

from __future__ import annotations

import re
import socket
import socketserver
import struct
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from loopback.certificate import SelfSigned
from loopback.exchange import Fault, Request, Respond, Response

if TYPE_CHECKING:
    from email.message import Message
    from types import TracebackType

    # typing.Self requires Python 3.11
    from typing_extensions import Self

# RFC 9110, section 8.6: these have no body, and no Content-Length
_BODILESS = {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}

# RFC 9112, section 3.2.2: scheme, authority, and the rest
_ABSOLUTE_FORM = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?]*)(.*)")

# l_onoff, l_linger: close() drops what was not sent, and sends a RST instead of a FIN.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Loopback:
    """Serves the site *respond* on 127.0.0.1 for the length of a ``with`` block.

    Three forms of request reach it (RFC 9112, section 3.2): the absolute form
    (``GET http://host/x``) is a request to the ``http`` site; ``CONNECT host:443``
    opens a tunnel to the ``https`` site, whose TLS ends in this process; and the
    origin form (``GET /x`` with a ``Host``), which is what a browser sends that opens
    ``address``, is taken for ``http``.

    Where *respond* raises, the client gets a 500, and leaving the block raises the
    first such exception: a defect of the site is not taken for one of the crawler.

    :param port: the port to listen on; 0 takes a free one
    """

    def __init__(self, respond: Respond, *, port: int = 0) -> None:
        """Nothing is opened before the ``with`` block."""
        self.hits: list[str] = []
        """The URLs asked for, in the order in which they arrived. It may be cleared."""

        self.errors: list[Exception] = []
        """What *respond* raised."""

        self._respond = respond
        self._port = port

    @property
    def address(self) -> str:
        """URL of the server itself: for a proxy setting, or to open in a browser."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def proxies(self) -> dict[str, str]:
        """Environment variables that send all requests of a process here.

        ``no_proxy`` is among them so that one from outside makes no exception.
        """
        return {
            "http_proxy": self.address,
            "https_proxy": self.address,
            "no_proxy": "",
        }

    def __enter__(self) -> Self:
        """Listen, and serve from a thread."""
        self._server = _Server(self._port, self._answer, self.errors)
        self._thread = threading.Thread(
            target=self._server.serve_until_closed,
            name="loopback",
            daemon=True,
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Hang up on all clients and wait for the end of all threads."""
        self._server.is_closed = True
        # The thread waits for a connection, and for nothing else.
        socket.create_connection(("127.0.0.1", self._server.server_port)).close()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()
        if exc_value is None and self.errors:
            raise self.errors[0]

    def _answer(self, request: Request) -> Response:
        self.hits.append(request.url)
        try:
            return self._respond(request)
        except Exception as error:  # noqa: BLE001 - raised again by __exit__
            self.errors.append(error)
            return Response(HTTPStatus.INTERNAL_SERVER_ERROR)


class _Server(ThreadingHTTPServer):
    """Keeps track of its connections, to be able to end them."""

    daemon_threads = False  # so that server_close() waits for them
    request_queue_size = 128

    def __init__(self, port: int, answer: Respond, errors: list[Exception]) -> None:
        self.answer = answer
        self.certificates = SelfSigned()
        self.is_closed = False
        self._errors = errors
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer asks the resolver for the name of the address here.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.socket.getsockname()

    def serve_until_closed(self) -> None:
        """Take connections until one comes after *is_closed* was set."""
        while not self.is_closed:
            self.handle_request()

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002
        return not self.is_closed

    def get_request(self) -> tuple[socket.socket, object]:
        # In the accepting thread: once that has ended, hang_up() knows them all.
        connection, client_address = super().get_request()
        with self._lock:
            self._connections.add(connection)
        return connection, client_address

    def start_tls(self, connection: socket.socket, host: str) -> socket.socket:
        """Replace *connection* by one with TLS, and return that after the handshake."""
        context = self.certificates.context(host)
        with self._lock:
            self._connections.discard(connection)
            tls = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            self._connections.add(tls)
        try:
            tls.do_handshake()  # outside of the lock, so that hang_up() can end it
        except OSError:
            self.release(tls)
            raise
        return tls

    def release(self, connection: socket.socket) -> None:
        """Close *connection*."""
        with self._lock:
            self._connections.discard(connection)
            connection.close()

    def hang_up(self) -> None:
        """End all connections: who reads from one finds its end."""
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    # Not SSLSocket.shutdown(), which would take the TLS state from
                    # under the thread that is reading.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        # Called while the exception is handled (socketserver.BaseServer). That a client
        # has gone is no error; anything else is a defect of this module.
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self._errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    """One connection: its requests one after the other."""

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a response is one write
    tunnel: str | None = None
    """Host of the tunnel that the connection has become, and its port unless 443."""

    def handle(self) -> None:
        with suppress(OSError):  # the client has gone, or did not like the certificate
            super().handle()

    def finish(self) -> None:
        super().finish()
        self.server.release(self.connection)

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    def do_CONNECT(self) -> None:
        authority = self._raw_target()
        self.tunnel = authority.removesuffix(":443")
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self.close_connection = False
        self.rfile.close()
        self.request = self.server.start_tls(self.connection, authority.rpartition(":")[0])
        # As at the start of a connection: makes the files for reading and writing.
        self.setup()

    def do_GET(self) -> None:
        if "Transfer-Encoding" in self.headers:
            # Clients of ours know the length of what they send.
            self.close_connection = True
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            return
        request = self._request()
        response = self.server.answer(request)
        if response.fault is Fault.SILENCE:
            self.close_connection = True
            self.rfile.read()  # returns when the client hangs up, or hang_up() does
        elif response.fault is Fault.RESET:
            self._reset()
        else:
            self._send(request, response)

    do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = do_POST = do_PUT = do_GET  # noqa: N815

    def _raw_target(self) -> str:
        # Not self.path: parse_request() merges slashes at the start of that.
        return self.requestline.split()[1]

    def _request(self) -> Request:
        target = self._raw_target()
        if self.tunnel is not None:
            scheme, host = "https", self.tunnel
        elif absolute := _ABSOLUTE_FORM.fullmatch(target):
            # RFC 9112, section 3.2.2: an absolute target overrides the Host header.
            scheme, host, target = absolute.groups()
        else:
            scheme, host = "http", self.headers.get("Host", "")
        length = int(self.headers.get("Content-Length", "0"))
        return Request(
            method=self.command,
            scheme=scheme,
            host=host,
            target=target,
            headers=_joined(self.headers),
            body=self.rfile.read(length),
        )

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        # At once: a shutdown(), as socketserver does it later, would send a FIN first.
        # The socket stays open for as long as the file on it.
        self.rfile.close()
        self.server.release(self.connection)

    def _send(self, request: Request, response: Response) -> None:
        body = response.body
        if response.fault is Fault.TRUNCATION:
            self.close_connection = True
            body = body[: len(body) // 2]
        lines = [f"HTTP/1.1 {response.status} {self._reason(response.status)}"]
        lines += [f"{name}: {value}" for name, value in response.headers]
        if response.status not in _BODILESS:
            lines.append(f"Content-Length: {len(response.body)}")
        if self.close_connection:
            lines.append("Connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        if request.method == "HEAD" or response.status in _BODILESS:
            body = b""
        self.wfile.write(head + body)

    def _reason(self, status: int) -> str:
        return self.responses.get(status, ("Unknown", ""))[0]


def _joined(headers: Message) -> dict[str, str]:
    """Return *headers* by lower-case name, repeated ones joined (RFC 9110, 5.3)."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined
