"""Crawls the example site with the plugin off and on, compares, and learns rules from a crawl.

``python demo.py`` needs Scrapy and scrapy-urlcanon. The exit status is 1 where the crawl
with the plugin has missed a page, or has met one that the other has not.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopback import Loopback
from rich.console import Console
from rich.table import Table
from shop_crawler.settings import URLCANON_RULES
from shop_site import respond

from scrapy_urlcanon import Canonicalizer
from scrapy_urlcanon.learn import learn
from scrapy_urlcanon.learn.readers.store import read_store

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
    # One request at a time: so the figures are the same each time. And Scrapy makes so many tasks
    # as there are concurrent items for each response.
    fixed = (
        f"STATS_FILE={stats}",
        "LOG_LEVEL=WARNING",
        "CONCURRENT_REQUESTS=1",
        "CONCURRENT_ITEMS=10",
    )
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


def one_rule(off: Crawl) -> str:
    """Return a rule of the project, and two URLs of the site that it makes one."""
    pattern, option, name = "shop.example/forum/", "drop_params", "sid"
    assert name in URLCANON_RULES[pattern][option]
    canonicalizer = Canonicalizer({pattern: {option: [name]}})
    by_page: dict[str, str] = {}
    for url in off.hits:
        first = by_page.setdefault(canonicalizer.canonicalize(url), url)
        if first != url and f"{name}=" in first and f"{name}=" in url:
            break
    return (
        f"A rule, as it stands in shop_crawler/settings.py: session ids make no difference.\n"
        f"  URLCANON_RULES = {{{pattern!r}: {{{option!r}: [{name!r}]}}}}\n"
        f"It makes these two one page, so that only the first is fetched:\n"
        f"  {first}\n  {url}"
    )


def what_was_learned(store: Path) -> Table:
    """Return the rules that the observations in *store* support."""
    learned = learn(read_store(store))
    table = Table(title=f"Learned from {learned.urls:,} URLs: {len(learned.rules)} rules")
    table.title_justify = "left"
    table.add_column("for")
    table.add_column("option")
    table.add_column("pages", justify="right")
    table.add_column("requests saved", justify="right")
    rules = sorted(learned.rules, key=lambda rule: -rule.evidence.merges)
    for rule in rules:
        option = f"{rule.option}: {json.dumps(rule.setting)}"
        table.add_row(rule.pattern, option, f"{rule.evidence.pages:,}", f"{rule.evidence.merges:,}")
    return table


def next_step(pair: str) -> str:
    """Return what to try now."""
    # As it is called from there: the environment may not be active.
    scrapy = os.path.relpath(Path(sys.executable).parent / "scrapy", PROJECT)
    return (
        "Next, ask what happens to two of its URLs, and why:\n"
        f"  cd {shlex.quote(os.path.relpath(PROJECT))}\n"
        f"  {shlex.quote(scrapy)} urlcanon explain {pair}\n"
        "Then turn it on for a project of yours: docs/getting-started.md"
    )


def main() -> int:
    """Crawl, show what came of it, and return the exit status."""
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        console.print("1. Crawling the example site, a shop and forum, with the plugin off ...")
        off = crawl(directory, "URLCANON_ENABLED=False")
        console.print("2. Crawling it with the plugin on, and the rules of the project ...")
        on = crawl(directory)
        console.print(side_by_side(off, on), dropped_by_option(on))
        console.print(
            "A link counts for every option that had a part in it."
            f" {on.stats.get('urlcanon/dropped/scrapy_would_keep', 0):,} of the links dropped"
            " are ones that Scrapy alone would have followed."
        )
        before, after = off.distinct, on.distinct
        if before.keys() != after.keys():
            lost = {page: url for page, url in before.items() if page not in after}
            new = {page: url for page, url in after.items() if page not in before}
            console.print(listing("Pages that only the crawl without the plugin has", lost))
            console.print(listing("Pages that only the crawl with the plugin has", new))
            return 1
        console.print(
            f"Nothing is lost: both crawls have fetched the same {len(after)} distinct pages.\n"
        )
        rule = one_rule(off)
        console.print(rule, "", markup=False, highlight=False, soft_wrap=True)
        console.print("3. Crawling it without any rules, to learn them from what the crawl saw ...")
        store = directory / "observations.sqlite"
        crawl(directory, "URLCANON_RULES={}", f"URLCANON_RECORD={store}")
        console.print(what_was_learned(store))
    first, second = rule.splitlines()[-2:]
    print(f"\n{next_step(shlex.join([first.strip(), second.strip()]))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
