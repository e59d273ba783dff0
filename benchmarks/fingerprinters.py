"""The fingerprinters that are compared, each as a crawl has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Spider
from scrapy.utils.test import get_crawler

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

SCRAPY = "Scrapy's default"
DISCARDER = "duplicate-url-discarder"


class Contestant(NamedTuple):
    """A fingerprinter to be measured."""

    name: str
    settings: dict[str, Any]

    def make(self) -> Callable[[Request], bytes]:
        """Return the method of a new fingerprinter, whose caches are empty."""
        crawler = get_crawler(Spider, {"TELNETCONSOLE_ENABLED": False, **self.settings})
        return crawler.request_fingerprinter.fingerprint


def parameters(count: int) -> list[str]:
    """Return names of parameters to drop, some of which stand in real URLs."""
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


def contestants(known_domains: list[str]) -> list[Contestant]:
    """Return all of them, Scrapy's default first.

    :param known_domains: domains of the URLs to come, each with rules of its own in the
        one that has rules for 50,000 domains.
    """
    few = {"*": {"drop_params": parameters(10)}}
    return [
        Contestant(SCRAPY, {}),
        Contestant(
            DISCARDER, {"REQUEST_FINGERPRINTER_CLASS": "duplicate_url_discarder.Fingerprinter"}
        ),
        ours("10 parameters, no domains", few),
        ours("5,000 parameters, no domains", {"*": {"drop_params": parameters(5000)}}),
        ours("10 parameters, 50,000 other domains", few | domains(50_000, [])),
        ours("10 parameters, 50,000 domains", few | domains(50_000, known_domains)),
        ours("preset aggressive", {}, "aggressive"),
    ]
