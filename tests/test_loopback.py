"""The recording server that crawl tests and the demo rely on."""

from __future__ import annotations

import gzip
import http.client
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import pytest
from at_once import Site
from cryptography import x509
from loopback import Fault, Loopback, Request, Response, page, redirect
from scrapy import Request as ScrapyRequest
from scrapy import Spider, signals
from scrapy.utils.defer import deferred_f_from_coro_f, maybe_deferred_to_future
from scrapy.utils.test import get_crawler
from sites import ALONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    # typing.Self requires Python 3.11
    from typing_extensions import Self

SCHEMES = pytest.mark.parametrize("scheme", ["http", "https"])


class Client:
    """One connection through the proxy to the site of one scheme."""

    def __init__(
        self, server: Loopback, scheme: str, context: ssl.SSLContext | None = None
    ) -> None:
        """Do not connect yet; by default, do not verify the certificate."""
        proxy = urlsplit(server.address)
        assert proxy.hostname is not None
        self.prefix = "http://www.shop.example"
        self.connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
        if scheme == "https":
            self.prefix = ""
            if context is None:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            self.connection = http.client.HTTPSConnection(
                proxy.hostname, proxy.port, context=context
            )
            self.connection.set_tunnel("www.shop.example", 443)

    def __enter__(self) -> Self:
        """Connect when the first request is sent."""
        return self

    def __exit__(self, *args: object) -> None:
        """Close the connection."""
        self.connection.close()

    def ask(
        self, method: str, target: str, **kwargs: Any
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request and read all of the answer."""
        self.connection.request(method, self.prefix + target, **kwargs)
        response = self.connection.getresponse()
        return response, response.read()


def read_to_the_end(connection: socket.socket) -> None:
    """Read and forget what comes."""
    while connection.recv(4096):
        pass


def echo(request: Request) -> Response:
    """Answer with what was asked."""
    return page(f"{request.method} {request.url} {request.body.decode()}")


@pytest.fixture
def echo_server() -> Iterator[Loopback]:
    """Serve the site that answers with what was asked."""
    with Loopback(echo) as server:
        yield server


@SCHEMES
def test_url_is_recorded_and_passed_on_as_sent(echo_server: Loopback, scheme: str) -> None:
    """Double slashes, escapes, and empty queries arrive as the client sent them."""
    targets = ["/", "//a//b?x=%7e&&y=http://other.example/", "/%7Euser/?", "/a;b?c?d"]
    with Client(echo_server, scheme) as client:
        bodies = [client.ask("GET", target)[1].decode() for target in targets]
    urls = [f"{scheme}://www.shop.example{target}" for target in targets]
    assert echo_server.hits == urls
    assert bodies == [f"GET {url} " for url in urls]


def test_absolute_target_overrides_host_header(echo_server: Loopback) -> None:
    """The host is that of the absolute target, with a port that is not the default."""
    with Client(echo_server, "http") as client:
        client.prefix = "http://a.example:8080"
        client.ask("GET", "?x=/", headers={"Host": "b.example"})
    assert echo_server.hits == ["http://a.example:8080?x=/"]


def test_origin_form_is_answered_under_the_host_header(echo_server: Loopback) -> None:
    """A browser that opens the address gets the site of the Host that it sends."""
    with Client(echo_server, "http") as client:
        client.prefix = ""
        client.ask("GET", "/x")
    assert echo_server.hits == [f"{echo_server.address}/x"]


def test_certificate_names_the_host_of_the_tunnel(echo_server: Loopback) -> None:
    """Inside a tunnel the server shows a certificate for the host asked for."""
    with Client(echo_server, "https") as client:
        client.connection.connect()
        assert isinstance(client.connection.sock, ssl.SSLSocket)
        der = client.connection.sock.getpeercert(binary_form=True)
    assert der is not None
    names = x509.load_der_x509_certificate(der).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["www.shop.example"]


@SCHEMES
def test_connection_is_kept_for_the_next_request(echo_server: Loopback, scheme: str) -> None:
    """Requests of all methods, with bodies and without, share one connection."""
    with Client(echo_server, scheme) as client:
        client.connection.connect()
        first = client.connection.sock
        for method, body in [("GET", None), ("HEAD", None), ("POST", b"a=1")] * 2:
            response, _ = client.ask(method, "/", body=body)
            assert response.status == http.client.OK
            assert client.connection.sock is first


@SCHEMES
def test_connection_ends_where_the_client_asks_for_it(echo_server: Loopback, scheme: str) -> None:
    """With ``Connection: close`` the answer says so too, and the server hangs up."""
    with Client(echo_server, scheme) as client:
        response, _ = client.ask("GET", "/", headers={"Connection": "close"})
        assert response.getheader("Connection") == "close"
        assert client.connection.sock is None


def test_request_holds_headers_and_body() -> None:
    """Repeated headers are joined, under lower-case names; the body is bytes."""
    seen: list[Request] = []

    def respond(request: Request) -> Response:
        seen.append(request)
        return Response(204)

    with Loopback(respond) as server, Client(server, "http") as client:
        client.connection.putrequest("POST", "http://www.shop.example/?q=1")
        for name, value in [("X-A", "1"), ("x-a", "2"), ("Content-Length", "2")]:
            client.connection.putheader(name, value)
        client.connection.endheaders(b"\x00\xff")
        client.connection.getresponse().read()
    (request,) = seen
    assert (request.method, request.path, request.query) == ("POST", "/", "q=1")
    assert request.headers["x-a"] == "1, 2"
    assert request.body == b"\x00\xff"


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_a_body_has_none(status: int) -> None:
    """After a 204 or a 304 the next answer on the connection is read correctly."""
    answers = iter([Response(status, body=b"never sent"), page("next")])
    with (
        Loopback(lambda _: next(answers)) as server,
        Client(server, "http") as client,
    ):
        assert client.ask("GET", "/")[0].status == status
        assert client.ask("GET", "/")[1] == b"next"


def test_head_announces_the_length_of_the_body_that_get_sends(
    echo_server: Loopback,
) -> None:
    """The answer to HEAD has the headers of the page, and nothing behind them."""
    with Client(echo_server, "http") as client:
        response, body = client.ask("HEAD", "/")
    assert body == b""
    assert response.getheader("Content-Length") == str(len("HEAD http://www.shop.example/ "))


def test_redirect_names_its_target() -> None:
    """A redirect has its status, and its URL as given."""
    with (
        Loopback(lambda _: redirect("/a/?b", 307)) as server,
        Client(server, "http") as client,
    ):
        response, _ = client.ask("GET", "/a?b")
    assert (response.status, response.getheader("Location")) == (307, "/a/?b")


@SCHEMES
def test_reset_breaks_the_connection(scheme: str) -> None:
    """The client of a reset response sees that the connection was reset."""
    with (
        Loopback(lambda _: Response(fault=Fault.RESET)) as server,
        Client(server, scheme) as client,
    ):
        client.connection.connect()
        # Read below TLS: SSLSocket.recv() returns b"" for a reset as for an end.
        with socket.fromfd(
            client.connection.sock.fileno(), socket.AF_INET, socket.SOCK_STREAM
        ) as connection:
            client.connection.request("GET", client.prefix + "/")
            with pytest.raises(ConnectionResetError):
                read_to_the_end(connection)


@SCHEMES
def test_truncation_ends_before_the_announced_length(scheme: str) -> None:
    """Half of the body arrives, and the client knows that the rest is missing."""
    truncated = replace(page("0123456789"), fault=Fault.TRUNCATION)
    with (
        Loopback(lambda _: truncated) as server,
        Client(server, scheme) as client,
        pytest.raises(http.client.IncompleteRead) as error,
    ):
        client.ask("GET", "/")
    assert (error.value.partial, error.value.expected) == (b"01234", 5)


@SCHEMES
def test_silence_lasts_until_the_server_closes(scheme: str) -> None:
    """A silent response sends no byte, and does not keep the server from closing."""
    asked = threading.Event()

    def respond(_: Request) -> Response:
        asked.set()
        return Response(fault=Fault.SILENCE)

    before = set(threading.enumerate())
    with Loopback(respond) as server:
        client = Client(server, scheme)
        client.connection.request("GET", client.prefix + "/")
        asked.wait()
    assert set(threading.enumerate()) <= before
    with client, pytest.raises(http.client.RemoteDisconnected):
        client.connection.getresponse()


@SCHEMES
def test_closing_ends_idle_connections(scheme: str) -> None:
    """Leaving the block hangs up on clients that keep their connection open."""
    before = set(threading.enumerate())
    with Loopback(echo) as server:
        clients = [Client(server, scheme) for _ in range(5)]
        for client in clients:
            client.ask("GET", "/")
    assert set(threading.enumerate()) <= before
    for client in clients:
        with client:
            assert client.connection.sock.recv(1) == b""


def test_closing_ends_a_handshake_that_the_client_does_not_start() -> None:
    """A tunnel that stays mute is closed with the server."""
    before = set(threading.enumerate())
    with Loopback(echo) as server:
        proxy = urlsplit(server.address)
        client = socket.create_connection((proxy.hostname, proxy.port))
        client.sendall(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
    assert set(threading.enumerate()) <= before
    client.close()


def test_client_that_rejects_the_certificate_is_no_error(
    echo_server: Loopback,
) -> None:
    """A failed handshake ends that connection only."""
    verifying = ssl.create_default_context()
    with (
        Client(echo_server, "https", verifying) as client,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        client.ask("GET", "/")
    with Client(echo_server, "https") as client:
        client.ask("GET", "/")
    assert echo_server.errors == []


def test_chunked_request_is_refused(echo_server: Loopback) -> None:
    """A request body of unknown length is answered 411, and not recorded."""
    with Client(echo_server, "http") as client:
        # The body is not sent: nobody may be there any more to take it.
        client.connection.putrequest("POST", f"{client.prefix}/")
        client.connection.putheader("Transfer-Encoding", "chunked")
        client.connection.endheaders()
        response = client.connection.getresponse()
    assert response.status == http.client.LENGTH_REQUIRED
    assert echo_server.hits == []


def test_exception_of_the_site_is_raised_on_leaving() -> None:
    """A defect of the site is a 500 for the client and an error for the test."""

    def respond(request: Request) -> Response:
        raise LookupError(request.path)

    with (
        pytest.raises(LookupError, match="/x"),
        Loopback(respond) as server,
        Client(server, "http") as client,
    ):
        response, _ = client.ask("GET", "/x")
    assert response.status == http.client.INTERNAL_SERVER_ERROR


def test_exception_of_the_block_is_not_hidden_by_one_of_the_site() -> None:
    """What failed in the block is what is raised, whatever the site raised."""

    def respond(request: Request) -> Response:
        raise LookupError(request.path)

    def fail(server: Loopback) -> None:
        with Client(server, "http") as client:
            client.ask("GET", "/x")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Loopback(respond) as server:
        fail(server)


def test_hits_of_many_clients_are_all_recorded(echo_server: Loopback) -> None:
    """No hit is lost or repeated where clients ask at the same time."""
    targets = [[f"/{n}-{i}" for i in range(20)] for n in range(8)]

    def run(mine: list[str]) -> None:
        with Client(echo_server, "https") as client:
            for target in mine:
                client.ask("GET", target)

    with ThreadPoolExecutor(len(targets)) as pool:
        list(pool.map(run, targets))
    assert sorted(echo_server.hits) == sorted(
        f"https://www.shop.example{target}" for mine in targets for target in mine
    )


class LinkSpider(Spider):
    """Follow all links, and keep what was fetched."""

    name = "links"
    start_urls = ["http://www.shop.example/"]  # noqa: RUF012 - as Scrapy declares it

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        """Yield the URL of the page and what it links."""
        yield {"url": response.url}
        yield from response.follow_all(css="a")


@deferred_f_from_coro_f
async def test_scrapy_crawls_both_schemes_and_several_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scrapy, told of the proxies, meets sites with default ports and real names."""
    links = ["https://www.shop.example/a//b", "http://other.example/", "/c"]

    def respond(request: Request) -> Response:
        if request.path == "/c" and request.scheme == "http":
            return redirect("https://www.shop.example/c")
        return page("".join(f"<a href='{link}'>x</a>" for link in links))

    pages: list[str] = []
    with Loopback(respond) as server:
        for name, value in server.proxies.items():
            monkeypatch.setenv(name, value)
        # Where its port is taken the console of Scrapy leaves a socket open.
        crawler = get_crawler(LinkSpider, ALONE)
        crawler.signals.connect(
            lambda item: pages.append(item["url"]), signals.item_scraped, weak=False
        )
        await maybe_deferred_to_future(crawler.crawl())
    expected = {
        "http://other.example/",
        "http://www.shop.example/",
        "https://www.shop.example/a//b",
        "https://www.shop.example/c",
    }
    redirected = {"http://other.example/c", "http://www.shop.example/c"}
    assert sorted(pages) == sorted(expected)
    assert server.hits[0] == "http://www.shop.example/"
    assert sorted(server.hits) == sorted(expected | redirected)


HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Set-Cookie", "a=1"),
    ("Set-Cookie", "b=2"),
    ("Content-Encoding", "gzip"),
)


