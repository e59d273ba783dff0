"""Judges URLs that are one page without any rule, and refused rules, in the way of learned ones.

``python -m benchmarks.learn.control [--site NAME --rules JSON]``.

A wrong merge for ``score.py`` may be a page that was edited between two captures. How often that
happens is measured without learning: on URLs that Scrapy's default merges, and on pages that
declare another URL.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.learn.unseen import CORPORA, OPTIONS, SCORE, SINK_SIZE, scorer
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn.canonicals import is_implausible
from scrapy_urlcanon.learn.location import locate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Rows = Sequence[Mapping[str, str]]

MAX_WRONG = 0.02
"""The share of pages that may differ from the page that they declare if the declarations of a
site are believed, as in ``score.py``."""


def judge(score: Any, rows: Rows, key_of: Callable[[str], str]) -> Counter[str]:
    """Return the counts of ``score.py`` for all URLs of a site."""
    full, _ = score.truth(rows, Namespace(**OPTIONS, split="url"))
    truth = {place: dict(pages) for place, pages in full.items()}
    key = {url: key_of(url) for pages in truth.values() for url in pages}
    score.resolve_skips(truth, full, key)
    counts: Counter[str] = Counter()
    for pages in truth.values():
        counts.update(score.judge(pages, key, SINK_SIZE))
    return counts


def declared(rows: Rows) -> dict[str, str]:
    """Return the canonical URLs that pages declare, if these are plausible and were seen."""
    seen = {row["url"] for row in rows if row["main_sha1"]}
    return {
        row["url"]: row["canonical"]
        for row in rows
        if row["canonical"] in seen
        and not is_implausible(locate(row["url"]), locate(row["canonical"]))
    }


def show(name: str, counts: Mapping[str, int]) -> None:
    """Print a row."""
    outside = counts["redundant"] - counts["sink_red"]
    print(
        f"{name:44}{counts['merges']:8,} merges{counts['false']:7,} wrong"
        f"{counts['lost'] / max(1, counts['contents']):9.5f} lost"
        f"{counts['correct_ns'] / max(1, outside):7.3f} found"
    )


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--site", help="judge rules on this one")
    parser.add_argument("--rules", type=json.loads, help="in the shape of URLCANON_RULES")
    options = parser.parse_args()
    if not SCORE.exists():
        print(f"{SCORE.name} is not there: nothing to measure")
        return 1
    score = scorer()
    scrapy = Canonicalizer(preset="scrapy")
    rules = Canonicalizer(options.rules, preset="scrapy")
    for path in CORPORA:
        sites: dict[str, list[dict[str, str]]] = {}
        for row in score.load(str(path))[1]:
            sites.setdefault(row["site"], []).append(row)
        if options.site:
            for rows in filter(None, [sites.get(options.site)]):
                show(options.site, judge(score, rows, lambda url: _key(rules, url)))
            continue
        defaults: Counter[str] = Counter()
        said: Counter[str] = Counter()
        for rows in sites.values():
            defaults.update(judge(score, rows, scrapy.canonicalize))
            targets = declared(rows)
            counts = judge(score, rows, lambda url, targets=targets: targets.get(url, url))
            if counts["false"] <= MAX_WRONG * counts["merges"]:
                said.update(counts)
        print(path.name)
        show("Scrapy's default", defaults)
        show(f"what pages declare, up to {MAX_WRONG:.0%} wrong", said)
    return 0


def _key(rules: Canonicalizer, url: str) -> str:
    return ("skip:" if rules.skips(url) else "") + rules.canonicalize(url)


if __name__ == "__main__":
    sys.exit(main())
