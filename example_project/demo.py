"""Crawls the example site with the plugin off and on, and compares what was fetched.

``python demo.py`` needs Scrapy and scrapy-urlcanon. The exit status is 1 where the crawl
with the plugin has missed a page, or has met one that the other has not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopback import Loopback
from rich.console import Console
from rich.table import Table
from shop_site import respond

PROJECT = Path(__file__).parent
_RULE = "urlcanon/dropped/rule/"

FOUND_HERE = {
    "default_params": "?lang=en and ?page=1, which are what one gets without",
    "directory_index": "/index.html, which the logo links to",
    "drop_params": "session ids, print views, sort orders",
    "scheme": "http:// links, which redirect to https://",
    "rewrite_path": "/product/any-text/7, whatever the text",
    "sort_query": "the same parameters in another order",
    "tracking_params": "utm_source and gclid, from offers and shared links",
    "trailing_slash": "/about, which redirects to /about/",
    "www": "shop.example, which answers as www.shop.example does",
}
"""What each option merges on this site."""


@dataclass(frozen=True)
class Crawl:
    """What one crawl came to."""

    hits: list[str]
    """The URLs that the site was asked for, as the site saw it."""

    items: list[dict[str, str]]
    """What the spider yielded: ``page_id`` and ``url`` of each page."""

    stats: dict[str, Any]
    """The final stats of Scrapy."""

    @property
    def distinct(self) -> dict[str, str]:
        """A URL for each distinct page, by the identity of the page."""
        return {item["page_id"]: item["url"] for item in self.items}

    def figures(self) -> dict[str, int]:
        """Return what is compared."""
        return {
            "requests that the site received": len(self.hits),
            "responses": self.stats["response_received_count"],
            "redirects": self.stats.get("downloader/response_status_count/301", 0),
            "bytes received": self.stats["downloader/response_bytes"],
            "pages": len(self.items),
            "distinct pages": len(self.distinct),
        }


def crawl(directory: Path, *settings: str) -> Crawl:
    """Run ``scrapy crawl shop`` on a new site, with *settings* (``NAME=VALUE``)."""
    items, stats = directory / "items.jsonl", directory / "stats.json"
    command = [sys.executable, "-m", "scrapy", "crawl", "shop", "-O", str(items)]
    # One request at a time: so the figures are the same each time.
    fixed = (f"STATS_FILE={stats}", "LOG_LEVEL=WARNING", "CONCURRENT_REQUESTS=1")
    for setting in (*fixed, *settings):
        command += ["-s", setting]
    with Loopback(respond) as server:
        environment = os.environ | server.proxies
        subprocess.run(command, cwd=PROJECT, env=environment, check=True)
    return Crawl(
        hits=server.hits,
        items=[json.loads(line) for line in items.read_text().splitlines()],
        stats=json.loads(stats.read_text()),
    )


def side_by_side(off: Crawl, on: Crawl) -> Table:
    """Return the figures of both crawls."""
    table = Table("", title="One site, crawled twice", title_justify="left")
    for heading in ("plugin off", "plugin on", "change"):
        table.add_column(heading, justify="right")
    after = on.figures()
    for label, before in off.figures().items():
        change = "same" if before == after[label] else f"{after[label] / before - 1:+.0%}"
        table.add_row(label, f"{before:,}", f"{after[label]:,}", change)
    return table


def dropped_by_option(on: Crawl) -> Table:
    """Return which options of the plugin found the duplicates."""
    table = Table(title="Duplicates dropped, by option", title_justify="left")
    table.add_column("option")
    table.add_column("links", justify="right")
    table.add_column("on this site")
    found = {
        name.removeprefix(_RULE): count
        for name, count in on.stats.items()
        if name.startswith(_RULE)
    }
    for option, count in sorted(found.items(), key=lambda entry: -entry[1]):
        table.add_row(option, f"{count:,}", FOUND_HERE.get(option, ""))
    return table


def listing(heading: str, pages: dict[str, str]) -> str:
    """Return *pages* (URL by identity) under a heading."""
    lines = [f"  {page_id}  {url}" for page_id, url in sorted(pages.items())]
    return "\n".join([f"{heading}: {len(pages)}", *lines])


def main() -> int:
    """Crawl twice, show what came of it, and return the exit status."""
    console = Console()
    with tempfile.TemporaryDirectory() as directory:
        console.print("Crawling with the plugin off ...")
        off = crawl(Path(directory), "URLCANON_ENABLED=False")
        console.print("Crawling with the plugin on ...")
        on = crawl(Path(directory))
    console.print(side_by_side(off, on), dropped_by_option(on))
    console.print(
        "A link counts for every option that had a part in it."
        f" {on.stats.get('urlcanon/dropped/scrapy_would_keep', 0):,} of the links dropped"
        " are ones that Scrapy alone would have followed."
    )
    before, after = off.distinct, on.distinct
    if before.keys() == after.keys():
        console.print(
            f"Nothing is lost: both crawls have fetched the same {len(after)} distinct pages."
        )
        return 0
    lost = {page: url for page, url in before.items() if page not in after}
    new = {page: url for page, url in after.items() if page not in before}
    console.print(listing("Pages that only the crawl without the plugin has", lost))
    console.print(listing("Pages that only the crawl with the plugin has", new))
    return 1


if __name__ == "__main__":
    sys.exit(main())