@pytest.mark.parametrize("scheme", ["http", "https"])
@deferred_f_from_coro_f
async def test_crawl_is_answered_at_once_as_over_the_network(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """The site is asked for the same, with the same headers, and the spider gets the same."""
    paths = ("/b//c?x=%7e&&y", "/moved", "/cut", "?", "", "/;a?b", "/image.png#top")

    def respond(request: Request) -> Response:
        asked.append((request.method, request.url, dict(request.headers), request.body))
        if request.path == "/moved":
            return redirect(f"{scheme}://other.example:8080/new?a=1", 302)
        if request.path == "/cut":
            return Response(body=b"half of it", fault=Fault.TRUNCATION)
        return Response(200, HEADERS, gzip.compress(f"<title>{request.target}".encode()))

    class Asking(Spider):
        name = "asking"
        # The cookies depend on what came before.
        custom_settings: ClassVar = {
            **ALONE,
            "CONCURRENT_REQUESTS": 1,
            "RETRY_TIMES": 0,
            "DOWNLOAD_TIMEOUT": 5,
        }

        async def start(self) -> Any:
            for path in paths:
                url = f"{scheme}://a.example{path}"
                yield ScrapyRequest(url, self.parse, errback=self.failed, dont_filter=True)
            url = f"{scheme}://a.example/form"
            yield ScrapyRequest(url, method="POST", body="a=1", headers={"X-A": ["1", "2"]})
            yield ScrapyRequest(url, method="HEAD")

        def parse(self, response: Any) -> None:
            headers = response.headers.to_unicode_dict()
            got.append(
                (response.url, type(response), response.status, dict(headers), response.body)
            )

        def failed(self, failure: Any) -> None:
            got.append((failure.request.url, failure.type))

    outcomes = []
    for is_at_once in (False, True):
        asked: list[Any] = []
        got: list[Any] = []
        with Site(respond) as server:
            for name, value in server.proxies.items():
                monkeypatch.setenv(name, value)
            crawler = get_crawler(Asking, server.settings if is_at_once else {})
            await maybe_deferred_to_future(crawler.crawl())
        outcomes.append((server.hits, asked, got))
    assert len(outcomes[0][1]) == len(paths) + 3
    assert outcomes[1] == outcomes[0]
