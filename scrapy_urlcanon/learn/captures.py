"""What was captured of one domain, and the pages that it amounts to."""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.learn.location import Address, Location, host_of, locate
from scrapy_urlcanon.learn.orders import Reordered, are_reordered
from scrapy_urlcanon.learn.semicolons import semicolon_hosts
from scrapy_urlcanon.learn.simhash import SimhashIndex
from scrapy_urlcanon.learn.site import NO_EVIDENCE, Site
from scrapy_urlcanon.pages.same_page import SIMHASH_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping

    from scrapy_urlcanon.learn.observation import Observation

_HAS_MAIN, _HAS_SIMHASH, _IS_CANONICAL = 1, 2, 4

#: Bits that the simhash of a page and of that which it declares may differ in: pairs 5 to 8 bits
#: apart were one page in 96 to 100 % of the lines.
DECLARED_BITS = 8

_NEAR_TARGETS = 1_000
# Browsers, and the canonicalizer with them, take as many slashes before a host as there are.
_AUTHORITY = re.compile(r"://[/\\]*([^/?#\\]*)")


class Captures:
    """The observations of one domain, about 200 bytes each, in any order."""

    __slots__ = ("_canonical", "_ends", "_flags", "_main", "_redirect", "_simhash", "_urls")

    def __init__(self) -> None:
        # One after the other: a million objects would take half as much again, and leave the
        # memory in pieces when they go.
        self._urls, self._flags = bytearray(), bytearray()
        self._ends, self._main, self._simhash = array("Q"), array("Q"), array("Q")
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
        if observation.canonical == observation.url:
            flags |= _IS_CANONICAL
        elif observation.canonical:
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
        """Return what the captures amount to, and forget them: both would not fit side by side.

        A URL that the canonicalizer cannot parse is left out: no rule touches it.
        """
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
        located = _Locations(semicolons)
        evidence = array("l")
        seen: dict[Location, int] = {}
        declared: dict[int, Location] = {}
        redirects: dict[int, Location] = {}
        canonical: set[int] = set()
        spellings: dict[int, dict[bytes, int]] = {}
        # Variants, which stand side by side, declare the same.
        target_of = lru_cache(_NEAR_TARGETS)(locate)
        before, location = b"", None
        for number in order:
            text = url_of(number)
            if text != before:
                before, location = text, located.of(text)
            if location is None:
                continue
            row = seen.setdefault(location, len(locations))
            if row == len(locations):
                locations.append(location)
                evidence.append(number)
            else:
                if len(location.params) > 1 and (row in spellings or text != url_of(evidence[row])):
                    known = spellings.setdefault(row, {url_of(evidence[row]): evidence[row]})
                    known[text] = min(number, known.get(text, number), key=self._weight)
                evidence[row] = min(evidence[row], number, key=self._weight)
            if self._flags[number] & _IS_CANONICAL:
                canonical.add(row)
            for urls_of, targets in ((self._canonical, declared), (self._redirect, redirects)):
                target = target_of(urls_of[number], semicolons) if number in urls_of else None
                # Where captures disagree, any fixed choice will do.
                if target and target.address.scheme and target != location:
                    targets[row] = max(targets.get(row, target), target)
        reordered = [
            pair
            for row, known in spellings.items()
            for pair in self._reordered(host_of(locations[row].address), known)
        ]
        del located, urls, ends, order, url_of, spellings
        pages = self._pages(evidence)
        self._join_declared(pages, evidence, declared, seen)
        del seen
        return Site(domain, locations, pages, declared, redirects, canonical, semicolons, reordered)

    def _reordered(self, host: str, spellings: Mapping[bytes, int]) -> Iterator[Reordered]:
        """Yield the captures of one URL that have its parameters in two orders."""
        (first, one), *others = (
            (url.decode("utf-8", "surrogatepass"), number) for url, number in spellings.items()
        )
        for url, other in others:
            flags = self._flags[one] & self._flags[other]
            if flags & (_HAS_MAIN | _HAS_SIMHASH) and are_reordered(first, url):
                near = (self._simhash[one] ^ self._simhash[other]).bit_count() <= SIMHASH_BITS
                is_same = self._main[one] == self._main[other] if flags & _HAS_MAIN else False
                is_same = is_same or (near and bool(flags & _HAS_SIMHASH))
                yield Reordered(host, first, url, is_same)

    def _weight(self, number: int) -> tuple[bool, int, bool, int]:
        """Return what orders the captures of one URL: evidence first, then what was seen."""
        flags = self._flags[number]
        return (
            not flags & _HAS_MAIN,
            self._main[number],
            not flags & _HAS_SIMHASH,
            self._simhash[number],
        )

    def _pages(self, evidence: array[int]) -> array[int]:
        """Return the page number of each row.

        One page has equal digests, or simhashes near that of its first capture.
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
            if page is None and flags & (_HAS_MAIN | _HAS_SIMHASH):
                page = count
                count += 1
                if flags & _HAS_SIMHASH:
                    index.add(self._simhash[number], page)
            if page is not None and flags & _HAS_MAIN:
                by_main.setdefault(self._main[number], page)
            pages.append(NO_EVIDENCE if page is None else page)
        return pages

    def _join_declared(
        self,
        pages: array[int],
        evidence: array[int],
        declared: Mapping[int, Location],
        rows: Mapping[Location, int],
    ) -> None:
        """Take a page for that which it declares where their texts are nearly the same.

        What the site says and what the text says are two witnesses: each may say less.
        """
        same: dict[int, int] = {}

        def first(page: int) -> int:
            while page in same:
                page = same[page]
            return page

        for row in sorted(declared):
            other = rows.get(declared[row])
            if other is None or NO_EVIDENCE in {pages[row], pages[other]}:
                continue
            one, two = first(pages[row]), first(pages[other])
            numbers = evidence[row], evidence[other]
            if one != two and all(self._flags[number] & _HAS_SIMHASH for number in numbers):
                apart = self._simhash[numbers[0]] ^ self._simhash[numbers[1]]
                if apart.bit_count() <= DECLARED_BITS:
                    same[max(one, two)] = min(one, two)
        if same:
            left = sorted({first(page) for page in pages if page != NO_EVIDENCE})
            numbers_of = {page: number for number, page in enumerate(left)}
            for row, page in enumerate(pages):
                if page != NO_EVIDENCE:
                    pages[row] = numbers_of[first(page)]


class _Locations:
    """Takes the URLs of a domain apart; what several of them have is in memory once."""

    def __init__(self, semicolon_hosts: Container[str]) -> None:
        self._semicolon_hosts = semicolon_hosts
        self._addresses: dict[Address, Address] = {}
        self._params: dict[str, tuple[str]] = {}

    def of(self, url: bytes) -> Location | None:
        """Return a URL, taken apart; None where the canonicalizer cannot parse it."""
        text = url.decode("utf-8", "surrogatepass")
        address, params = locate(text, self._semicolon_hosts)
        if not address.scheme:
            return None
        shared = [self._params.setdefault(param, (param,)) for param in params]
        return Location(
            self._addresses.setdefault(address, address),
            shared[0] if len(shared) == 1 else tuple([param for (param,) in shared]),
        )


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


def domain_of(url: str) -> str:
    """Return the registrable domain of an absolute URL, or its host where it has none.

    >>> domain_of("http://www.example.co.uk:8080/x"), domain_of("http://10.0.0.1/")
    ('example.co.uk', '10.0.0.1')
    """
    found = _AUTHORITY.search(url)
    return _domain_of_authority(found[1] if found else "")


@lru_cache(maxsize=65536)
def _domain_of_authority(authority: str) -> str:
    address = locate(f"http://{authority}/").address
    return domain_or_host(host_of(address)) if address.scheme else authority


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
