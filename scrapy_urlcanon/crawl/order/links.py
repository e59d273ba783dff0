"""Where the links of a page stand, and what the page says of itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lxml.etree import XPath  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse, XmlResponse
from scrapy.utils.gz import gzip_magic_number

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]
    from scrapy import Request
    from scrapy.http import Response

_UNKNOWN: Final = ("linked elsewhere",)
_LISTED: Final = ("listed in XML",)
_MANY: Final = (1, 4, 12, 40)
_MAX_LINKS: Final = 2_000
_LESS: Final = 0.8
"""What a page is worth that says itself that it is none to be found, or that another one is."""
_IN_HEAD = XPath(
    "/html/head/meta[@name='robots']/@content | /html/head/link[@rel='canonical']/@href",
    smart_strings=False,
)


class Links:
    """Where the links of one page stand, by what their URLs end with.

    To make all of them absolute takes longer than all else together. Two that end alike may be
    taken for each other: it is evidence, and no more.
    """

    def __init__(self, response: Response) -> None:
        self._contexts: dict[str, tuple[str, ...]] = {}
        self._default = _UNKNOWN
        if isinstance(response, HtmlResponse):
            self._read(response)
        elif isinstance(response, XmlResponse) or gzip_magic_number(response):
            # A sitemap or a feed, packed or not: what the site itself lists.
            self._default = _LISTED

    def context(self, request: Request) -> tuple[str, ...]:
        """Return features of the link to *request*."""
        return self._contexts.get(_tail(request.url), self._default)

    def _read(self, response: HtmlResponse) -> None:
        found = []
        for number, link in enumerate(response.selector.root.iter("a")):
            if number >= _MAX_LINKS:
                break
            href = link.get("href")
            if href:
                rel = "nofollow" if "nofollow" in link.get("rel", "") else "follow"
                found.append((_tail(href), _place(link), rel))
        counts = Counter(place for _, place, _ in found)
        # Few: those of one place are the same object.
        contexts: dict[tuple[str, str], tuple[str, ...]] = {}
        for tail, place, rel in found:
            context = contexts.get((place, rel))
            if context is None:
                alike = sum(counts[place] > bound for bound in _MANY)
                context = contexts[place, rel] = (f"place {place}", f"alike {alike}", rel)
            self._contexts.setdefault(tail, context)


def trust(response: Response) -> float:
    """Return how much of its news *response* claims: less where it is not to be indexed.

    Or where it declares another URL than its own.
    """
    if not isinstance(response, HtmlResponse):
        return 1.0
    for said in _IN_HEAD(response.selector.root):
        if "noindex" in said.lower():
            return _LESS
        if "/" in said and _path(said) != _path(response.url):
            return _LESS
    return 1.0


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return url


def _tail(url: str) -> str:
    return url.partition("#")[0].rpartition("/")[2]


def _place(link: etree._Element) -> str:
    """Return the names of the two elements in which *link* stands."""
    parent = link.getparent()
    if parent is None:
        return ""
    above = parent.getparent()
    return f"{parent.tag} in {'' if above is None else above.tag}"
