"""Observations of many sites, told apart by registrable domain."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.site import Captures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_urlcanon.learn.observation import Observation


@lru_cache(maxsize=1)
def _extractor():
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=65536)
def domain_of_authority(authority: str) -> str:
    host = authority.rpartition("@")[2].lower()
    host = host if host.endswith("]") else host.partition(":")[0]
    found = _extractor().extract_str(host)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else host


def by_domain(observations: Iterable[Observation]) -> dict[str, Captures]:
    """Return the captures of each domain."""
    found: dict[str, Captures] = {}
    for observation in observations:
        url = observation.url
        authority = url[url.index("://") + 3 :].partition("/")[0].partition("?")[0].partition("#")[0]
        domain = domain_of_authority(authority)
        captures = found.get(domain)
        if captures is None:
            captures = found[domain] = Captures()
        captures.add(observation)
    return found
