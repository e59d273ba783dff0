"""Holds back requests for parts of pages, such as posts of a topic, until their pages come."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from lxml import etree  # type: ignore[import-untyped]
from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_urlcanon.canonicalizer.url import split
from scrapy_urlcanon.crawl.answers import is_cut_short
from scrapy_urlcanon.crawl.origins import sources_of
from scrapy_urlcanon.crawl.own_requests import is_plain
from scrapy_urlcanon.crawl.recovery.callbacks import callback_of
from scrapy_urlcanon.crawl.recovery.held_bytes import HeldBytes, parts_of
from scrapy_urlcanon.crawl.scheduling.drops import receives_repeated
from scrapy_urlcanon.crawl.scheduling.engine import is_local, on_idle
from scrapy_urlcanon.crawl.software.authority import authority_of
from scrapy_urlcanon.crawl.stats import Stat
from scrapy_urlcanon.profiles.installation import templates_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_urlcanon.canonicalizer.templates import Template
    from scrapy_urlcanon.canonicalizer.url import Url
    from scrapy_urlcanon.crawl.canonical_urls import CanonicalUrls
    from scrapy_urlcanon.crawl.fingerprints import PageFingerprints
    from scrapy_urlcanon.crawl.settings import CrawlSettings
    from scrapy_urlcanon.profiles.installation import Installation
    from scrapy_urlcanon.profiles.rules import Part

_REMEMBERED = 2_000_000
_FIRST_BATCH = 8
_LARGEST_BATCH = 1_000
# Not of headings: in texts of visitors Drupal allows ids only there.
_HEADING = " or ".join(f"self::h{level}" for level in range(1, 7))
_IDS = etree.XPath(f"//*[@id and not({_HEADING})]/@id | //a/@name")
_VALUES = etree.XPath("//@*[name() = $attribute]")


class _Known(NamedTuple):
    """What a profile says about the parts of pages of one program at one place."""

    part: Part
    place: str
    """The place of the program, with the host."""
    links: tuple[Template, ...]
    pages: tuple[Template, ...]

    def key(self, found: dict[str, str], part: str, callback: str) -> int:
        """Return a key for a part of a page and the callback that gets it."""
        within = found.get(self.part.within, "")
        return hash((self.place, self.part.attribute, self.part.id, within, part, callback))


class _Showing(NamedTuple):
    """What the page of a request shows."""

    keys: set[int]
    """The keys of its parts."""
    asked: set[int]
    """The keys of the parts that its URL, or one that was redirected to it, names."""


class _Place(NamedTuple):
    """Identifies a request that is held."""

    fingerprint: bytes
    callback: str
    url: str


class PartsOfPages:
    """Drops requests for parts of pages that a fetched page shows, as the ids in it prove.

    A request for a part of a page is held back until there is nothing else to do. If a fetched page
    has shown the part by then, it is dropped, else it is sent. A few are sent at a time, since the
    pages that they bring may show other parts. What a page shows counts when its callback has had
    the page and did not raise (:attr:`.PageRequests.on_had` calls :meth:`had`).

    A callback that is only given pages by links to parts may take of each page the part that the
    URL names. So what such a page shows counts for no other part, until the callback has had a page
    by another URL.

    If other processes share the queue, as with Redis, nothing is held back, since it would be lost
    with this process.

    It is made only when a program with known parts is recognised, since its receiver of
    ``request_scheduled`` costs time for each request.
    """

    def __init__(
        self,
        crawler: Crawler,
        canonical_urls: CanonicalUrls,
        fingerprints: PageFingerprints,
        settings: CrawlSettings,
    ) -> None:
        self._crawler = crawler
        self._canonical_urls = canonical_urls
        self._fingerprints = fingerprints
        self._settings = settings
        self._known: dict[str, list[_Known]] = {}
        # By part: the least depth of the pages that show it; 0 without a depth limit.
        self._shown: dict[int, int] = {}
        self._may_hold = is_local(crawler.settings)
        self._is_limited = bool(crawler.settings.getint("DEPTH_LIMIT"))
        # By request, until its callback is done.
        self._showing: WeakKeyDictionary[Request, _Showing] = WeakKeyDictionary()
        self._takes_pages: set[str] = set()
        self._held: dict[_Place, tuple[Request, int]] = {}
        self._by_key: dict[int, list[_Place]] = {}
        self._bytes: HeldBytes[Request] = HeldBytes(parts_of)
        self._released: Request | None = None
        self._batch = _FIRST_BATCH
        self._proved = 0
        crawler.signals.connect(self.request_scheduled, signals.request_scheduled)
        on_idle(crawler, self.spider_idle)

    def add(self, installation: Installation) -> None:
        """Add the parts that the profile of *installation* has."""
        self._known.setdefault(installation.authority, []).extend(
            _Known(
                part,
                installation.url,
                templates_at(installation.place, part.links),
                templates_at(installation.place, part.pages),
            )
            for part in installation.parts()
        )

    @property
    def waiting(self) -> Iterator[Request]:
        """The requests that are held, in the order in which they came."""
        return (request for request, _ in self._held.values())

    @receives_repeated
    def request_scheduled(self, request: Request) -> None:
        """Refuse *request* if a page has shown its part, or may yet show it.

        :raises IgnoreRequest: to make the engine drop the request (Scrapy 2.19, ``core/engine.py``,
            ``_schedule_request``).
        """
        if authority_of(request.url) in self._known and request is not self._released:
            key = self._key(request)
            if key in self._shown and self._shown[key] <= self._depth(request):
                Stat.PART_SHOWN.inc(self._crawler)
                raise IgnoreRequest("a page that was fetched shows what it leads to")
            if key is not None and self._hold(request, key):
                raise IgnoreRequest("it waits for the page that shows what it leads to")

    def restore(self, request: Request) -> bool:
        """Hold *request*, which waited when an earlier run ended; return whether it is held."""
        if authority_of(request.url) not in self._known:
            return False
        key = self._key(request)
        return key is not None and self._hold(request, key)

    def received(self, request: Request, response: Response, authority: str) -> None:
        """Note the parts that *response*, from *authority*, shows."""
        known = self._known.get(authority)
        canonical = self._canonical_urls.of(request) if known else None
        if not known or canonical is None or response.status != HTTPStatus.OK:
            return
        if is_cut_short(response):
            # The last part may be incomplete.
            return
        url = split(canonical)
        matches = ((each, _found(each.pages, url)) for each in known)
        pages = [(each, found) for each, found in matches if found is not None]
        if not pages:
            return
        callback = callback_of(request, self._crawler.spider)
        attributes = {each.part.attribute for each, _ in pages}
        ids = _ids(response.body[: self._settings.audit_max_size], attributes)
        keys = set()
        for each, found in pages:
            before, _, behind = each.part.id.partition("{part}")
            for text in ids.get(each.part.attribute, ()):
                if text.startswith(before) and text.endswith(behind):
                    part = text[len(before) : len(text) - len(behind)]
                    keys.add(each.key(found, part, callback))
        sources = (self._canonical_urls.of(request, source) for source in sources_of(request))
        links = (self._link_to_part(each) for each in (canonical, *sources) if each)
        asked = {link[0].key(link[1], link[1]["part"], callback) for link in links if link}
        self._showing[request] = _Showing(keys, asked)

    def had(self, request: Request) -> None:
        """Note that a callback has had the page of *request*; drop requests held for its parts."""
        showing = self._showing.pop(request, None)
        if showing is None:
            return
        depth, callback = self._depth(request), callback_of(request, self._crawler.spider)
        keys, asked = showing
        if not asked:
            self._takes_pages.add(callback)
        for key in keys if callback in self._takes_pages else keys & asked:
            if key in self._shown or len(self._shown) < _REMEMBERED:
                self._shown[key] = min(depth, self._shown.get(key, depth))
            for place in tuple(self._by_key.get(key, ())):
                # Unless the depth limit may cut off links of this page that the part would have.
                if depth <= self._depth(self._held[place][0]):
                    self._take(place)
                    self._proved += 1
                    Stat.PART_SHOWN.inc(self._crawler)

    def spider_idle(self) -> None:
        """Send some of the requests whose parts no page has shown."""
        if not self._held:
            return
        # If the last ones showed no other parts, larger batches lose nothing.
        self._batch = _FIRST_BATCH if self._proved else min(2 * self._batch, _LARGEST_BATCH)
        self._proved = 0
        for place in list(self._held)[: self._batch]:
            request = self._take(place)
            self._released = request
            Stat.PART_FETCHED.inc(self._crawler)
            self._crawler.engine.crawl(request)
        self._released = None

    def _key(self, request: Request) -> int | None:
        """Return the key of the part that *request* is for, or None if it is for none."""
        if request.dont_filter or request.method != "GET" or not is_plain(request):
            return None
        canonical = self._canonical_urls.of(request)
        if canonical is None:
            return None
        link = self._link_to_part(canonical)
        if link is None or _tells(request, link[1]["part"]):
            return None
        each, found = link
        return each.key(found, found["part"], callback_of(request, self._crawler.spider))

    def _link_to_part(self, url: str) -> tuple[_Known, dict[str, str]] | None:
        """Return what is known of the part that *url* leads to, or None if it leads to none."""
        parsed = split(url)
        for each in self._known.get(authority_of(url), ()):
            found = _found(each.links, parsed)
            if found is not None:
                return each, found
        return None

    def _depth(self, request: Request) -> int:
        """Return the depth of *request*, or 0 if depth is not limited."""
        depth: int = request.meta.get("depth", 0) if self._is_limited else 0
        return depth

    def _hold(self, request: Request, key: int) -> bool:
        """Hold *request*, unless the same is held already; return whether it is held.

        Each URL of a page is held, for each callback. When they are scheduled later, the duplicate
        filter drops all but one for each page, and the others wait for that one.
        """
        callback = callback_of(request, self._crawler.spider)
        place = _Place(self._fingerprints.fingerprint(request), callback, request.url)
        if place in self._held:
            return True
        settings = self._settings
        if (
            not self._may_hold
            or len(self._held) >= settings.rescue_max_pending
            or self._bytes.total > settings.pending_max_bytes
        ):
            return False
        self._bytes.add(request)
        self._held[place] = request, key
        self._by_key.setdefault(key, []).append(place)
        return True

    def _take(self, place: _Place) -> Request:
        request, key = self._held.pop(place)
        self._bytes.remove(request)
        same = self._by_key[key]
        same.remove(place)
        if not same:
            del self._by_key[key]
        return request


def _tells(request: Request, part: str) -> bool:
    """Tell whether *request* has arguments for its callback, or the name of *part* in its meta.

    Such a callback may take that part alone, and would take none of a page of many.
    """
    return bool(request.cb_kwargs) or bool(re.search(rf"\b{re.escape(part)}\b", str(request.meta)))


def _found(templates: tuple[Template, ...], url: Url) -> dict[str, str] | None:
    """Return the texts in the places of the first of *templates* that fits *url*, or None."""
    for template in templates:
        match = template.match(url)
        if match is not None and not match.others:
            return dict(match.found)
    return None


def _ids(body: bytes, attributes: Iterable[str]) -> dict[str, set[str]]:
    """Return the values that each of *attributes* has in a page."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=False)
    try:
        document = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return {}
    if document is None:
        return {}
    return {
        name: set(map(str, _IDS(document) if name == "id" else _VALUES(document, attribute=name)))
        for name in attributes
    }
