"""What was seen of one registrable domain: which URLs show which page."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING
from zlib import crc32

from scrapy_urlcanon.confidence import lower_bound
from scrapy_urlcanon.learn.classes.shapes import shape_of
from scrapy_urlcanon.learn.classes.wavering import wavering
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.listings import ends_of_listings
from scrapy_urlcanon.learn.location import locate, name_of
from scrapy_urlcanon.learn.vocabulary import numbers_of_first_parts, numbers_of_parts, worded_names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.links import KnownLinks, Links
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.orders import Reordered, Visited

NO_EVIDENCE = -1
"""The page number of a URL of which no capture says what it shows."""

SINK_SIZE = 20
"""A page that more URLs than this share is a sink: a login form, a soft 404, an empty search."""

MOST = 0.5
"""If more than this share of the pages of one kind have a property, all pages of that kind count as
having it."""

MAX_HOPS = 20
"""The most redirects that are followed, as Scrapy's default ``REDIRECT_MAX_TIMES``."""

FAR_BITS = 16
"""Simhashes that differ in more bits are of two texts, not of one that was edited. On the archived
sites the simhashes of URLs that learned rules merge differ in 16 bits at most."""

FOLDS = 4
"""The number of folds of cross-fitting: a candidate that pages of one fold propose is judged by the
pages of the others.
"""


