"""All that is known of one registrable domain: which URLs show which page."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING
from zlib import crc32

from scrapy_urlcanon.learn.location import Location, Place, locate
from scrapy_urlcanon.learn.separator import semicolon_hosts
from scrapy_urlcanon.learn.simhash import SimhashIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.learn.observation import Observation

#: Page number of a URL of which no capture says what it shows.
NO_EVIDENCE = -1

#: A page that more URLs than this share is a sink: a login form, a soft 404, an empty search.
SINK_SIZE = 20

#: Folds of cross-fitting: what the pages of one fold propose is judged on the pages of the others.
FOLDS = 4

_HAS_MAIN, _HAS_SIMHASH = 1, 2


class Captures:
    """The observations of one domain, about 200 bytes each, in any order."""

    __slots__ = ("_canonical", "_ends", "_flags", "_main", "_redirect", "_simhash", "_urls")

    def __init__(self) -> None:
        # One after the other: a million objects would take half as much again, and leave the
        # memory in pieces when they go.
        self._urls = bytearray()
        self._ends = array("Q")
        self._main = array("Q")
        self._simhash = array("Q")
        self._flags = bytearray()
        self._canonical: dict[int, str] = {}
        self._redirect: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, observation: Observation) -> None:
        """Add a capture."""
        flags = main = simhash = 0
        if observation.has_content:
            if observation.main_sha1:
                flags |= _HAS_MAIN
                main = _short(observation.main_sha1) ^ observation.title
            if observation.simhash64 is not None:
                flags |= _HAS_SIMHASH
                # Near simhashes stay near under one title, and become far ones under two.
                simhash = observation.simhash64 ^ observation.title
        number = len(self)
        if observation.canonical and observation.canonical != observation.url:
            self._canonical[number] = observation.canonical
        if observation.redirect:
            self._redirect[number] = observation.redirect
        self._urls += observation.url.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._urls))
        self._main.append(main)
        self._simhash.append(simhash)
        self._flags.append(flags)

    def extend(self, other: Captures) -> None:
        """Add the captures of another."""
        start, length = len(self), len(self._urls)
        self._urls += other._urls
        self._ends.extend(length + end for end in other._ends)
        self._main += other._main
        self._simhash += other._simhash
        self._flags += other._flags
        self._canonical.update((start + number, url) for number, url in other._canonical.items())
        self._redirect.update((start + number, url) for number, url in other._redirect.items())

    def site(self, domain: str) -> Site:
        """Return what the captures amount to.

        And forget them (they and the site would not fit side by side).
        """
        texts: dict[str, str] = {}
        places: dict[Place, Place] = {}
        urls, ends = bytes(self._urls), self._ends
        self._urls, self._ends = bytearray(), array("Q")

        def url_of(number: int, urls: bytes = urls, ends: array[int] = ends) -> bytes:
            return urls[ends[number - 1] if number else 0 : ends[number]]

        # Arrays, here and below: the numbers of a million rows as objects would take 32 MB. Bytes
        # of UTF-8 are in the same order as the text.
        order = array("l", sorted(range(len(ends)), key=url_of))
        semicolons = (
            semicolon_hosts(url_of(n).decode("utf-8", "surrogatepass") for n in range(len(ends)))
            if b";" in urls
            else frozenset()
        )
        locations: list[Location] = []
        shares = texts.setdefault
        evidence = array("l")
        seen: dict[Location, int] = {}
        declared: dict[int, Location] = {}
        redirects: dict[int, Location] = {}
        for number in order:
            place, params = locate(url_of(number).decode("utf-8", "surrogatepass"), semicolons)
            location = Location(
                places.setdefault(place, place), tuple([shares(param, param) for param in params])
            )
            row = seen.setdefault(location, len(locations))
            if row == len(locations):
                locations.append(location)
                evidence.append(number)
            elif self._weight(number) < self._weight(evidence[row]):
                evidence[row] = number
            if number in self._canonical:
                target = locate(self._canonical[number], semicolons)
                # Where captures disagree, any fixed choice will do.
                if target != location:
                    declared[row] = max(declared.get(row, target), target)
            if number in self._redirect:
                target = locate(self._redirect[number], semicolons)
                redirects[row] = max(redirects.get(row, target), target)
        del seen, places, texts, urls, ends, order, url_of
        pages = self._pages(evidence)
        return Site(domain, locations, pages, declared, redirects, semicolon_hosts=semicolons)

    def _weight(self, number: int) -> tuple[bool, int, bool, int]:
        """Return what orders the captures of one URL.

        Those with evidence first, then by what was seen.
        """
        flags = self._flags[number]
        return (
            not flags & _HAS_MAIN,
            self._main[number],
            not flags & _HAS_SIMHASH,
            self._simhash[number],
        )

    def _pages(self, evidence: array[int]) -> array[int]:
        """Return the page number of each row.

        Equal digests, and simhashes near the cluster's first one.
        """
        index = SimhashIndex(
            self._simhash[number] for number in evidence if self._flags[number] & _HAS_SIMHASH
        )
        by_main: dict[int, int] = {}
        pages = array("l")
        count = 0
        for number in evidence:
            flags = self._flags[number]
            page = by_main.get(self._main[number]) if flags & _HAS_MAIN else None
            if page is None and flags & _HAS_SIMHASH:
                page = index.find(self._simhash[number])
            if page is None and flags:
                page = count
                count += 1
                if flags & _HAS_SIMHASH:
                    index.add(self._simhash[number], page)
            if page is not None and flags & _HAS_MAIN:
                by_main.setdefault(self._main[number], page)
            pages.append(NO_EVIDENCE if page is None else page)
        return pages


class Site:
    """The URLs of one registrable domain, sorted, and the page that each of them shows."""

    __slots__ = (
        "contents",
        "declared",
        "domain",
        "folds",
        "locations",
        "pages",
        "redirects",
        "row_of",
        "semicolon_hosts",
        "sizes",
    )

    def __init__(
        self,
        domain: str,
        locations: list[Location],
        pages: array[int],
        declared: dict[int, Location],
        redirects: dict[int, Location],
        *,
        semicolon_hosts: frozenset[str] = frozenset(),
    ) -> None:
        self.domain = domain
        self.semicolon_hosts = semicolon_hosts
        """Hosts, with their ports, where ``;`` separates parameters."""
        self.locations = locations
        # Of the URLs that something points to, which are few: a table of all would take as much
        # as they do.
        wanted = {*declared.values(), *redirects.values()}
        self.row_of = (
            {location: row for row, location in enumerate(locations) if location in wanted}
            if wanted
            else {}
        )
        """Row of each URL that is declared or redirected to, where it was seen."""
        self.pages = pages
        """Page number of each row, :data:`NO_EVIDENCE` where nothing is known."""
        self.declared = declared
        """Declared canonical by row, where it is another URL."""
        self.redirects = redirects
        """Redirect target by row."""
        self.contents = max(self.pages, default=NO_EVIDENCE) + 1
        """Pages whose content was seen; those from this number on are but the unseen target of a
        redirect."""
        self._follow_redirects()
        count = max(self.pages, default=NO_EVIDENCE) + 1
        self.sizes = array("l", [0]) * count
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

    def _follow_redirects(self) -> None:
        """Give a redirecting URL the page of its target, known or not."""
        count = self.contents
        unseen: dict[Location, int] = {}
        for row in sorted(self.redirects):
            if self.pages[row] != NO_EVIDENCE:
                continue
            target = self.redirects[row]
            for _ in range(20):  # as many hops as Scrapy's REDIRECT_MAX_TIMES follows
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
                page = unseen.setdefault(target, count + len(unseen))
                if target_row is not None:
                    self.pages[target_row] = page
            self.pages[row] = page

    def is_sink(self, page: int) -> bool:
        """Whether so many URLs show the page that it says nothing about any of them."""
        return self.sizes[page] > SINK_SIZE

    def rows_by_page(self) -> dict[int, list[int]]:
        """Return the rows that show each page, in the order of their URLs."""
        rows: dict[int, list[int]] = {}
        for row, page in enumerate(self.pages):
            if page != NO_EVIDENCE:
                rows.setdefault(page, []).append(row)
        return rows


def site_of(domain: str, observations: Iterable[Observation]) -> Site:
    """Return the site that a domain's observations describe."""
    captures = Captures()
    for observation in observations:
        captures.add(observation)
    return captures.site(domain)


_PRIME = (1 << 64) - 59


def _short(digest: str) -> int:
    """Return 64 bits of a digest, the same for any hash seed.

    Two of a million different pages share them once in ten thousand crawls of that size.
    """
    try:
        if len(digest) == 40:  # noqa: PLR2004 - a hexadecimal SHA-1
            return int(digest, 16) % _PRIME
    except ValueError:
        pass
    return int.from_bytes(
        blake2b(digest.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
