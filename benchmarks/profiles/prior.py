"""Measures what profiles add to learning: ``python -m benchmarks.profiles.prior``.

``[--most ROWS] [--json]``. Rules of each site are learned from one half and judged on the other,
as in ``benchmarks.learn.unseen``: without prior knowledge, and with the odds of suspicions
counted on all other sites. The results are for all sites, and for those with few URLs.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks import results
from benchmarks.learn import unseen
from benchmarks.profiles.odds import KINDS, judged, odds
from scrapy_urlcanon.profiles.suspicions import ODDS, Suspicions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.profiles.odds import Judged
    from scrapy_urlcanon.learn.thresholds import Prior

FEW = 500
"""The most URLs of a small site."""
VARIANT = "all"
KNOWLEDGE = ("nothing", "stated", "without the site")


def odds_without(site: str, found: Sequence[Judged]) -> dict[str, float]:
    """Return the odds of each kind of suspicion, counted on all sites but *site*."""
    others = [one for one in found if one.site != site]
    return {**ODDS, **{kind: odds(others, kind) for kind in KINDS}}


def prior_with(known: Mapping[str, float]) -> Callable[[Iterable[str]], Prior]:
    """Return a function that makes the prior of a site from its URLs, with other odds."""
    return lambda urls: Suspicions.of(urls, known).log_odds


def measure(most: int) -> list[dict[str, Any]]:
    """Return the counts of each site of up to *most* rows, with each kind of knowledge."""
    score = unseen.scorer()
    found = list(judged())
    measured = []
    for path in unseen.CORPORA:
        sites: dict[str, list[dict[str, str]]] = {}
        for row in score.load(str(path))[1]:
            sites.setdefault(row["site"], []).append(row)
        for site, rows in sites.items():
            if len(rows) > most:
                continue
            priors = (None, prior_with(ODDS), prior_with(odds_without(site, found)))
            for split in ("url", "page"):
                for knowledge, prior_of in zip(KNOWLEDGE, priors, strict=True):
                    learned = unseen.Judged(score, site, rows, split, prior_of=prior_of)
                    measured.append(
                        {
                            "corpus": path.name,
                            "site": site,
                            "urls": len({row["url"] for row in rows}),
                            "split": split,
                            "knowledge": knowledge,
                            "counts": learned.judge(VARIANT),
                        }
                    )
    return measured


def rows(
    measured: Sequence[Mapping[str, Any]], *, sizes: Iterable[bool] = (False, True)
) -> list[list[str]]:
    """Return the rows of a table: the recall for each corpus, split and size of sites.

    :param sizes: whether only small sites count, for each group of rows.
    """
    written = []
    for corpus in dict.fromkeys(one["corpus"] for one in measured):
        for is_small in sizes:
            of_size = [
                one
                for one in measured
                if one["corpus"] == corpus and (one["urls"] < FEW or not is_small)
            ]
            size = f"{corpus}, under {FEW} URLs" if is_small else corpus
            for split in ("url", "page"):
                alike: dict[tuple[str, ...], list[str]] = {}
                for knowledge in KNOWLEDGE:
                    counts = {
                        one["site"]: Counter(one["counts"])
                        for one in of_size
                        if (one["split"], one["knowledge"]) == (split, knowledge)
                    }
                    alike.setdefault(_figures(counts), []).append(knowledge)
                written += [
                    [size, f"{split}s", "; ".join(names), *figures]
                    for figures, names in alike.items()
                ]
    return written


def _figures(counts: Mapping[str, Counter[str]]) -> tuple[str, ...]:
    total = sum(counts.values(), Counter[str]())
    recalls = unseen.recalls(counts)
    return (
        f"{sum(recalls) / max(1, len(recalls)):.3f} of {len(recalls)}",
        f"{total['correct']:,}",
        f"{total['false']:,}",
        f"{total['correct'] / max(1, total['merges']):.4f}",
    )


HEAD = ["sites", "halves of", "known before", "mean of sites", "found", "wrong", "precision"]


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=7_000, help="no sites of more rows")
    parser.add_argument("--json", action="store_true", help="write the results")
    options = parser.parse_args()
    if not unseen.SCORE.exists():
        print(f"{unseen.SCORE.name} is not there: nothing to measure")
        return 1
    measured = measure(options.most)
    print(results.table(HEAD, rows(measured)))
    if options.json:
        results.write("profiles-prior", {"most": options.most, "sites": measured}, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