@dataclass(eq=False)
class Site:
    """The URLs of one registrable domain, sorted, and the page that each of them shows."""

    domain: str
    locations: Locations
    pages: array[int]
    """The page number of each row; :data:`NO_EVIDENCE` if nothing is known."""
    declared: dict[int, Location]
    """The declared canonical URL by row, if it is another URL."""
    redirects: dict[int, Location]
    """Redirect target by row."""
    canonical: Collection[int]
    """Rows of URLs that declare themselves."""
    semicolon_hosts: frozenset[str]
    """Hosts, with their ports, where ``;`` separates parameters."""
    reordered: Sequence[Reordered]
    """Pairs of captures of one URL with its parameters in two orders."""
    visited: Sequence[Visited]
    """URLs that were visited twice."""
    telling: bytearray
    """By page: whether it has a simhash, so enough text to be told from others."""
    data: bytearray
    """By page: whether it is data, not text for readers."""
    simhashes: Sequence[int]
    """By page: the simhash of a capture that has one."""
    known_links: KnownLinks | None = field(default=None, init=False)
    """The links that crawls recorded, if they did."""

    def __post_init__(self) -> None:
        """Follow the redirects, and count the URLs of each page."""
        find = self.locations.find
        wanted = {*self.declared.values(), *self.redirects.values()}
        self.row_of = {location: row for location in wanted if (row := find(location)) != NO_ROW}
        """The row of each URL that is declared or redirected to, if it was seen."""
        self.contents = max(self.pages, default=NO_EVIDENCE) + 1
        """How many pages have content that was seen. Pages with this number or a higher one are
        known only as the target of a redirect."""
        self.unseen = self._follow_redirects()
        """The targets of redirects that were not seen, or were errors, with their page numbers, in
        order."""
        count = self.contents + len(self.unseen)
        self.sizes = array("i", [0]) * count
        """How many URLs show a page, by page number."""
        self.folds = bytearray(count)
        """Fold of each page: a stable hash of the first of its URLs."""
        for row, page in enumerate(self.pages):
            if page == NO_EVIDENCE:
                continue
            if not self.sizes[page]:
                url = self.locations[row].url.encode("utf-8", "surrogatepass")
                self.folds[page] = crc32(url) % FOLDS
            self.sizes[page] += 1

    def _follow_redirects(self) -> dict[Location, int]:
        """Give a redirecting URL the page of its target; return the targets that were not seen.

        A target that was an error shows no page, so it is none of the URLs of the page.
        """
        unseen: dict[Location, int] = {}
        for row in sorted(self.redirects):
            if self.pages[row] != NO_EVIDENCE:
                continue
            target = self.redirects[row]
            for _ in range(MAX_HOPS):
                next_row = self.row_of.get(target)
                if (
                    next_row is None
                    or self.pages[next_row] != NO_EVIDENCE
                    or next_row not in self.redirects
                ):
                    break
                target = self.redirects[next_row]
            target_row = self.row_of.get(target)
            page = NO_EVIDENCE if target_row is None else self.pages[target_row]
            if page == NO_EVIDENCE:
                page = unseen.setdefault(target, self.contents + len(unseen))
            self.pages[row] = page
        return unseen

    @cached_property
    def links(self) -> Links | None:
        """The links between the URLs; None if no crawl recorded links."""
        if self.known_links is None:
            return None
        find, hosts = self.locations.find, self.semicolon_hosts
        return self.known_links.of(self.domain, lambda url: find(locate(url, hosts)))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the crawls are known to have fetched all that is linked."""
        return self.known_links is not None and self.known_links.are_whole(self.domain)

    @cached_property
    def changed_visits(self) -> float:
        """A lower bound of the share of second visits at which the page had changed."""
        steady = sum(visit.is_steady for visit in self.visited)
        return lower_bound(len(self.visited) - steady, steady)

    @cached_property
    def worded(self) -> frozenset[str]:
        """Names of parameters that mean pagination on other sites, but not on this one."""
        return worded_names(param for params in self.locations.params for param in params)

    @cached_property
    def counted_from_zero(self) -> frozenset[str]:
        """Names of pagination parameters that count from 0 in some listing."""
        numbers = [numbers_of_first_parts(params) for params in self.locations.params]
        seen: dict[tuple[int, str], set[str]] = {}
        columns = (self.locations.path_of, self.locations.params_of, self.pages)
        for path, params, page in zip(*columns, strict=True):
            if page != NO_EVIDENCE:
                for name, number in numbers[params]:
                    seen.setdefault((path, name), set()).add(number)
        return frozenset(name for (_, name), found in seen.items() if len(found) > 1)

    def is_past_an_end(self, url: Location) -> bool:
        """Tell whether a URL has a page number at which half of its path's listings have ended.

        Past its end a listing shows the same for any number and any other parameter. If only one
        number was seen there, nothing else tells that it has ended.
        """
        ends = self._ends
        # Asked for every page of a rule, and on most sites no listing is known to have ended.
        return bool(ends) and any(
            number >= ends.get((url.path, name), sys.maxsize)
            for name, number in numbers_of_parts(url.params)
        )

    @cached_property
    def _ends(self) -> dict[tuple[str, str], int]:
        """The number by which half of the listings have ended, by path and parameter name."""
        return ends_of_listings(self.locations, self.pages, self.sizes)

    @cached_property
    def wavering(self) -> frozenset[Location]:
        """URLs that redirect to different targets at different times: evidence for none of them."""
        locations, pages = self.locations, self.pages
        return wavering(
            ((locations[row], target) for row, target in self.redirects.items()),
            lambda: (one for one in zip(locations, pages, strict=True) if one[1] != NO_EVIDENCE),
        )

    def is_sink(self, page: int) -> bool:
        """Tell whether too many URLs show the page for it to be evidence."""
        return self.sizes[page] > SINK_SIZE

    def are_far(self, page: int, other: int) -> bool:
        """Tell whether two pages are known to have different texts, not one that was edited."""
        known, simhashes = self.telling, self.simhashes
        return (
            max(page, other) < len(known)
            and bool(known[page] and known[other])
            and (simhashes[page] ^ simhashes[other]).bit_count() > FAR_BITS
        )

    def is_data(self, page: int) -> bool:
        """Tell whether the page is data for a program, such as a feed, or not text at all."""
        return page < len(self.data) and bool(self.data[page])

    def is_empty(self, page: int) -> bool:
        """Tell whether the page has next to no text, while most pages of its kind have some.

        A list without entries is empty. Pictures are not, since most pages of that kind have no
        text. Pages are of one kind if the shape of their URLs is the same, as those of one script.
        """
        return page < len(self._empty) and bool(self._empty[page])

    @cached_property
    def _empty(self) -> bytearray:
        """By page: whether it is empty. Without any page with text no page is."""
        if not any(self.telling):
            return bytearray()
        shapes = [*map(shape_of, self.locations.paths)]
        names = [tuple(map(name_of, params)) for params in self.locations.params]
        kinds: dict[tuple[int, str, tuple[str, ...]], int] = {}
        columns = (self.locations.origin_of, self.locations.path_of, self.locations.params_of)
        # The kind of a page is that of its first URL.
        kind_of = array("i", [NO_EVIDENCE]) * len(self.telling)
        for page, origin, path, params in zip(self.pages, *columns, strict=True):
            if NO_EVIDENCE < page < len(kind_of) and kind_of[page] == NO_EVIDENCE:
                kind = origin, shapes[path], names[params]
                kind_of[page] = kinds.setdefault(kind, len(kinds))
        count, telling = Counter(kind_of), Counter(compress(kind_of, self.telling))
        have_none = {
            kind: lower_bound(pages - telling[kind], telling[kind]) > MOST
            for kind, pages in count.items()
        }
        return bytearray(
            not tells and not have_none[kind]
            for kind, tells in zip(kind_of, self.telling, strict=True)
        )
