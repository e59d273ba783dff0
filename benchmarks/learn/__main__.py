"""Judges rules learned from one half of real sites on the other half.

``python -m benchmarks.learn``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks import results
from benchmarks.learn import methods
from benchmarks.learn.corpus import PATH, halves, sites
from benchmarks.learn.judge import Page, Score, pages_of, score
from benchmarks.learn.maybedont_predictor import is_installed, maybe_dont
from benchmarks.learn.methods import Halves
from scrapy_urlcanon.learn.thresholds import DEFAULT_THRESHOLDS, Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scrapy_urlcanon.learn import Observation

MIN_REDUNDANT = 10
"""Sites with fewer redundant URLs in the judged half are not in the mean over sites."""

MIN_PRECISION, MIN_SITE_PRECISION = 0.995, 0.98
"""The precision, overall and on each site, that thresholds must reach where they are chosen."""

GRID = [
    replace(DEFAULT_THRESHOLDS, precision=precision, alias=alias, lost=lost)
    for precision in (0.36, 0.47, 0.6)
    for alias in (0.47, 0.6)
    for lost in (0.0, 0.01, 0.02)
]

VARIANTS = {
    "rewrites": {},
    "rewrites + skip": {"skip": True},
    "rewrites + skip + declared": {"skip": True, "declared": True},
}


class Case:
    """One site, learned from one half and judged on the other."""

    def __init__(self, observations: Sequence[Observation], *, swapped: bool = False) -> None:
        one, other = halves(observations)
        self.halves = Halves(other, one) if swapped else Halves(one, other)
        self._all = pages_of(observations)
        self.pages = pages_of(self.halves.judge)
        self._scores: dict[tuple[Thresholds, str], Score] = {}

    def score(self, key: Callable[[str], str | None]) -> Score:
        """Score a method that fetches every page at least once."""
        return score(self.pages, key)

    def dropping(self, key: Callable[[str], str | None]) -> Score:
        """Score a method that drops URLs whose page is in the half that it learned from."""
        clusters = {page.url: page.cluster for page in self._all}
        pages = [Page(page.url, clusters[page.url], page.in_sink) for page in self.pages]
        fetched = frozenset(clusters[o.url] for o in self.halves.learn if o.url in clusters)
        return score(pages, key, fetched)

    def learned(self, thresholds: Thresholds, variant: str) -> Score:
        """Score the rules learned with these thresholds."""
        known = self._scores.get((thresholds, variant))
        if known is None:
            key, rules = methods.learned(self.halves, thresholds, **VARIANTS[variant])
            pages, elsewhere = self.pages, frozenset[int]()
            if "skip" in VARIANTS[variant]:
                # The page of a skipped URL may well be found in the half that was learned from: a
                # crawl has both.
                clusters = {page.url: page.cluster for page in self._all}
                pages = [Page(page.url, clusters[page.url], page.in_sink) for page in pages]
                elsewhere = frozenset(p.cluster for p in self._all if not rules.skips(p.url))
            known = self._scores[thresholds, variant] = score(pages, key, elsewhere)
        return known


def macro(scores: Mapping[str, Score], attribute: str) -> float:
    """Return the mean over the sites with enough redundant URLs."""
    values = [getattr(s, attribute) for s in scores.values() if s.redundant >= MIN_REDUNDANT]
    return sum(values) / len(values) if values else 0.0


def chosen(cases: Mapping[str, Case], left_out: str, variant: str) -> Thresholds:
    """Return the thresholds that are best on all sites but one."""

    def merit(thresholds: Thresholds) -> tuple[bool, float, float]:
        scores = {
            n: case.learned(thresholds, variant) for n, case in cases.items() if n != left_out
        }
        total = sum(scores.values(), Score())
        safe = total.precision >= MIN_PRECISION and all(
            s.precision >= MIN_SITE_PRECISION for s in scores.values()
        )
        return safe, round(macro(scores, "recall_outside_sinks"), 4), thresholds.precision

    return max(GRID, key=merit)


def report(name: str, scores: Mapping[str, Score]) -> dict[str, float]:
    """Print and return the score of a method."""
    total = sum(scores.values(), Score())
    print(
        f"{name:28}{total.found:7}{total.wrong:7}{total.precision:9.2%}"
        f"{min(s.precision for s in scores.values()):9.2%}"
        f"{total.recall:8.1%}{total.recall_outside_sinks:9.1%}{macro(scores, 'recall'):8.1%}"
        f"{macro(scores, 'recall_outside_sinks'):9.1%}{total.lost / total.pages:8.3%}"
    )
    return {
        "found": total.found,
        "wrong": total.wrong,
        "precision": total.precision,
        "precision on the worst site": min(s.precision for s in scores.values()),
        "recall": total.recall,
        "recall outside sinks": total.recall_outside_sinks,
        "mean recall of sites": macro(scores, "recall"),
        "mean recall of sites outside sinks": macro(scores, "recall_outside_sinks"),
        "pages lost": total.lost / total.pages,
    }


def report_by_site(name: str, scores: Mapping[str, Score]) -> None:
    """Print the score of a method on each site."""
    print(f"\n{name}, by site")
    print(
        f"{'':18}{'URLs':>7}{'redund.':>9}{'found':>7}{'wrong':>7}{'lost':>6}"
        f"{'prec.':>8}{'recall':>8}{'no sinks':>9}"
    )
    for site, s in scores.items():
        print(
            f"{site:18}{s.urls:7}{s.redundant:9}{s.found:7}{s.wrong:7}{s.lost:6}"
            f"{s.precision:8.2%}{s.recall:8.1%}{s.recall_outside_sinks:9.1%}"
        )


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--swapped", action="store_true", help="learn from the half that is judged otherwise"
    )
    parser.add_argument("--details", action="store_true", help="show each site")
    options = parser.parse_args()
    if not PATH.exists():
        print(f"{PATH.name} is not there: nothing to measure")
        return 1
    cases = {name: Case(rows, swapped=options.swapped) for name, rows in sorted(sites().items())}
    redundant = sum(score(case.pages, str).redundant for case in cases.values())
    judged = sum(len(case.pages) for case in cases.values())
    print(
        f"{len(cases)} sites, {judged} URLs judged, {redundant} of them redundant in their host\n"
    )
    print(
        f"{'':28}{'':7}{'':7}{'precision':>18}{'micro recall':>17}{'macro recall':>17}{'pages':>8}"
    )
    print(
        f"{'':28}{'found':>7}{'wrong':>7}{'total':>9}{'worst':>9}{'all':>8}{'no sinks':>9}"
        f"{'all':>8}{'no sinks':>9}{'lost':>8}"
    )
    others: dict[str, Callable[[Halves], Callable[[str], str | None]]] = {
        "Scrapy's default": methods.scrapy_default,
        "safe": methods.preset("safe"),
        "aggressive": methods.preset("aggressive"),
        "drop the query": methods.no_query,
        "redirects and canonicals": methods.all_declared,
        "statistics of parameters": methods.param_statistics,
    }
    name_of_run = "learn-swapped" if options.swapped else "learn"
    judged_methods: dict[str, dict[str, float]] = {}
    for name, method in others.items():
        judged_methods[name] = report(
            name, {site: case.score(method(case.halves)) for site, case in cases.items()}
        )
    if is_installed():
        judged_methods["MaybeDont"] = report(
            "MaybeDont", {n: case.dropping(maybe_dont(case.halves)) for n, case in cases.items()}
        )
    else:
        print("MaybeDont: not installed, see benchmarks/requirements-maybedont.txt")
        # It asks nothing of ours: what it came to the last time stands.
        judged_methods["MaybeDont"] = results.read(name_of_run)["methods"]["MaybeDont"]
    for variant in VARIANTS:
        best = {site: chosen(cases, site, variant) for site in cases}
        scores = {site: case.learned(best[site], variant) for site, case in cases.items()}
        name = f"learned: {variant}"
        judged_methods[name] = report(name[:28], scores)
        if options.details:
            report_by_site(name, scores)
            settings = sorted({(t.precision, t.alias, t.lost) for t in best.values()})
            print(f"thresholds chosen without the site: {settings}\n")
    for variant in VARIANTS:
        scores = {site: case.learned(DEFAULT_THRESHOLDS, variant) for site, case in cases.items()}
        name = f"defaults: {variant}"
        judged_methods[name] = report(name[:28], scores)
    results.write(
        name_of_run,
        {
            "conditions": results.conditions(),
            "sites": len(cases),
            "URLs judged": judged,
            "redundant": redundant,
            "methods": judged_methods,
        },
        [],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
