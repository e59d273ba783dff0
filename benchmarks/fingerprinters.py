"""The fingerprinters that are compared, each as in a crawl."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any, NamedTuple

import ada_url
from scrapy import Spider
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

SCRAPY = "Scrapy's default"
OURS = "scrapy-urlcanon"
FLOOR = "the floor: C++ parse, SHA-1"
DISCARDER = "duplicate-url-discarder"


class Contestant(NamedTuple):
    """A fingerprinter to be measured."""

    name: str
    settings: dict[str, Any]

    def make(self) -> Callable[[Request], bytes]:
        """Return the method of a new fingerprinter, whose caches are empty."""
        crawler = get_crawler(Spider, {"TELNETCONSOLE_ENABLED": False, **self.settings})
        return crawler.request_fingerprinter.fingerprint


class Library(NamedTuple):
    """A function from URL to URL, whose result is hashed as a fingerprint is."""

    name: str
    path: str

    def make(self) -> Callable[[Request], bytes]:
        """Return a function that hashes the result for the URL of a request."""
        canonical = load_object(self.path)

        def fingerprint(request: Request) -> bytes:
            try:
                url = canonical(request.url) or ""
            except ValueError:
                # Not every library takes every URL.
                url = request.url
            return sha1(url.encode()).digest()

        return fingerprint


def parsed(url: str) -> str:
    """Return *url* parsed and written by the fastest parser."""
    return ada_url.URL(url).href


def learned(count: int) -> dict[str, dict[str, Any]]:
    """Return rules as in a learned file, this many of each kind for one host."""
    return {
        "www.shop.example": {
            "rewrite_path": [
                [f"/section{n}/{{slug}}-{{id:digits}}.html", f"/section{n}/{{id}}"]
                for n in range(count)
            ],
            "param_case": "lower",
            "query_separator": ";",
        },
        **{f"www.shop.example/section{n}/": {"drop_params": ["view"]} for n in range(count)},
        **{f"www.shop.example?mode={n}": {"drop_params": ["sort"]} for n in range(count)},
    }


def parameters(count: int) -> list[str]:
    """Return names of parameters to drop, some of which are in real URLs."""
    usual = ["ref", "referrer", "trk", "sid", "sessionid", "PHPSESSID", "jsessionid", "share"]
    usual += ["back", "returnto"]
    return (usual + [f"param{number}" for number in range(count)])[:count]


def domains(count: int, known: list[str]) -> dict[str, dict[str, Any]]:
    """Return rules for *count* domains, *known* ones first."""
    names = [*known, *(f"domain{number}.example" for number in range(count))][:count]
    return {name: {"drop_params": [f"own{number}"]} for number, name in enumerate(names)}


def ours(name: str, rules: dict[str, dict[str, Any]], preset: str = "safe") -> Contestant:
    """Return our fingerprinter under *rules*."""
    return Contestant(
        name,
        {
            "REQUEST_FINGERPRINTER_CLASS": "scrapy_urlcanon.RequestFingerprinter",
            "URLCANON_PRESET": preset,
            "URLCANON_RULES": rules,
        },
    )


def contestants(known_domains: list[str]) -> list[Contestant | Library]:
    """Return all contestants, Scrapy's default first.

    :param known_domains: domains of the URLs to come, each with rules of its own in the
        one that has rules for 50,000 domains.
    """
    few = {"*": {"drop_params": parameters(10)}}
    return [
        Contestant(SCRAPY, {}),
        Contestant(
            DISCARDER, {"REQUEST_FINGERPRINTER_CLASS": "duplicate_url_discarder.Fingerprinter"}
        ),
        Library("w3lib", "w3lib.url.canonicalize_url"),
        Library("url-normalize", "url_normalize.url_normalize"),
        Library("courlan", "courlan.clean_url"),
        Library(FLOOR, "benchmarks.fingerprinters.parsed"),
        ours("10 parameters, no domains", few),
        ours("5,000 parameters, no domains", {"*": {"drop_params": parameters(5000)}}),
        ours("10 parameters, 50,000 domains", few | domains(50_000, known_domains)),
        ours("preset aggressive", {}, "aggressive"),
    ]


def of_learned_rules() -> list[Contestant | Library]:
    """Return the contestants for a host with learned rules."""
    return [
        Contestant(SCRAPY, {}),
        ours("10 learned rules of each kind", learned(10)),
        ours("100 learned rules of each kind", learned(100)),
    ]
