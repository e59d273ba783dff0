"""Judges learned rules with the measures of ``score.py``, on all available corpora.

``python -m benchmarks.learn.unseen [--sites NAME,...] [--folds 0,1,2] [--most ROWS] [--false]
[--classes] [--thresholds] [--cut-short] [--json FILE]``.

Split by URLs, the learning half is a crawl that saw half of each site. Split by pages, with all
URLs of a page in one half, rules are judged on other pages. With ``--cut-short`` the crawl saw
the first part of a site, by several orders, or little of it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.learn.corpus import PATH
from benchmarks.learn.cut_short import CRAWLS
from scrapy_urlcanon.canonicalizer import Canonicalizer
from scrapy_urlcanon.learn import Observation, Thresholds, learn
from scrapy_urlcanon.learn.results.rule import as_rules
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scrapy_urlcanon.learn import LearnedRule
    from scrapy_urlcanon.learn.thresholds import Prior

SCORE = PATH.with_name("score.py")
CORPORA = (PATH, PATH.with_name("observations-2.tsv.gz"))

OPTIONS = {"bits": 4, "alias_bits": 0, "scope": "host", "no_redirects": False}
"""The defaults of ``score.py``."""
SINK_SIZE, MIN_REDUNDANT = 20, 10

VARIANTS = ("rewrites", "+ skip", "+ declared", "all")

GRID = {
    "defaults": DEFAULT_THRESHOLDS,
    "precision 0.30": replace(DEFAULT_THRESHOLDS, precision=0.30),
    "precision 0.50": replace(DEFAULT_THRESHOLDS, precision=0.50),
    "alias 0.36": replace(DEFAULT_THRESHOLDS, alias=0.36),
    "alias 0.65": replace(DEFAULT_THRESHOLDS, alias=0.65),
    "lost 0.005": replace(DEFAULT_THRESHOLDS, lost=0.005),
    "lost 0.02": replace(DEFAULT_THRESHOLDS, lost=0.02),
    "chance 0.10": replace(DEFAULT_THRESHOLDS, chance=0.10),
}
"""Each threshold with its default, and one step to either side."""

MIN_PRECISION = 0.995
"""The precision that thresholds must reach on the sites where they are chosen, or come nearest
to.
"""


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

    def __init__(
        self,
        score: Any,
        site: str,
        rows: list[dict[str, str]],
        split: str,
        *,
        prior_of: Callable[[Iterable[str]], Prior] | None = None,
        thresholds: Thresholds = DEFAULT_THRESHOLDS,
    ) -> None:
        self._score, self._rows = score, rows
        options = Namespace(**OPTIONS, split=split)
        self._full, _ = score.truth(rows, options)
        if split in CRAWLS:
            first = CRAWLS[split]({row["url"] for row in rows})
            self._part = lambda _site, _host, url: int(url not in first)
        else:
            self._part = score.halves(rows, options)
        mine = [row for row in rows if self._part(site, "", row["url"]) == 0]
        self.learned = learn(
            (Observation.from_fields(row) for row in mine),
            thresholds=thresholds,
            prior_of=prior_of,
        )
        self.false: list[tuple[str, str]] = []
        """Two URLs of different pages for each false merge of all rules."""

        self._declared = {row["url"]: row["canonical"] for row in rows if row["canonical"]}
        self._seen = {row["url"] for row in rows}

        self._judged = {
            place: {url: page for url, page in pages.items() if self._part(*place, url)}
            for place, pages in self._full.items()
        }
        self._keys = {
            skip: _keys(self.learned.rules, self._judged, skip=skip) for skip in (False, True)
        }

    def judge(self, variant: str) -> Counter[str]:
        """Return the counts of ``score.py``."""
        truth = {place: dict(pages) for place, pages in self._judged.items()}
        key = dict(self._keys[variant in {"+ skip", "all"}])
        self._score.resolve_skips(truth, self._full, key)
        if variant in {"+ declared", "all"}:
            self._score.declared(self._rows, self._full, truth, key, self._part)
        counts: Counter[str] = Counter()
        for pages in truth.values():
            counts.update(self._score.judge(pages, key, SINK_SIZE))
            false = list(_false(pages, key))
            counts["said"] += sum(self._is_said(*pair) for pair in false)
            counts["lost_said"] += self._lost_said(pages, key)
            if variant == "all":
                self.false += false
        return counts

    def _lost_said(self, pages: Mapping[str, str], key: Mapping[str, str]) -> int:
        """Return how many of the lost pages are elsewhere by what the site declares."""
        members: dict[str, list[str]] = {}
        for url in sorted(pages):
            members.setdefault(key[url], []).append(url)
        # As `score.py` has it: the key itself is fetched, or else the first URL.
        fetched = {k: k if k in urls else urls[0] for k, urls in members.items()}
        shown = {pages[url] for url in fetched.values()}
        lost = {url: page for url, page in pages.items() if page not in shown}
        return len({page for url, page in lost.items() if self._is_said(url, fetched[key[url]])})

    def _is_said(self, one: str, other: str) -> bool:
        """Tell whether the URLs of a wrong merge are one page by what the site declares.

        They declare one canonical URL, or one of them was skipped and declares another one that
        was seen. Then the page has changed between two captures.
        """
        said = [self._declared.get(url, url) for url in (one, other)]
        if said[0] == said[1]:
            return True
        return any(
            to != url and to in self._seen and self._keys[True][url].startswith("skip:")
            for url, to in zip((one, other), said, strict=True)
        )

    def judge_classes(self) -> dict[str, Counter[str]]:
        """Return the counts of ``score.py`` of each class of rules by itself."""
        classes: dict[str, list[LearnedRule]] = {}
        for rule in self.learned.rules:
            classes.setdefault(class_of(rule), []).append(rule)
        found = {}
        for name, rules in classes.items():
            truth = {place: dict(pages) for place, pages in self._judged.items()}
            key = _keys(rules, truth, skip=True)
            before = {url: Canonicalizer().canonicalize(url) for url in key}
            self._score.resolve_skips(truth, self._full, key)
            counts, without = Counter[str](rules=len(rules), sites=1), Counter[str]()
            for pages in truth.values():
                counts.update(self._score.judge(pages, key, SINK_SIZE))
                without.update(self._score.judge(pages, before, SINK_SIZE))
            counts.subtract({name: without[name] for name in ("correct", "false")})
            found[name] = counts
        return found


def class_of(rule: LearnedRule) -> str:
    """Return the class of hypotheses of a rule."""
    if rule.kind in {"sink", "skip"}:
        return rule.kind
    if rule.option != "rewrite_path":
        return f"`{rule.option}`"
    ((source, target),) = rule.setting
    if ":path}" in source:
        return "`rewrite_path`: beginning or end"
    if "{_" in source:
        return "`rewrite_path`: text for readers"
    if ("?" in source) != ("?" in target):
        return "`rewrite_path`: parameter and path"
    return "`rewrite_path`: other"


def _keys(
    learned: Iterable[LearnedRule], truth: Mapping[object, Mapping[str, str]], *, skip: bool
) -> dict[str, str]:
    rules = [rule for rule in learned if skip or rule.option != "skip"]
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
    """Return a row: macro and micro recall without sinks, precision, merges, loss, worst site.

    It also has the number of false merges that are one page by what the site declares, and the
    share of lost pages without those that are elsewhere by what it declares.
    """
    total = sum(counts.values(), Counter[str]())
    worst = min(
        (c["correct"] / c["merges"] for c in counts.values() if c["merges"] >= SINK_SIZE),
        default=1.0,
    )
    return (
        f"{name:24}{_macro(counts):7.3f}"
        f"{total['correct_ns'] / max(1, total['redundant'] - total['sink_red']):7.3f}"
        f"{total['correct'] / max(1, total['merges']):9.4f}{total['merges']:8}"
        f"{total['false']:6}{total['said']:6}"
        f"{total['lost'] / max(1, total['contents']):9.5f}"
        f"{(total['lost'] - total['lost_said']) / max(1, total['contents']):9.5f}"
        f"{worst:8.3f}{len(recalls(counts)):6}"
    )


def recalls(counts: Mapping[str, Counter[str]]) -> list[float]:
    """Return the recall without sinks of each site with enough redundant URLs."""
    return [
        c["correct_ns"] / (c["redundant"] - c["sink_red"])
        for c in counts.values()
        if c["redundant"] - c["sink_red"] >= MIN_REDUNDANT
    ]


def _macro(counts: Mapping[str, Counter[str]]) -> float:
    """Return the mean of these."""
    found = recalls(counts)
    return sum(found) / max(1, len(found))


def show(
    score: Any, sites: Mapping[str, list[dict[str, str]]], split: str, options: Namespace
) -> dict[str, Any]:
    """Print and return the scores on some sites."""
    counts: dict[str, dict[str, Counter[str]]] = {name: {} for name in VARIANTS}
    classes: dict[str, Counter[str]] = {}
    for site, rows in sites.items():
        judged = Judged(score, site, rows, split)
        for variant in VARIANTS:
            counts[variant][site] = judged.judge(variant)
        for name, found in judged.judge_classes().items() if options.classes else ():
            classes.setdefault(name, Counter()).update(found)
        for one, other in judged.false if options.false else ():
            print(f"false, {site}:\n    {one}\n    {other}")
    for variant in VARIANTS:
        print(line(variant, counts[variant]))
    for name, found in sorted(classes.items(), key=lambda item: -item[1]["correct"]):
        print(
            f"{name:40}{found['sites']:4} sites{found['rules']:6} rules"
            f"{found['correct']:8} found{found['false']:6} wrong"
        )
    return {
        "split": split,
        "sites": {site: {v: counts[v][site] for v in VARIANTS} for site in sites},
        "classes": classes,
    }


def choose(score: Any, sites: Mapping[str, list[dict[str, str]]], split: str) -> dict[str, Any]:
    """Print and return the scores with thresholds chosen on all sites but the judged one."""
    counts: dict[str, dict[str, Counter[str]]] = {name: {} for name in GRID}
    for site, rows in sites.items():
        for name, thresholds in GRID.items():
            judged = Judged(score, site, rows, split, thresholds=thresholds)
            counts[name][site] = judged.judge("all")
    for name, of_sites in counts.items():
        print(line(name, of_sites))
    best = {site: _best(counts, site) for site in sites}
    chosen = {site: counts[best[site]][site] for site in sites}
    print(line("chosen on the others", chosen))
    print("chosen: " + ", ".join(f"{name} {n} times" for name, n in Counter(best.values()).items()))
    return {"split": split, "chosen": best, "sites": {**counts, "chosen on the others": chosen}}


def _best(counts: Mapping[str, Mapping[str, Counter[str]]], left_out: str) -> str:
    """Return the thresholds that are best on all sites but one."""

    def merit(name: str) -> tuple[float, float]:
        others = {site: c for site, c in counts[name].items() if site != left_out}
        total = sum(others.values(), Counter[str]())
        precision = total["correct"] / max(1, total["merges"])
        return min(precision, MIN_PRECISION), _macro(others)

    return max(counts, key=merit)


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sites", help="these only")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="no sites of more rows")
    parser.add_argument(
        "--folds", default="0,1,2", help="every third site by size, from the largest on"
    )
    parser.add_argument(
        "--classes", action="store_true", help="what each class of rules finds, and gets wrong"
    )
    parser.add_argument(
        "--thresholds", action="store_true", help="choose them without the site that is judged"
    )
    parser.add_argument(
        "--cut-short", action="store_true", help="learn from what a crawl saw that was cut short"
    )
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    parser.add_argument("--false", action="store_true", help="list each false merge with its pair")
    options = parser.parse_args()
    if not SCORE.exists():
        print(f"{SCORE.name} is not there: nothing to measure")
        return 1
    score = scorer()
    results = []
    print(
        f"{'':24}{'macro':>7}{'micro':>7}{'prec.':>9}{'merges':>8}{'false':>6}{'said':>6}{'lost':>9}"
        f"{'unsaid':>9}{'worst':>8}{'sites':>6}"
    )
    corpora: dict[str, dict[str, list[dict[str, str]]]] = {}
    for path in filter(Path.exists, CORPORA):
        for row in score.load(str(path))[1]:
            corpora.setdefault(path.name, {}).setdefault(row["site"], []).append(row)
    size_of = {site: len(rows) for sites in corpora.values() for site, rows in sites.items()}
    by_size = sorted(size_of, key=lambda site: (-size_of[site], site))
    folds = {site: str(number % 3) for number, site in enumerate(by_size)}
    for corpus, sites in corpora.items():
        chosen = {
            site: rows
            for site, rows in sorted(sites.items())
            if len(rows) <= options.most
            and folds[site] in options.folds.split(",")
            and (options.sites is None or site in options.sites.split(","))
        }
        for split in CRAWLS if options.cut_short else ("url", "page"):
            part = f"from a {split}" if options.cut_short else f"by halves of the {split}s"
            print(f"\n{corpus}, {len(chosen)} sites, {part}")
            if options.thresholds:
                found = choose(score, chosen, split)
            else:
                found = show(score, chosen, split, options)
            fold_of = {site: int(folds[site]) for site in chosen}
            results.append({"corpus": corpus, "folds": fold_of, **found})
    if options.json:
        options.json.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
