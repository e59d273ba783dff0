"""The cases: programs and generated sites, each with its number of fetches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.novelty.crawling import BREADTH_FIRST, PLUGIN

if TYPE_CHECKING:
    from collections.abc import Mapping

NOVELTY: Mapping[str, Any] = {
    **PLUGIN,
    "URLCANON_ORDER": "novelty",
    # What is known of programs is measured by a benchmark of its own.
    "URLCANON_PROFILES": False,
}
DEPTH, BREADTH, NEWS, LEARNED = "depth first", "breadth first", "novelty", "novelty and rules"
ORDERS: dict[str, Mapping[str, Any]] = {
    DEPTH: {},
    BREADTH: BREADTH_FIRST,
    NEWS: NOVELTY,
    LEARNED: NOVELTY,
}
"""The settings of each order; the first two are Scrapy's own, without the plugin."""

PROGRAMS = {
    "mediawiki": 2000,
    "dokuwiki": 1000,
    "wordpress": 1000,
    "oscar": 1000,
    "cgit": 1000,
    "roundup": 1000,
    "apache": 400,
    "trac": 1000,
    "moinmoin": 1000,
    "machina": 1000,
    "gitweb": 1000,
    "hyperkitty": 800,
    "klaus": 1000,
    "fossil": 1000,
    "mhonarc": 600,
    "hgweb": 1000,
    "datasette": 600,
    "ikiwiki-html": 600,
    "cmake-manual": 600,
    "postgresql-manual": 600,
    "django-manual": 500,
    "apache-manual": 600,
    "boost-manual": 600,
    "git-manual": 200,
}
"""The number of fetches of each program."""
UNSEEN = frozenset({"mhonarc"})
"""Programs that had no part in the development of the order."""


@dataclass(frozen=True)
class Trap:
    """A generated site, and the aim for its order."""

    kind: str
    limit: int
    aim: int | None
    """The least number of pages of content; None for as many as breadth first."""
    hosts: int = 1


TRAPS = (
    Trap("finder", 300, 280),
    Trap("shop", 460, 277),
    Trap("doors", 420, 349),
    Trap("calendar", 420, 349),
    Trap("even", 1500, None),
    Trap("late", 2500, 349),
    Trap("several", 1700, None),
    Trap("hosts", 8000, None, hosts=50),
)
SEEDS = (1, 2, 101, 102)

SHAPE_LIMIT = 400
"""The number of fetches of each generated site of a common shape."""
SHAPE_SEEDS = (1, 2, 3, 4, 5)
SHARES = (10, 25, 50, 100)
"""The shares of the fetches, in per cent, after which the orders are compared."""
