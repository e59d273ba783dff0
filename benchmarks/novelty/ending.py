"""Measures where ``URLCANON_STOP`` ends a crawl: ``python -m benchmarks.novelty.ending``.

MediaWiki is practically endless: each page links forms, differences and lists of changes, in any
combination of their parameters. Its content are its articles, their histories and its
categories. The crawl may leave everything that says nothing new, but little of these.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from signal import SIGTERM, signal
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from benchmarks.novelty.cases import NOVELTY
from benchmarks.novelty.crawling import Crawled, Task, crawl
from benchmarks.programs import catalogue, wikis
from benchmarks.programs.program import CACHE, Unavailable
from benchmarks.results import conditions, table, write

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHARE = 0.01
_PROGRAM = "mediawiki"


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.novelty.ending", description=__doc__)
    parser.add_argument("--most", type=int, default=40_000, help="fetches, if it never ends")
    options = parser.parse_args()
    signal(SIGTERM, lambda *_: sys.exit(1))
    try:
        crawled = _crawl(options.most)
    except Unavailable as error:
        print(error)
        return 1
    found = {
        "finish_reason": crawled.stats.get("finish_reason"),
        "fetches": len(crawled.urls),
        "words of news": sum(crawled.news),
        **_reached(crawled.urls),
        "requests that were left": crawled.stats.get("urlcanon/novelty/left", 0),
        "share of URLCANON_STOP": _SHARE,
        "seconds of CPU": round(crawled.cpu),
        **conditions(),
    }
    rows = [[name, f"{value}"] for name, value in found.items()]
    write("novelty-ending", found, [table(["MediaWiki", "measured"], rows)])
    return 0


def _crawl(most: int) -> Crawled:
    memory = CACHE / "responses" / f"{_PROGRAM}.sqlite"
    memory.parent.mkdir(parents=True, exist_ok=True)
    settings = {**NOVELTY, "URLCANON_STOP": _SHARE, "URLCANON_LEFT": os.devnull}
    with catalogue.PROGRAMS[_PROGRAM].started() as url:
        return crawl(Task((url,), most, settings, responses=str(memory)))


def _reached(urls: Iterable[str]) -> dict[str, str]:
    """Return how many articles, histories and categories were fetched, and how many there are."""
    shown: set[str] = set()
    histories: set[str] = set()
    for url in urls:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        title = query.get("title", [unquote(parts.path.removeprefix("/index.php/"))])[0]
        if query.keys() <= {"title"}:
            shown.add(title)
        elif query.get("action") == ["history"]:
            histories.add(title)
    articles, categories = wikis.mediawiki_titles()
    return {
        "articles": _of(articles & shown, articles),
        "histories": _of(articles & histories, articles),
        "categories": _of(categories & shown, categories),
    }


def _of(found: set[str], there: set[str]) -> str:
    return f"{len(found)} of {len(there)}"


if __name__ == "__main__":
    sys.exit(main())
