"""Collects the observations of one domain, and groups their URLs by the page that they show."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect, bisect_left
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, pairwise
from typing import TYPE_CHECKING, TypeAlias

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.learn.held.locations import Collector
from scrapy_urlcanon.learn.held.row_index import NO_ROW, RowIndex
from scrapy_urlcanon.learn.location import host_of, locate
from scrapy_urlcanon.learn.observation import is_page
from scrapy_urlcanon.learn.orders import Reordered, Visited, are_reordered
from scrapy_urlcanon.learn.semicolons import semicolon_hosts
from scrapy_urlcanon.learn.simhash import SimhashIndex
from scrapy_urlcanon.learn.site import NO_EVIDENCE, Site
from scrapy_urlcanon.pages.same_page import SIMHASH_BITS
from scrapy_urlcanon.pages.signature import RAW

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping

    from scrapy_urlcanon.learn.held.locations import Locations
    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.observation import Observation

_HAS_MAIN, _HAS_SIMHASH, _IS_CANONICAL, _IS_DATA = 1, 2, 4, 8

DECLARED_BITS = 8
"""In how many bits the simhashes of a page and of its declared canonical may differ. Pairs 5 to 8
bits apart had 96 to 100 % of their lines in common."""

_NUMBER = re.compile(r"\d+", re.ASCII)

MAX_RUN = 250_000
"""How many captures are sorted at once."""

# How many URLs of each run are sampled to choose the borders between runs.
_SAMPLES = 50

_NEAR_TARGETS = 1_000

Shown: TypeAlias = "tuple[int, int, int]"
"""What a capture showed: flags for what is known, 64 bits of the digest, and the simhash."""


class Captures:
    """The observations of one domain, about 100 bytes each, in any order."""

    __slots__ = ("_runs", "_visited")

    def __init__(self) -> None:
        self._runs = [_Run()]
        self._visited: list[Visited] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, observation: Observation) -> None:
        """Add a capture."""
        flags = main = simhash = 0
        if observation.has_content:
            if observation.main_sha1:
                flags |= _HAS_MAIN
                main = _short(observation.main_sha1) ^ observation.title
            if observation.simhash64 is not None:
                flags |= _HAS_SIMHASH
                # So near simhashes stay near if the titles are equal, and become far if they
                # differ.
                simhash = observation.simhash64 ^ observation.title
            if observation.text_sha1.startswith(RAW):
                flags |= _IS_DATA
        canonical = observation.canonical
        if canonical == observation.url:
            flags |= _IS_CANONICAL
            canonical = ""
        run = self._runs[-1]
        if len(run) >= MAX_RUN:
            run = _Run()
            self._runs.append(run)
        url = observation.url.encode("utf-8", "surrogatepass")
        redirect = "" if _goes_on(observation) else observation.redirect
        run.add(url, (flags, main, simhash), canonical, redirect)
        if observation.is_steady is not None:
            origin, path, _ = locate(observation.url)
            self._visited.append(Visited(host_of(origin), path, observation.is_steady))

    def extend(self, other: Captures) -> None:
        """Add the captures of another."""
        for run in other._runs:
            if len(self._runs[-1]) + len(run) <= MAX_RUN:
                self._runs[-1].extend(run)
            else:
                self._runs.append(run)
        self._visited += other._visited

    def site(self, domain: str) -> Site:
        """Return the site that the captures describe, and free them: both would not fit in memory.

        A URL that the canonicalizer cannot parse is left out: no rule touches it.
        """
        collected = Collector(len(self))
        runs, self._runs = self._runs, [_Run()]
        semicolons = semicolon_hosts(chain.from_iterable(map(_with_semicolons, runs)))
        contents = _Contents()
        declared: dict[int, Location] = {}
        redirects: dict[int, Location] = {}
        canonical: set[int] = set()
        spellings = _Spellings()
        # Variants of a URL are neighbours in this order, and mostly declare the same.
        target_of = lru_cache(_NEAR_TARGETS)(locate)
        before, location, row, count = b"", None, NO_ROW, 0
        for text, run, number in _in_order(runs):
            is_same_text = text == before
            if not is_same_text:
                before, location = text, _location_of(text, semicolons)
                row = NO_ROW if location is None else collected.add(location)
            if location is None:
                continue
            shown = run.contents[number]
            if row == count:
                count += 1
                contents.append(shown)
                spellings.begin(row, text, location)
            else:
                known = contents[row]
                if not is_same_text or row in spellings.several:
                    spellings.add(row, location, text, shown, known)
                if shown != known and _weight(shown) < _weight(known):
                    contents[row] = shown
            if shown[0] & _IS_CANONICAL:
                canonical.add(row)
            if number in run.canonical:
                _point(declared, row, location, target_of(run.canonical[number], semicolons))
            if number in run.redirect:
                _point(redirects, row, location, target_of(run.redirect[number], semicolons))
        locations = collected.locations
        reordered = list(spellings.reordered(locations))
        # The last run is large: free it.
        run = _Run()
        del collected, spellings
        pages = contents.pages()
        contents.join_declared(pages, declared, locations)
        return Site(
            domain,
            locations,
            pages,
            declared=declared,
            redirects=redirects,
            canonical=canonical,
            semicolon_hosts=semicolons,
            reordered=reordered,
            visited=self._visited,
            telling=contents.with_flag(_HAS_SIMHASH, pages),
            data=contents.with_flag(_IS_DATA, pages),
            simhashes=contents.simhashes(pages),
        )


def _goes_on(observation: Observation) -> bool:
    """Tell whether a page refreshes to a URL that differs from its own in numbers only.

    A slide show does so, with ``<meta http-equiv="refresh">``. That is no redirect of a page that
    moved: each slide has a text of its own, though no spider got it.

    >>> from scrapy_urlcanon.learn.observation import Observation
    >>> targets = "http://a.example/4?slides", "http://a.example/moved"
    >>> [_goes_on(Observation("http://a.example/3?slides", redirect=it)) for it in targets]
    [True, False]
    """
    url, target = observation.url, observation.redirect
    is_refresh = bool(target) and is_page(observation.status)
    return is_refresh and _NUMBER.sub("0", url) == _NUMBER.sub("0", target)


def _point(targets: dict[int, Location], row: int, location: Location, target: Location) -> None:
    """Note the URL that a row points to, unless it is the row's own URL or cannot be parsed."""
    if target.origin.scheme and target != location:
        # If captures disagree, any fixed choice will do.
        targets[row] = max(targets.get(row, target), target)


