"""Observations of many sites, told apart by registrable domain."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_urlcanon.canonicalizer.registrable_domain import domain_or_host
from scrapy_urlcanon.learn.site import Captures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scrapy_urlcanon.learn.observation import Observation


def domain_of(url: str) -> str:
    """Return the registrable domain of an absolute URL, or its host where it has none.

    >>> domain_of("http://www.example.co.uk:8080/x"), domain_of("http://10.0.0.1/")
    ('example.co.uk', '10.0.0.1')
    """
    start = url.index("://") + 3
    for end, character in enumerate(url[start:], start):
        if character in "/?#":
            return _domain_of_authority(url[start:end])
    return _domain_of_authority(url[start:])


@lru_cache(maxsize=65536)
def _domain_of_authority(authority: str) -> str:
    host = authority.rpartition("@")[2].lower()
    host = host if host.endswith("]") else host.partition(":")[0]
    return domain_or_host(host)


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
