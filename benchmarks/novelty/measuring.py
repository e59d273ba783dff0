"""Crawls each case in each order, and keeps the figures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.novelty.cases import BREADTH, LEARNED, ORDERS, SHAPE_LIMIT, SHARES, Trap
from benchmarks.novelty.crawling import PLUGIN, SHAPE, Task, crawl
from benchmarks.programs.program import CACHE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.programs.program import Program

POINTS = 100
"""The number of points of a curve."""


def program(each: Program, limit: int, orders: Iterable[str], runs: int) -> dict[str, Any]:
    """Return the curves of a program, for each order and run."""
    memory = CACHE / "responses" / f"{each.name}.sqlite"
    memory.parent.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    with each.started() as url, TemporaryDirectory() as folder:
        task = Task((url,), limit, responses=str(memory))
        for order in orders:
            settings = dict(ORDERS[order])
            if order == LEARNED:
                settings["URLCANON_RULES_FILES"] = [str(_rules(task, Path(folder)))]
            found[order] = [
                _figures(f"{each.title}, {order}", with_settings(task, settings), limit)
                for _ in range(runs)
            ]
    return {"title": each.title, "kind": each.kind, "limit": limit, "orders": found}


def _rules(task: Task, folder: Path) -> Path:
    """Return the rules learned from a crawl breadth first."""
    store, rules = folder / "store.sqlite", folder / "rules.toml"
    settings = {**ORDERS[BREADTH], **PLUGIN, "URLCANON_RECORD": str(store)}
    settings["URLCANON_PROFILES"] = False
    crawl(with_settings(task, settings))
    subprocess.run(
        [sys.executable, "-m", "scrapy", "urlcanon", "learn", str(store), "-o", str(rules)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if not rules.exists():
        rules.touch()
    return rules


def trap(each: Trap, seed: int, orders: Iterable[str]) -> dict[str, Any]:
    """Return how many pages of content each order reached on a generated site."""
    found = {}
    for order in orders:
        task = with_settings(_trap_task(each, seed), ORDERS[order])
        found[order] = _figures(f"{each.kind}, seed {seed}, {order}", task, each.limit)
    return {"kind": each.kind, "seed": seed, "limit": each.limit, "aim": each.aim, "orders": found}


def shape(kind: str, seed: int, orders: Iterable[str]) -> dict[str, Any]:
    """Return the words of news of each order after each share of the fetches."""
    found = {}
    for order in orders:
        task = Task((f"http://{kind}.example/",), SHAPE_LIMIT, sites=((f"{SHAPE}{kind}", seed),))
        title = f"{kind}, seed {seed}, {order}"
        figures = _figures(title, with_settings(task, ORDERS[order]), SHAPE_LIMIT)
        found[order] = [figures["curve"][share * POINTS // 100] for share in SHARES]
    return {"kind": kind, "seed": seed, "limit": SHAPE_LIMIT, "orders": found}


def _trap_task(each: Trap, seed: int) -> Task:
    if each.hosts > 1:
        return hosts_task(each.kind, seed, each.hosts, each.limit)
    return Task((f"http://{each.kind}.example/",), each.limit, sites=((each.kind, seed),))


def hosts_task(kind: str, seed: int, count: int, limit: int) -> Task:
    """Return a crawl of so many hosts."""
    starts = tuple(f"http://www.host{number:02}.example/" for number in range(count))
    return Task(starts, limit, sites=((kind, seed),) * count)


def with_settings(task: Task, settings: Mapping[str, Any]) -> Task:
    """Return *task* with other settings."""
    return Task(task.starts, task.limit, settings, task.sites, task.responses)


def _figures(title: str, task: Task, limit: int) -> dict[str, Any]:
    crawled = crawl(task)
    total = 0
    totals = [0]
    for words in crawled.news:
        total += words
        totals.append(total)
    last = len(totals) - 1
    curve = [totals[min(last, round(limit * each / POINTS))] for each in range(POINTS + 1)]
    content = crawled.content[-1] if crawled.content else 0
    print(
        f"{title}: {last:,} fetches, {total:,} words"
        f"{f', {content:,} pages of content' if content else ''}, {crawled.seconds:.0f} s",
        flush=True,
    )
    return {
        "fetches": last,
        "words": total,
        "content": content,
        "curve": curve,
        "cpu": round(crawled.cpu, 1),
        "seconds": round(crawled.seconds, 1),
        "finish": crawled.stats.get("finish_reason"),
    }