class _Contents:
    """What captures showed, 17 bytes each."""

    __slots__ = ("_flags", "_main", "_simhash")

    def __init__(self) -> None:
        # In arrays: a million objects would take many times the memory, and fragment it when freed.
        self._flags = bytearray()
        self._main, self._simhash = array("Q"), array("Q")

    def __getitem__(self, number: int) -> Shown:
        return self._flags[number], self._main[number], self._simhash[number]

    def __iter__(self) -> Iterator[Shown]:
        return zip(self._flags, self._main, self._simhash, strict=True)

    def __setitem__(self, number: int, shown: Shown) -> None:
        self._flags[number], self._main[number], self._simhash[number] = shown

    def append(self, shown: Shown) -> None:
        flags, main, simhash = shown
        self._flags.append(flags)
        self._main.append(main)
        self._simhash.append(simhash)

    def extend(self, other: _Contents) -> None:
        self._flags += other._flags
        self._main += other._main
        self._simhash += other._simhash

    def pages(self) -> array[int]:
        """Return the page number of each capture.

        Captures are of one page if their digests are equal, or if their simhashes are near that of
        its first capture.
        """
        near = SimhashIndex(simhash for flags, _, simhash in self if flags & _HAS_SIMHASH)
        # The first row of each digest.
        equal: RowIndex[int] = RowIndex(self._main, len(self._main))
        pages = array("i")
        count = 0
        for row, (flags, main, simhash) in enumerate(self):
            first = equal.setdefault(main, row) if flags & _HAS_MAIN else row
            page = None if first == row else pages[first]
            if page is None and flags & (_HAS_MAIN | _HAS_SIMHASH):
                page = near.setdefault(simhash, count) if flags & _HAS_SIMHASH else count
                count += page == count
            pages.append(NO_EVIDENCE if page is None else page)
        del near, equal
        if len(pages) > MAX_RUN:
            _give_back()
        return pages

    def with_flag(self, flag: int, pages: array[int]) -> bytearray:
        """Return for each page whether any capture of it had a flag."""
        found = bytearray(max(pages, default=NO_EVIDENCE) + 1)
        for page, flags in zip(pages, self._flags, strict=True):
            if flags & flag:
                found[page] = True
        return found

    def simhashes(self, pages: array[int]) -> array[int]:
        """Return for each page the simhash of a capture that has one; 0 where none has."""
        found = array("Q", [0]) * (max(pages, default=NO_EVIDENCE) + 1)
        for page, flags, simhash in zip(pages, self._flags, self._simhash, strict=True):
            if flags & _HAS_SIMHASH and not found[page]:
                found[page] = simhash
        return found

    def join_declared(
        self, pages: array[int], declared: Mapping[int, Location], locations: Locations
    ) -> None:
        """Join a page with the canonical URL that it declares if their texts are nearly the same.

        Declaration and text support each other, so less similarity is asked for than otherwise.
        """
        same: dict[int, int] = {}

        def first(page: int) -> int:
            while page in same:
                page = same[page]
            return page

        for row in sorted(declared):
            other = locations.find(declared[row])
            if other == NO_ROW or NO_EVIDENCE in {pages[row], pages[other]}:
                continue
            one, two = first(pages[row]), first(pages[other])
            if one != two and self._flags[row] & self._flags[other] & _HAS_SIMHASH:
                apart = self._simhash[row] ^ self._simhash[other]
                if apart.bit_count() <= DECLARED_BITS:
                    same[max(one, two)] = min(one, two)
        if same:
            left = sorted({first(page) for page in pages if page != NO_EVIDENCE})
            numbers_of = {page: number for number, page in enumerate(left)}
            for row, page in enumerate(pages):
                if page != NO_EVIDENCE:
                    pages[row] = numbers_of[first(page)]


