"""What a response shows of the program that made it: the signs that profiles look for."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import field, frozen
from lxml import etree  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Self

MAX_BODY = 1 << 17
"""Bytes of a page that are looked at: the head of a page, and the beginning of its body."""
_MAX_ELEMENTS = 4_000
_MAX_TEXT = 500
"""Characters of an attribute or a header that are looked at."""
_MAX_VALUES = 200
_ADDRESS = {"link": "href", "script": "src", "img": "src", "form": "action"}


@frozen
class PageSigns:
    """What one response shows, and where it was found."""

    scheme: str
    host: str
    """The host of its URL, with the port where there is one."""
    path: str
    """The path of its URL."""
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case, and values."""
    cookies: tuple[str, ...] = ()
    """The names of the cookies that it sets."""
    generators: tuple[str, ...] = ()
    title: str = ""
    assets: tuple[str, ...] = ()
    """Paths, with their queries, of style sheets, scripts, images and forms on its own host."""
    foreign_assets: tuple[str, ...] = ()
    """Those on other hosts, each without the host."""
    elements: Mapping[tuple[str, str], tuple[Mapping[str, str], ...]] = field(factory=dict)
    """The attributes of its elements, by names of the element and of each attribute; none twice.

    With an empty name for the attribute it tells that there is such an element.
    """
    links: frozenset[str] = frozenset()
    """The other hosts that it links to, without ``www.``."""

    @classmethod
    def of(cls, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> Self:
        """Return the signs of the response with *headers* and *body* to a request for *url*.

        >>> page = PageSigns.of("http://a.example/b", [], b'<meta name=generator content="One 2">')
        >>> page.host, page.generators
        ('a.example', ('One 2',))
        """
        parts = urlsplit(url)
        shown = tuple((name.lower(), value[:_MAX_TEXT]) for name, value in headers)
        cookies = (value.partition("=")[0].strip() for name, value in shown if name == "set-cookie")
        page = _Page(url)
        page.read(body[:MAX_BODY])
        return cls(
            parts.scheme,
            parts.netloc.rpartition("@")[2].lower(),
            parts.path or "/",
            shown,
            tuple(cookies),
            tuple(page.generators),
            page.title,
            tuple(page.assets),
            tuple(page.foreign_assets),
            {names: tuple(found.values()) for names, found in page.elements.items()},
            frozenset(page.links),
        )


class _Page:
    """Collects the signs of an HTML page."""

    def __init__(self, url: str) -> None:
        self._base = url
        self._host = urlsplit(url).netloc.rpartition("@")[2].lower()
        self.generators: list[str] = []
        self.title = ""
        self.assets: dict[str, None] = {}
        self.foreign_assets: dict[str, None] = {}
        self.elements: dict[tuple[str, str], dict[object, dict[str, str]]] = {}
        self.links: set[str] = set()

    def read(self, body: bytes) -> None:
        """Collect the signs of *body*: what a parser takes for elements, not text that looks so."""
        for element in _elements(body):
            name = element.tag
            attributes = {
                key: " ".join(value[:_MAX_TEXT].split()) for key, value in element.attrib.items()
            }
            known = tuple(attributes.items())
            for key in ("", *attributes):
                self.elements.setdefault((name, key), {})[known] = attributes
            if name == "base" and attributes.get("href"):
                self._base = _joined(self._base, attributes["href"])
            elif name == "meta" and attributes.get("name", "").lower() == "generator":
                if len(self.generators) < _MAX_VALUES:
                    self.generators.append(attributes.get("content", ""))
            elif name == "title":
                self.title = self.title or " ".join((element.text or "")[:_MAX_TEXT].split())
            elif name == "a":
                self._link(attributes.get("href", ""))
            elif name in _ADDRESS:
                self._asset(attributes.get(_ADDRESS[name], ""))

    def _link(self, address: str) -> None:
        if address.startswith(("http://", "https://", "//")) and len(self.links) < _MAX_VALUES:
            host = address.partition("//")[2].partition("/")[0].lower()
            if host != self._host:
                self.links.add(host.removeprefix("www."))

    def _asset(self, address: str) -> None:
        if not address or address.startswith(("data:", "javascript:", "#")):
            return
        # Nearly all begin so, and to join them takes long.
        if address.startswith("/") and not address.startswith("//"):
            host, path = self._host, address
        else:
            try:
                parts = urlsplit(_joined(self._base, address))
            except ValueError:
                return
            host, path = parts.netloc.rpartition("@")[2].lower(), parts.path or "/"
            path += f"?{parts.query}" if parts.query else ""
        found = self.assets if host == self._host else self.foreign_assets
        if len(found) < _MAX_VALUES:
            found[path] = None


def _elements(body: bytes) -> Iterator[etree._Element]:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True)
    try:
        document = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return
    if document is None:
        return
    for number, element in enumerate(document.iter(etree.Element)):
        if number >= _MAX_ELEMENTS:
            return
        yield element


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
