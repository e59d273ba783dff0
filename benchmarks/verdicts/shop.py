"""Learns rules of the example's shop three times, with a visit counter in its footer."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from loopback import Request as LoopbackRequest
from scrapy.responsetypes import responsetypes
from shop_crawler.spiders.shop import ShopSpider
from shop_site import respond

from benchmarks.verdicts import readings
from benchmarks.verdicts.crawling import PLUGIN, Server, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Request
    from scrapy.http import Response

TIMES = 3
AUDIT = 0.01
_LIMIT = 20_000


class CountingShop:
    """The shop with a counter of served pages on each page."""

    def __init__(self) -> None:
        self.visits = 0

    def respond(self, request: Request) -> Response:
        """Answer *request*."""
        self.visits += 1
        parts = urlsplit(request.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        answer = respond(
            LoopbackRequest(request.method, parts.scheme, parts.netloc, target, headers={})
        )
        headers = dict(answer.headers)
        counter = f"<p>Visit: {self.visits}</p></footer>".encode()
        body = answer.body.replace(b"</footer>", counter)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        return kind(request.url, answer.status, headers, body)


@dataclass
class Round:
    """One crawl, and what was learned from it."""

    fetches: int
    pages: int
    suspended: list[str]
    text: str
    """The file of rules that was learned."""
    rules: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = tomllib.loads(self.text)

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return vars(self)


class _Spider(ShopSpider):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.got: set[str] = set()

    def parse(self, response: Response) -> Any:
        for each in super().parse(response):
            if isinstance(each, dict):
                self.got.add(each["page_id"])
            else:
                yield each


async def learned(directory: Path, times: int = TIMES) -> list[Round]:
    """Crawl the shop and learn, then again under the learned rules, so many *times*."""
    shop = CountingShop()
    rules: list[str] = []
    rounds = []
    for number in range(times):
        store, file = directory / f"{number}.sqlite", directory / f"{number}.toml"
        settings = {
            **PLUGIN,
            "URLCANON_RULES_FILES": rules,
            "URLCANON_RECORD": str(store),
            "URLCANON_AUDIT": AUDIT,
        }
        server = Server(shop, _LIMIT)
        crawled = await run(_Spider, server, settings)
        _learn(store, file)
        off = sorted(map(str, readings.suspended(crawled.stats)))
        text = file.read_text(encoding="utf-8")
        rounds.append(Round(len(server.hits), len(crawled.got), off, text))
        rules = [str(file)]
    return rounds


def _learn(store: Path, file: Path) -> None:
    command = [sys.executable, "-m", "scrapy", "urlcanon", "learn", store.name, "-o", file.name]
    paths = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        command,
        cwd=store.parent,
        env={**os.environ, "PYTHONPATH": paths, "SCRAPY_SETTINGS_MODULE": ""},
        check=True,
        capture_output=True,
    )


def difference(one: Round, other: Round) -> list[str]:
    """Return the lines in which the rules of two rounds differ, not counting the comments."""
    texts = [_lines(each.rules) for each in (one, other)]
    changed = difflib.unified_diff(*texts, lineterm="", n=0)
    return [line for line in changed if line[:3] not in {"---", "+++"} and line[0] in "+-"]


def _lines(rules: dict[str, Any]) -> list[str]:
    """Return the rules one by one, in whatever order they stand."""
    found = []
    for pattern, options in rules.items():
        for option, value in options.items():
            items = value.items() if isinstance(value, dict) else value
            each = [value] if isinstance(value, (str, bool)) else items
            found += [f"{pattern}: {option}: {item}" for item in each]
    return sorted(found)