class _Run:
    """Some captures, in any order."""

    __slots__ = ("_ends", "canonical", "contents", "redirect", "urls")

    def __init__(self) -> None:
        self.urls = bytearray()
        """The URLs, joined without separators."""
        self._ends = array("Q")
        self.contents = _Contents()
        self.canonical: dict[int, str] = {}
        """The canonical URL that a capture declares, by number, unless it is its own URL."""
        self.redirect: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def each_url(self) -> list[bytes]:
        """Return the URLs of all captures: faster than one by one."""
        urls = bytes(self.urls)
        return [urls[start:end] for start, end in pairwise(chain((0,), self._ends))]

    def add(self, url: bytes, shown: Shown, canonical: str, redirect: str) -> None:
        """Add a capture."""
        if canonical:
            self.canonical[len(self)] = canonical
        if redirect:
            self.redirect[len(self)] = redirect
        self.urls += url
        self._ends.append(len(self.urls))
        self.contents.append(shown)

    def extend(self, other: _Run) -> None:
        """Add the captures of another."""
        start, length = len(self), len(self.urls)
        self.urls += other.urls
        self._ends.extend(length + end for end in other._ends)
        self.contents.extend(other.contents)
        self.canonical.update((start + number, url) for number, url in other.canonical.items())
        self.redirect.update((start + number, url) for number, url in other.redirect.items())


def _with_semicolons(run: _Run) -> Iterator[str]:
    """Yield the URLs of a run if any of them has a semicolon."""
    if b";" in run.urls:
        for url in run.each_url():
            yield url.decode("utf-8", "surrogatepass")


def _in_order(runs: list[_Run]) -> Iterator[tuple[bytes, _Run, int]]:
    """Yield each capture as URL, run and number, sorted by URL; free the runs on the way.

    The captures are first split into runs by ranges of URLs, and each run is sorted by itself.
    Sorting ten million at once would take more memory than all else that is known of them, and miss
    the processor's cache nearly every time.
    """
    if len(runs) > 1:
        runs = _apart(runs)
    runs.reverse()
    while runs:
        run = runs.pop()
        urls = run.each_url()
        # UTF-8 bytes sort as the text does. The numbers are in an array, since as objects they
        # would take 32 bytes each.
        for number in array("l", sorted(range(len(run)), key=urls.__getitem__)):
            yield urls[number], run, number
        if runs:
            del run, urls
            _give_back()


def _give_back() -> None:
    """Return freed memory to the operating system, if the C library does not.

    glibc keeps freed blocks of up to 32 MB, such as those of runs, for blocks of the same size,
    which are not asked for again: it kept 0.9 GB of ten million captures.
    """
    if sys.platform == "linux":
        from ctypes import CDLL  # noqa: PLC0415 - for large domains only

        with suppress(AttributeError):  # as with musl
            CDLL(None).malloc_trim(0)


