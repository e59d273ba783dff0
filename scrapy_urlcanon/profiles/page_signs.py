"""Extracts from a response the signs that profiles look for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import field, frozen
from lxml import etree  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self

MAX_BODY = 1 << 17
"""How many bytes of a page are looked at: its head, and the beginning of its body."""
_MAX_ELEMENTS = 4_000
_MAX_TEXT = 500
"""How many characters of an attribute or a header are looked at."""
_MAX_VALUES = 200
_ADDRESS = {"link": "href", "script": "src"}


@frozen
class PageSigns:
    """The signs in one response."""

    path: str
    """The path of its URL."""
    headers: tuple[tuple[str, str], ...] = ()
    """Header names in lower case, and values."""
    cookies: tuple[str, ...] = ()
    """The names of the cookies that it sets."""
    generators: tuple[str, ...] = ()
    title: str = ""
    assets: tuple[str, ...] = ()
    """Paths with queries of style sheets and scripts on its own host.

    Images and forms are left out: visitors may write them into a page.
    """
    foreign_assets: tuple[str, ...] = ()
    """The same on other hosts, each without the host."""
    links: frozenset[str] = frozenset()
    """Other hosts that it links, without ``www.``."""
    elements: Elements = field(factory=lambda: Elements(None))

    @classmethod
    def of(
        cls,
        url: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        document: etree._Element | None = None,
    ) -> Self:
        """Return the signs in the response to a request for *url*.

        :param document: the parsed body, if the caller has it already.

        >>> page = PageSigns.of("http://a.example/b", [], b'<meta name=generator content="One 2">')
        >>> page.path, page.generators
        ('/b', ('One 2',))
        """
        parts = urlsplit(url)
        shown = tuple((name.lower(), value[:_MAX_TEXT]) for name, value in headers)
        cookies = (value.partition("=")[0].strip() for name, value in shown if name == "set-cookie")
        elements = Elements(_parsed(body[:MAX_BODY]) if document is None else document)
        host = parts.netloc.rpartition("@")[2].lower()
        assets, foreign_assets = _assets(elements, url, host)
        return cls(
            parts.path or "/",
            shown,
            tuple(cookies),
            tuple(islice(_generators(elements), _MAX_VALUES)),
            next(filter(None, (_folded(e.text) for e in elements.named("title"))), ""),
            assets,
            foreign_assets,
            frozenset(islice(_linked_hosts(elements, host), _MAX_VALUES)),
            elements,
        )


class Elements:
    """The elements of a page, as a parser sees them, looked up on demand."""

    def __init__(self, document: etree._Element | None) -> None:
        self._document = document
        self._named: dict[tuple[str, ...], list[etree._Element]] = {}
        self._values: dict[tuple[str, str], str] = {}

    def named(self, *names: str) -> Sequence[etree._Element]:
        """Return the first elements with one of these names, in document order."""
        found = self._named.get(names)
        if found is None:
            every = () if self._document is None else self._document.iter(*names)
            found = self._named[names] = list(islice(every, _MAX_ELEMENTS))
        return found

    def values(self, name: str, attribute: str) -> str:
        """Return the values of *attribute* of the elements with this name, one on each line."""
        found = self._values.get((name, attribute))
        if found is None:
            shown = {element.get(attribute) for element in self.named(name)} - {None}
            found = self._values[name, attribute] = "\n".join(map(_folded, shown))
        return found

    @staticmethod
    def value(element: etree._Element, attribute: str) -> str | None:
        """Return the value of *attribute* of *element*, in the form of :meth:`values`."""
        found = element.get(attribute)
        return None if found is None else _folded(found)


def _folded(value: str | None) -> str:
    return " ".join((value or "")[:_MAX_TEXT].split())


def _generators(elements: Elements) -> Iterator[str]:
    for element in elements.named("meta"):
        if _folded(element.get("name")).lower() == "generator":
            yield _folded(element.get("content"))


def _linked_hosts(elements: Elements, own: str) -> Iterator[str]:
    for element in elements.named("a"):
        address = _folded(element.get("href"))
        if address.startswith(("http://", "https://", "//")):
            host = address.partition("//")[2].partition("/")[0].lower()
            if host != own:
                yield host.removeprefix("www.")


def _assets(elements: Elements, url: str, own: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths of assets on the page's *own* host, and on other hosts."""
    # The first with an address counts (HTML Standard, section 2.4.3).
    bases = filter(None, (_folded(element.get("href")) for element in elements.named("base")))
    base = _joined(url, next(bases, "")) or url
    here: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    for element in elements.named(*_ADDRESS):
        address = _folded(element.get(_ADDRESS[element.tag]))
        if not address or address.startswith(("data:", "javascript:", "#")):
            continue
        # The usual case: joining URLs takes long.
        if address.startswith("/") and not address.startswith("//"):
            host, path = own, address
        else:
            parts = urlsplit(_joined(base, address))
            host, path = parts.netloc.rpartition("@")[2].lower(), parts.path or "/"
            path += f"?{parts.query}" if parts.query else ""
        found = here if host == own else elsewhere
        if len(found) < _MAX_VALUES:
            found[path] = None
    return tuple(here), tuple(elsewhere)


def _parsed(body: bytes) -> etree._Element | None:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True)
    try:
        return etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return None


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
