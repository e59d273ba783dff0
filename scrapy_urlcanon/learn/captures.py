"""Collects the observations of one domain, and groups their URLs by the page that they show."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_of
from scrapy_urlcanon.learn.held.contents import (
    HAS_MAIN,
    HAS_SIMHASH,
    IS_CANONICAL,
    IS_DATA,
    Contents,
    weight,
)
from scrapy_urlcanon.learn.held.locations import Collector
from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.held.runs import Run, Runs, give_back
from scrapy_urlcanon.learn.held.spellings import Spellings
from scrapy_urlcanon.learn.location import host_of, locate
from scrapy_urlcanon.learn.observation import is_page
from scrapy_urlcanon.learn.orders import Visited
from scrapy_urlcanon.learn.semicolons import semicolon_hosts
from scrapy_urlcanon.learn.site import Site
from scrapy_urlcanon.pages.signature import RAW

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable

    from scrapy_urlcanon.learn.location import Location
    from scrapy_urlcanon.learn.observation import Observation

_NUMBER = re.compile(r"\d+", re.ASCII)

_NEAR_TARGETS = 1_000


class Captures:
    """The observations of one domain, about 100 bytes each, in any order."""

    __slots__ = ("_runs", "_visited")

    def __init__(self) -> None:
        self._runs = Runs()
        self._visited: list[Visited] = []

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, observation: Observation) -> None:
        """Add a capture."""
        flags = main = simhash = 0
        if observation.has_content:
            if observation.main_sha1:
                flags |= HAS_MAIN
                main = _short(observation.main_sha1) ^ observation.title
            if observation.simhash64 is not None:
                flags |= HAS_SIMHASH
                # So near simhashes stay near if the titles are equal, and become far if they
                # differ.
                simhash = observation.simhash64 ^ observation.title
            if observation.text_sha1.startswith(RAW):
                flags |= IS_DATA
        canonical = observation.canonical
        if canonical == observation.url:
            flags |= IS_CANONICAL
            canonical = ""
        url = observation.url.encode("utf-8", "surrogatepass")
        redirect = "" if _goes_on(observation) else observation.redirect
        self._runs.add(url, (flags, main, simhash), canonical, redirect)
        if observation.is_steady is not None:
            origin, path, _ = locate(observation.url)
            self._visited.append(Visited(host_of(origin), path, observation.is_steady))

    def extend(self, other: Captures) -> None:
        """Add the captures of another."""
        self._runs.extend(other._runs)
        self._visited += other._visited

    def site(self, domain: str) -> Site:
        """Return the site that the captures describe, and free them: both would not fit in memory.

        A URL that the canonicalizer cannot parse is left out: no rule touches it.
        """
        collected = Collector(len(self))
        runs, self._runs = self._runs, Runs()
        semicolons = semicolon_hosts(runs.with_semicolons())
        contents = Contents()
        declared: dict[int, Location] = {}
        redirects: dict[int, Location] = {}
        canonical: set[int] = set()
        spellings = Spellings()
        # Variants of a URL are neighbours in this order, and mostly declare the same.
        target_of = lru_cache(_NEAR_TARGETS)(locate)
        before, location, row, count = b"", None, NO_ROW, 0
        for text, run, number in runs.in_order():
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
                if shown != known and weight(shown) < weight(known):
                    contents[row] = shown
            if shown[0] & IS_CANONICAL:
                canonical.add(row)
            if number in run.canonical:
                _point(declared, row, location, target_of(run.canonical[number], semicolons))
            if number in run.redirect:
                _point(redirects, row, location, target_of(run.redirect[number], semicolons))
        locations = collected.locations
        reordered = list(spellings.reordered(locations))
        # The last run is large: free it.
        run = Run()
        del collected, spellings
        pages = contents.pages()
        give_back(len(pages))
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
            telling=contents.with_flag(HAS_SIMHASH, pages),
            data=contents.with_flag(IS_DATA, pages),
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