def _apart(runs: list[_Run]) -> list[_Run]:
    """Return the captures in new runs, each of one range of URLs, in ascending order."""
    sample = sorted(chain.from_iterable(run.each_url()[:: MAX_RUN // _SAMPLES] for run in runs))
    borders = sample[_SAMPLES::_SAMPLES]
    parts = [_Run() for _ in range(len(borders) + 1)]
    runs.reverse()
    while runs:
        run = runs.pop()
        for number, (url, shown) in enumerate(zip(run.each_url(), run.contents, strict=True)):
            canonical, redirect = run.canonical.get(number, ""), run.redirect.get(number, "")
            parts[bisect(borders, url)].add(url, shown, canonical, redirect)
    return parts


class _Spellings:
    """The spellings of URLs that were seen with their parameters in several orders."""

    def __init__(self) -> None:
        self.several: dict[int, dict[bytes, Shown]] = {}
        """By row, for URLs with several spellings: what was captured under each."""
        # The first spelling of each URL, if it is not the normal form.
        self._rows, self._ends, self._urls = array("Q"), array("Q"), bytearray()

    def begin(self, row: int, text: bytes, location: Location) -> None:
        """Note the first spelling of a URL. Rows must come in ascending order."""
        if len(location.params) > 1 and text != _normal(location):
            self._rows.append(row)
            self._urls += text
            self._ends.append(len(self._urls))

    def add(self, row: int, location: Location, text: bytes, shown: Shown, before: Shown) -> None:
        """Add what was captured under a spelling, which may be the first one again.

        :param before: what was captured under the first spelling, if this is the second.
        """
        of_row = self.several.get(row)
        if of_row is None:
            if len(location.params) < 2:  # noqa: PLR2004 - an order takes two
                return
            of_row = self.several[row] = {self._first(row, location): before}
        of_row[text] = min(shown, of_row.get(text, shown), key=_weight)

    def reordered(self, locations: Locations) -> Iterator[Reordered]:
        """Yield the captures of one URL that have its parameters in two orders."""
        for row, spellings in self.several.items():
            yield from _reordered(host_of(locations[row].origin), spellings)

    def _first(self, row: int, location: Location) -> bytes:
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            return _normal(location)
        return bytes(self._urls[self._ends[place - 1] if place else 0 : self._ends[place]])


def _normal(location: Location) -> bytes:
    """Return the normal form of a URL that has parameters."""
    (scheme, host), path, params = location
    return f"{scheme}://{host}{path}?{'&'.join(params)}".encode("utf-8", "surrogatepass")


def _reordered(host: str, spellings: Mapping[bytes, Shown]) -> Iterator[Reordered]:
    """Yield the captures of one URL that have its parameters in two orders."""
    (first, one), *others = (
        (url.decode("utf-8", "surrogatepass"), shown) for url, shown in spellings.items()
    )
    for url, other in others:
        flags = one[0] & other[0]
        if flags & (_HAS_MAIN | _HAS_SIMHASH) and are_reordered(first, url):
            near = (one[2] ^ other[2]).bit_count() <= SIMHASH_BITS
            is_same = one[1] == other[1] if flags & _HAS_MAIN else False
            is_same = is_same or (near and bool(flags & _HAS_SIMHASH))
            yield Reordered(host, first, url, is_same)


def _weight(shown: Shown) -> tuple[bool, int, bool, int]:
    """Return a sort key for the captures of one URL: those with evidence first."""
    flags, main, simhash = shown
    return not flags & _HAS_MAIN, main, not flags & _HAS_SIMHASH, simhash


def _location_of(url: bytes, semicolon_hosts: Container[str]) -> Location | None:
    """Return the location of a URL; None if the canonicalizer cannot parse it."""
    location = locate(url.decode("utf-8", "surrogatepass"), semicolon_hosts)
    return location if location.origin.scheme else None


def site_of(domain: str, observations: Iterable[Observation]) -> Site:
    """Return the site that a domain's observations describe."""
    captures = Captures()
    for observation in observations:
        captures.add(observation)
    return captures.site(domain)


_PRIME = (1 << 64) - 59


def _short(digest: str) -> int:
    """Return 64 bits of a digest, the same for any hash seed.

    Two of a million different pages share them in one of ten thousand crawls of that size.
    """
    try:
        if len(digest) == 40:  # noqa: PLR2004 - a hexadecimal SHA-1
            return int(digest, 16) % _PRIME
    except ValueError:
        pass
    return int.from_bytes(
        blake2b(digest.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def by_domain(
    observations: Iterable[Observation], domains: Collection[str] | None = None
) -> dict[str, Captures]:
    """Return the captures of each domain, or of those domains that are given."""
    found: dict[str, Captures] = {}
    for observation in observations:
        domain = domain_of(observation.url)
        captures = found.get(domain)
        if captures is None:
            if domains is not None and domain not in domains:
                continue
            captures = found[domain] = Captures()
        captures.add(observation)
    return found
