"""The URLs that are fingerprinted: real ones, a stream as in a crawl, new hosts only."""

from __future__ import annotations

import gzip
import random
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request

from scrapy_urlcanon.canonicalizer.registrable_domain import registrable_domain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOST = re.compile(r"https?://([a-z0-9.\-]+\.[a-z]+)/")
_LINKS_PER_PAGE = 40
_LINKS_OF_TEMPLATE = 25
_SITES_AT_A_TIME = 16
_PAGES_PER_SITE = 60


class Workload(NamedTuple):
    """URLs to fingerprint, in order; no URL is in two rounds."""

    name: str
    rounds: list[list[str]]


def read_corpus(path: Path) -> list[str]:
    """Return the distinct URLs of the corpus *path*, in the form of a request's."""
    urls = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            # What makes no request is left out.
            with suppress(ValueError):
                urls[Request(line.rstrip("\n")).url] = None
    return list(urls)


def domains_of(corpus: list[str], count: int) -> list[str]:
    """Return *count* registrable domains of the corpus, spread over all of them."""
    hosts = {match[1] for url in corpus if (match := _HOST.match(url))}
    domains = sorted({domain for host in hosts if (domain := registrable_domain(host))})
    return domains[:: len(domains) // count][:count]


def workloads(corpus: list[str], size: int, rounds: int) -> list[Workload]:
    """Return the workloads, with at most *size* URLs of each kind in each round."""
    shuffled = random.Random(1).sample(corpus, len(corpus))
    with_query = [url for url in shuffled if "?" in url]
    # Sites of their own for each round, whose pages are linked again and again.
    stream = [list(_stream(_sites(corpus)[n::rounds], size, n)) for n in range(rounds)]
    return [
        Workload("unique", _split(shuffled, size, rounds)),
        Workload("with a query", _split(with_query, size, rounds)),
        Workload("stream", stream),
        Workload("new hosts", _split(list(_new_hosts(shuffled)), size, rounds)),
    ]


def of_learned_rules(size: int, rounds: int) -> Workload:
    """Return URLs of a host with learned rules, half of which the rules change."""
    urls = [
        f"http://www.shop.example/section{number % 100}/some-thing-{number}"
        + (".html", f".html?View={number % 7}", f"?mode={number % 100}&sort=a;b={number}", "")[
            number % 4
        ]
        for number in range(size * rounds)
    ]
    return Workload("learned rules", _split(urls, size, rounds))


def _split(urls: list[str], size: int, rounds: int) -> list[list[str]]:
    """Return *rounds* disjoint lists of at most *size* of *urls*."""
    size = min(size, len(urls) // rounds)
    return [urls[number * size : (number + 1) * size] for number in range(rounds)]


def _stream(sites: list[list[str]], size: int, seed: int) -> Iterator[str]:
    """Return the links of the pages of a crawl, page by page.

    A few sites are crawled at a time, in turn. Each page has the links of its site's template,
    and links to other pages of the site, more often to those near the front page.
    """
    choose = random.Random(2 + seed)
    current: list[tuple[list[str], int]] = []
    made = 0
    while made < size:
        while len(current) < _SITES_AT_A_TIME:
            current.append((choose.choice(sites), _PAGES_PER_SITE))
        at = choose.randrange(len(current))
        site, pages_left = current[at]
        current[at] = (site, pages_left - 1)
        if pages_left == 1:
            del current[at]
        yield from site[:_LINKS_OF_TEMPLATE]
        others = _LINKS_PER_PAGE - _LINKS_OF_TEMPLATE
        yield from (site[int(len(site) * choose.random() ** 2)] for _ in range(others))
        made += _LINKS_PER_PAGE


def _sites(corpus: list[str]) -> list[list[str]]:
    """Return the URLs of each host that has at least some pages."""
    by_host: dict[str, list[str]] = {}
    for url in corpus:
        by_host.setdefault(url.split("/", 3)[2], []).append(url)
    return [urls for urls in by_host.values() if len(urls) > 2 * _LINKS_PER_PAGE]


def _new_hosts(urls: list[str]) -> Iterator[str]:
    """Return *urls*, each on a host of its own."""
    for number, url in enumerate(urls):
        scheme, _, host_and_path = url.partition("://")
        yield f"{scheme}://www.site{number}.{host_and_path.removeprefix('www.')}"
