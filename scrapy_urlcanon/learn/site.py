"""What is known about one registrable domain: which URLs show which page."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
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
from scrapy_urlcanon.learn.vocabulary import (
    numbers_of_first_parts,
    numbers_of_parts,
    worded_names,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.links import KnownLinks, Links
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.orders import Reordered, Visited

NO_EVIDENCE = -1
"""Page number of a URL of which no capture says what it shows."""

SINK_SIZE = 20
"""A page that more URLs than this share is a sink: a login form, a soft 404, an empty search."""

MOST = 0.5
"""If more than this share of the pages of one kind have a property, all pages of that kind count as
having it."""

MAX_HOPS = 20
"""As many hops as Scrapy's REDIRECT_MAX_TIMES follows."""

FAR_BITS = 16
"""Simhashes that differ in more bits are of two texts. Of one that was edited they differ in fewer:
those of two URLs that learned rules make one, on the archived sites, in 16 at most."""

FOLDS = 4
"""Folds of cross-fitting: what the pages of one fold propose is judged on the pages of the others.
"""


class Site:
    """The URLs of one registrable domain, sorted, and the page that each of them shows."""

    def __init__(  # noqa: PLR0917 - a record, made in one place
        self,
        domain: str,
        locations: Locations,
        pages: array[int],
        declared: dict[int, Location],
        redirects: dict[int, Location],
        canonical: Collection[int],
        semicolon_hosts: frozenset[str],
        reordered: Sequence[Reordered],
        visited: Sequence[Visited],
        telling: bytearray,
        data: bytearray,
        simhashes: Sequence[int],
    ) -> None:
        self.domain = domain
        self.known_links: KnownLinks | None = None
        """The links that crawls recorded, if they did."""
        self.semicolon_hosts = semicolon_hosts
        """Hosts, with their ports, where ``;`` separates parameters."""
        self.reordered = reordered
        """Captures of one URL with its parameters in two orders."""
        self.visited = visited
        """URLs that were visited twice."""
        # By page: whether it has a simhash, and so text enough to tell pages apart; and whether it
        # is data, not text for readers.
        self._telling, self._data = telling, data
        self._simhashes = simhashes
        self.locations = locations
        wanted = {*declared.values(), *redirects.values()}
        self.row_of = {
            location: row for location in wanted if (row := locations.find(location)) != NO_ROW
        }
        """The row of each URL that is declared or redirected to, if it was seen."""
        self.pages = pages
        """The page number of each row; :data:`NO_EVIDENCE` if nothing is known."""
        self.declared = declared
        """Declared canonical by row, where it is another URL."""
        self.redirects = redirects
        """Redirect target by row."""
        self.canonical = canonical
        """Rows of URLs that declare themselves."""
        self.contents = max(self.pages, default=NO_EVIDENCE) + 1
        """How many pages have content that was seen. Higher numbers are of pages known only
        as the target of a redirect."""
        self.unseen = self._follow_redirects()
        """These targets of redirects, with their page numbers, in order."""
        count = self.contents + len(self.unseen)
        self.sizes = array("i", [0]) * count
        """URLs that show a page, by page number."""
        self.folds = bytearray(count)
        """Fold of each page: a stable hash of the first of its URLs."""
        for row, page in enumerate(self.pages):
            if page == NO_EVIDENCE:
                continue
            if not self.sizes[page]:
                self.folds[page] = (
                    crc32(locations[row].url.encode("utf-8", "surrogatepass")) % FOLDS
                )
            self.sizes[page] += 1

    def _follow_redirects(self) -> dict[Location, int]:
        """Give a redirecting URL the page of its target; return the targets that were not seen."""
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
                if target_row is not None:
                    self.pages[target_row] = page
            self.pages[row] = page
        return unseen

    @cached_property
    def links(self) -> Links | None:
        """The links between its URLs; None if no crawl recorded links."""
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
        """A lower bound of the share of second visits that show a page which has changed."""
        steady = sum(visit.is_steady for visit in self.visited)
        return lower_bound(len(self.visited) - steady, steady)

    @cached_property
    def worded(self) -> frozenset[str]:
        """Names of parameters that number the parts of listings on other sites, but not here."""
        return worded_names(param for params in self.locations.params for param in params)

    @cached_property
    def counted_from_zero(self) -> frozenset[str]:
        """Names of parameters that number the parts of some listing from 0 on."""
        numbers = [numbers_of_first_parts(params) for params in self.locations.params]
        seen: dict[tuple[int, str], set[str]] = {}
        columns = (self.locations.path_of, self.locations.params_of, self.pages)
        for path, params, page in zip(*columns, strict=True):
            if page != NO_EVIDENCE:
                for name, number in numbers[params]:
                    seen.setdefault((path, name), set()).add(number)
        return frozenset(name for (_, name), found in seen.items() if len(found) > 1)

    def is_past_an_end(self, url: Location) -> bool:
        """Tell whether a URL is of a part of a listing by whose number others there have ended.

        Where a listing has ended it shows the same whatever the number, and whatever is asked for
        besides. Where only one number was seen nothing else tells.
        """
        ends = self._ends
        # On most sites none is known to have ended, and this is asked of every page of a rule.
        return bool(ends) and any(
            number >= ends.get((url.path, name), sys.maxsize)
            for name, number in numbers_of_parts(url.params)
        )

    @cached_property
    def _ends(self) -> dict[tuple[str, str], int]:
        """The number by which half of the listings have ended, by path and name."""
        return ends_of_listings(self.locations, self.pages, self.sizes)

    @cached_property
    def wavering(self) -> frozenset[Location]:
        """URLs that redirect to different places at different times: evidence for none of these."""
        locations, pages = self.locations, self.pages
        return wavering(
            ((locations[row], target) for row, target in self.redirects.items()),
            lambda: (one for one in zip(locations, pages, strict=True) if one[1] != NO_EVIDENCE),
        )

    def is_sink(self, page: int) -> bool:
        """Tell whether so many URLs show the page that it is evidence for none of them."""
        return self.sizes[page] > SINK_SIZE

    def are_far(self, page: int, other: int) -> bool:
        """Tell whether two pages are known to have another text each, not one that was edited."""
        known, simhashes = self._telling, self._simhashes
        return (
            max(page, other) < len(known)
            and bool(known[page] and known[other])
            and (simhashes[page] ^ simhashes[other]).bit_count() > FAR_BITS
        )

    def is_data(self, page: int) -> bool:
        """Tell whether the page is for a program, such as a feed, or no text, such as an image."""
        return page < len(self._data) and bool(self._data[page])

    def is_empty(self, page: int) -> bool:
        """Tell whether the page has next to no text, while most pages of its kind have some.

        A list without entries is empty. Pictures are not, since most pages of that kind have no
        text. Pages are of one kind if the shape of their URLs is the same, as those of one script.
        """
        return page < len(self._empty) and bool(self._empty[page])

    @cached_property
    def _empty(self) -> bytearray:
        """By page: whether it is empty. None is if no page of the site has text."""
        if not any(self._telling):
            return bytearray()
        shapes = [*map(shape_of, self.locations.paths)]
        names = [tuple(map(name_of, params)) for params in self.locations.params]
        kinds: dict[tuple[int, str, tuple[str, ...]], int] = {}
        columns = (self.locations.origin_of, self.locations.path_of, self.locations.params_of)
        # The kind of a page is that of the first of its URLs.
        kind_of = array("i", [NO_EVIDENCE]) * len(self._telling)
        for page, origin, path, params in zip(self.pages, *columns, strict=True):
            if NO_EVIDENCE < page < len(kind_of) and kind_of[page] == NO_EVIDENCE:
                kind = origin, shapes[path], names[params]
                kind_of[page] = kinds.setdefault(kind, len(kinds))
        count, telling = Counter(kind_of), Counter(compress(kind_of, self._telling))
        have_none = {
            kind: lower_bound(pages - telling[kind], telling[kind]) > MOST
            for kind, pages in count.items()
        }
        return bytearray(
            not tells and not have_none[kind]
            for kind, tells in zip(kind_of, self._telling, strict=True)
        )
