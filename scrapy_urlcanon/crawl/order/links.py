"""Derives features of links from their place in the page, and what the page says about itself."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus, urlsplit
from weakref import ref
from zlib import crc32

from lxml.etree import XPath  # type: ignore[import-untyped]
from scrapy.http import HtmlResponse, XmlResponse
from scrapy.utils.gz import gzip_magic_number

from scrapy_urlcanon.crawl.origins import as_sent
from scrapy_urlcanon.crawl.reading import links_of, tree_of
from scrapy_urlcanon.novelty.echoes import as_shown, is_telling

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]
    from scrapy.http import Response

_UNKNOWN: Final = ("linked elsewhere",)
_LISTED: Final = ("listed in XML",)
_MANY: Final = (1, 4, 12, 40)
_SECTIONS: Final = (1, 2, 4, 8)
OF_SECTIONS: Final = tuple(f"sections {bound}" for bound in _SECTIONS)
"""The features of a link to a page of which more than 1, 2, 4 or 8 other places are linked too."""
_LESS: Final = 0.8
"""The worth of a page that declares another URL as canonical, or that it is not to be indexed."""
_MOST_QUESTIONS: Final = 100
_PLACES: Final = 1 << 20
_LONGEST: Final = 500
"""So many characters of labels and addresses are compared."""
_KEPT: Final = 1 << 8
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile("[?&;][^?=&;#]*=")
_text_of = XPath("string()", smart_strings=False)
_IN_HEAD = XPath(
    "/html/head/meta[@name='robots']/@content | /html/head/link[@rel='canonical']/@href",
    smart_strings=False,
)


class Links:
    """The features of the links of one page, found by the ends of their URLs.

    Making all URLs absolute would take longer than all other steps. Two links whose URLs end alike
    may be confused, which is acceptable for a feature. The page is read when the first link is
    asked for: on most pages all links lead to known URLs and are dropped.
    """

    def __init__(self, response: Response) -> None:
        self._contexts: dict[str, tuple[str, ...]] = {}
        self._default = _UNKNOWN
        # A weak reference. Whoever asks still has the response, since its links are being
        # scheduled.
        self._unread: ref[HtmlResponse] | None = None
        if isinstance(response, HtmlResponse):
            self._unread = ref(response)
        elif isinstance(response, XmlResponse) or gzip_magic_number(response):
            # A sitemap or a feed, perhaps compressed: what the site itself lists.
            self._default = _LISTED

    def context(self, url: str) -> tuple[str, ...]:
        """Return the features of the link to *url*."""
        if self._unread:
            response, self._unread = self._unread(), None
            if response is not None:
                self._read(response)
        return self._contexts.get(_tail(url), self._default)

    def _read(self, response: HtmlResponse) -> None:
        # In short loops, since lxml makes an element anew each time it is accessed.
        links = links_of(response)
        parents = [link.getparent() for link, _ in links]
        above = [None if parent is None else parent.getparent() for parent in parents]
        rels = [link.get("rel") for link, _ in links]
        kinds = list(zip(_names(parents), _names(above), rels, strict=True))
        # There are few kinds, and links of one kind share one object.
        of_kind = Counter(kinds)
        counts: Counter[tuple[str, str]] = Counter()
        for (parent, outer, _), count in of_kind.items():
            counts[parent, outer] += count
        contexts = {
            (parent, outer, rel): _context((parent, outer), counts[parent, outer], rel)
            for parent, outer, rel in of_kind
        }
        addresses = [address for _, address in links]
        places = {address for address in addresses if "#" in address}
        # Most pages link no places, so the addresses need no check for a fragment.
        tails = (
            [*map(_tail, addresses)] if places else [each.rpartition("/")[2] for each in addresses]
        )
        # If two end alike, the first one counts.
        kinds.reverse()
        tails.reverse()
        self._contexts = dict(zip(tails, map(contexts.__getitem__, kinds), strict=True))
        if places:
            self._note_sections(places, {*addresses})

    def _note_sections(self, places: set[str], addresses: set[str]) -> None:
        """Add features to links to pages of which several places are linked.

        A table of contents links the sections of a long page. One address that is linked many times
        is no such sign, since a log-in form is too.

        :param places: those of *addresses* that have a fragment.
        :param addresses: all addresses that the page links.
        """
        most: dict[str, int] = {}
        for page, count in Counter(map(as_sent, places)).items():
            tail = _tail(page)
            most[tail] = max(most.get(tail, 0), count + (page in addresses))
        for tail, count in most.items():
            many = sum(count > bound for bound in _SECTIONS)
            # The URLs of folders all end alike, with nothing.
            if tail and many:
                self._contexts[tail] += (OF_SECTIONS[many - 1],)


class Questions:
    """Finds what a page proposes to ask for: no news, if the page is itself an answer.

    A search that proposes further ones shows each as its link has it in the address, as a page that
    does not exist shows those of similar names. Only the page that answers can say something new. A
    list shows titles in this way too, but its own address was linked as "next" or "page 7".

    >>> questions = Questions()
    >>> links = (("/find?q=old+hats", "Old hats (7)"), ("/tag/hat", "A hat"), ("?page=7", "Page 7"))
    >>> body = "".join(f"<a href='{address}'>{label}</a>" for address, label in links).encode()
    >>> for path in ("list", "find?q=old+hats", "tag/hat/", "list?page=7"):
    ...     url = f"http://a.example/{path}"
    ...     print(questions.of(HtmlResponse(url, body=body, encoding="utf-8")))
    []
    ['old hats', 'hat']
    ['old hats', 'hat']
    []
    """

    def __init__(self) -> None:
        # A hash table of the ends of addresses that were asked for, with 8 more bits of the hash.
        self._asked = bytearray(_PLACES)

    def of(self, response: Response) -> list[str]:
        """Return what links of *response* say in their labels and in their addresses alike.

        It is in lower case. There is none if no link to *response* said what its address says.
        """
        place, tag = _place(response.url)
        is_answer = self._asked[place] == tag
        found: dict[str, None] = {}
        for link, address in links_of(response):
            if len(found) >= _MOST_QUESTIONS:
                break
            # The text of an element without others inside is there already.
            label = _text_of(link) if len(link) else link.text or ""
            if said := _said_twice(label[:_LONGEST], address[:_LONGEST]):
                found.update(dict.fromkeys(said))
                own = response.url.partition("?")[0] if address.startswith("?") else ""
                place, tag = _place(own + address)
                self._asked[place] = tag
        return [*found] if is_answer else []


def _place(address: str) -> tuple[int, int]:
    """Return where :class:`Questions` keeps that *address* was asked for, and as what."""
    path, _, query = address.partition("#")[0].partition("?")
    end = f"{path.rstrip('/').rpartition('/')[2]}?{query}"
    number = crc32(unquote_plus(end).lower().encode("utf-8", "replace"))
    return number % _PLACES, number >> 24 or 1


# Cached, since the links of a menu are the same on every page.
@lru_cache(_KEPT)
def _said_twice(label: str, address: str) -> tuple[str, ...]:
    """Return the runs of words of *label* that stand in *address*, in lower case."""
    # Names of parameters ask for nothing: "page 7" is one of a list.
    label, asked = as_shown(label), unquote_plus(_NAME.sub(" ", address)).lower()
    words = [*_WORD.finditer(label)]
    if not any(word[0] in asked for word in words):
        # So it is for most links, and finding the words of an address takes longer.
        return ()
    of_address = {*_WORD.findall(asked)}
    found = []
    for stands_there, run in groupby(words, lambda word: word[0] in of_address):
        first, *others = run
        text = label[first.start() : (others or [first])[-1].end()]
        if stands_there and is_telling(text):
            found.append(text)
    return tuple(found)


def trust(response: Response) -> float:
    """Return the factor for the news of *response*: 1, or less if the page disclaims itself.

    It does if its robots meta tag says ``noindex``, or if it declares another URL as canonical.
    """
    document = tree_of(response)
    for said in () if document is None else _IN_HEAD(document):
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
    bare = url.partition("#")[0] if "#" in url else url
    return bare.rpartition("/")[2]


def _names(elements: list[etree._Element | None]) -> list[str]:
    return ["" if element is None else element.tag for element in elements]


def _context(place: tuple[str, str], count: int, rel: str | None) -> tuple[str, ...]:
    """Return the features of links in these two enclosing elements.

    :param count: how many such links the page has.
    """
    alike = sum(count > bound for bound in _MANY)
    follows = "nofollow" if rel and "nofollow" in rel else "follow"
    return f"place {place[0]} in {place[1]}", f"alike {alike}", follows
