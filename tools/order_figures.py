"""The table about the order of a crawl: how much news it has, compared with Scrapy's two orders."""

from __future__ import annotations

from statistics import geometric_mean, mean
from typing import TYPE_CHECKING, Any

from measured import ORDER, Row, results, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TITLES = {
    False: "real programs: wikis, repositories, forums, trackers, a shop, a database and others",
    True: "manuals of 200 fetches and more",
}
MANUAL = "documentation"
LEAST = {10: 0.85, 25: 0.95, 50: 0.95, 100: 0.95}
"""After so many per cent of the fetches, less than this of the better order is behind."""


def tables() -> Iterator[tuple[Path, Row, Iterable[Row]]]:
    """Yield the table: its page, its head and its rows."""
    head = ("", "crawls", "after 10 / 25 / 50 / 100 % of the fetches", "behind, in %")
    yield ORDER, head, means(results("novelty")["programs"].values())


def means(programs: Iterable[Any]) -> Iterator[Row]:
    """Yield for each kind of site the mean of what the order has of what the better one has."""
    kinds: dict[bool, list[list[float]]] = {is_manual: [] for is_manual in TITLES}
    for found in programs:
        orders = found["orders"]
        ratios = [
            news(orders["novelty"], part)
            / max(news(orders[name], part) for name in ("depth first", "breadth first"))
            for part in LEAST
        ]
        kinds[found["kind"] == MANUAL].append(ratios)
    for is_manual, rows in kinds.items():
        columns = list(zip(*rows, strict=True))
        behind = [
            mean(ratio < least for ratio in column)
            for column, least in zip(columns, LEAST.values(), strict=True)
        ]
        yield (
            TITLES[is_manual],
            str(len(rows)),
            " / ".join(f"{geometric_mean(column):.2f}" for column in columns),
            " / ".join(share(of, 0).removesuffix(" %") for of in behind),
        )


def news(runs: Iterable[Any], part: int) -> float:
    """Return how many words of news *runs* have after *part* per cent of the fetches."""
    return mean(run["curve"][part] for run in runs)
