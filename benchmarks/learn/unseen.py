"""Judge what is learned with the measures of ``score.py``, on all corpora that are there.

``python -m benchmarks.learn.unseen [--sites NAME,...] [--most ROWS] [--false]``.

By halves of the URLs it is a crawl that saw half of each site; by halves of the pages, all URLs of
a page on one side, it is one whose rules are used on other pages.
"""

from __future__ import annotations

import importlib.util
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.learn.corpus import PATH
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation, learn
from scrapy_urlcanon.learn.results.rule import as_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_urlcanon.learn import Learned

SCORE = PATH.with_name("score.py")
CORPORA = (PATH, PATH.with_name("observations-2.tsv.gz"))

#: As ``score.py`` has them where nothing else is asked for.
OPTIONS = {"bits": 4, "alias_bits": 0, "scope": "host", "no_redirects": False}
SINK_SIZE, MIN_REDUNDANT = 20, 10

VARIANTS = ("rewrites", "+ skip", "+ declared", "all")


def scorer() -> Any:
    """Return ``score.py`` as a module."""
    spec = importlib.util.spec_from_file_location("score", SCORE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Judged:
    """One site, learned from one half and judged on the other."""

    def __init__(self, score: Any, site: str, rows: list[dict[str, str]], split: str) -> None:
        self._score, self._rows = score, rows
        options = Namespace(**OPTIONS, split=split)
        self._full, _ = score.truth(rows, options)
        self._part = score.halves(rows, options)
        mine = [row for row in rows if self._part(site, "", row["url"]) == 0]
        self.learned = learn(Observation.from_fields(row) for row in mine)
        self.false: list[tuple[str, str]] = []
        """Two URLs of two pages that became one, for each false merge of all rules."""

    def judge(self, variant: str) -> Counter[str]:
        """Return the counts of ``score.py``."""
        truth = {
            place: {url: page for url, page in pages.items() if self._part(*place, url)}
            for place, pages in self._full.items()
        }
        key = _keys(self.learned, truth, skip=variant in {"+ skip", "all"})
        self._score.resolve_skips(truth, self._full, key)
        if variant in {"+ declared", "all"}:
            self._score.declared(self._rows, self._full, truth, key, self._part)
        counts: Counter[str] = Counter()
        for pages in truth.values():
            counts.update(self._score.judge(pages, key, SINK_SIZE))
            if variant == "all":
                self.false += _false(pages, key)
        return counts


def _keys(
    learned: Learned, truth: Mapping[object, Mapping[str, str]], *, skip: bool
) -> dict[str, str]:
    rules = [rule for rule in learned.rules if skip or rule.option != "skip"]
    canonicalizer = Canonicalizer(as_rules(rules))
    return {
        url: ("skip:" if canonicalizer.skips(url) else "") + canonicalizer.canonicalize(url)
        for pages in truth.values()
        for url in pages
    }


def _false(pages: Mapping[str, str], key: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of URLs of two pages with one key."""
    first: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for url in sorted(pages):
        one = first.setdefault(key[url], url)
        if pages[one] != pages[url] and (key[url], pages[url]) not in seen:
            seen.add((key[url], pages[url]))
            yield one, url


def line(name: str, counts: Mapping[str, Counter[str]]) -> str:
    """Return a row: macro and micro recall without sinks, precision, merges, loss, worst site."""
    total = sum(counts.values(), Counter[str]())
    recalls = {
        site: c["correct_ns"] / (c["redundant"] - c["sink_red"])
        for site, c in counts.items()
        if c["redundant"] - c["sink_red"] >= MIN_REDUNDANT
    }
    worst = min(
        (c["correct"] / c["merges"] for c in counts.values() if c["merges"] >= SINK_SIZE),
        default=1.0,
    )
    return (
        f"{name:24}{sum(recalls.values()) / max(1, len(recalls)):7.3f}"
        f"{total['correct_ns'] / max(1, total['redundant'] - total['sink_red']):7.3f}"
        f"{total['correct'] / max(1, total['merges']):9.4f}{total['merges']:8}{total['false']:6}"
        f"{total['lost'] / max(1, total['contents']):9.5f}{worst:8.3f}{len(recalls):6}"
    )


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sites", help="these only")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="no sites of more rows")
    parser.add_argument("--false", action="store_true", help="list each false merge with its pair")
    options = parser.parse_args()
    if not SCORE.exists():
        print(f"{SCORE.name} is not there: nothing to measure")
        return 1
    score = scorer()
    print(
        f"{'':24}{'macro':>7}{'micro':>7}{'prec.':>9}{'merges':>8}{'false':>6}{'lost':>9}"
        f"{'worst':>8}{'sites':>6}"
    )
    for corpus in filter(lambda path: path.exists(), CORPORA):
        sites: dict[str, list[dict[str, str]]] = {}
        for row in score.load(str(corpus))[1]:
            sites.setdefault(row["site"], []).append(row)
        chosen = {
            site: rows
            for site, rows in sorted(sites.items())
            if len(rows) <= options.most
            and (options.sites is None or site in options.sites.split(","))
        }
        for split in ("url", "page"):
            print(f"\n{corpus.name}, {len(chosen)} sites, by halves of the {split}s")
            counts: dict[str, dict[str, Counter[str]]] = {name: {} for name in VARIANTS}
            for site, rows in chosen.items():
                judged = Judged(score, site, rows, split)
                for variant in VARIANTS:
                    counts[variant][site] = judged.judge(variant)
                for one, other in judged.false if options.false else ():
                    print(f"false, {site}:\n    {one}\n    {other}")
            for variant in VARIANTS:
                print(line(variant, counts[variant]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
