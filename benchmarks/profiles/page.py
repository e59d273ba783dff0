"""Writes the measurements of profiles into the docs."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.profiles import prior
from benchmarks.results import RESULTS, read, table

PAGE = Path(__file__).parents[2] / "docs" / "profiles-measured.md"
_HEAD = """\
# What profiles save, measured

`make bench-profiles` crawls real programs, filled with made-up content, breadth first: without
[profiles](profiles.md), with them, and once more without them as a control. This page is written
from the results.

- **saved**: the share of the fetches of the first crawl that the one with profiles did not need.
- **different texts**: how many different texts a crawl fetched. Where both crawls reached their
  limit of fetches, nothing is saved, and this says what profiles gained.
- **lost**: pages of the first crawl whose main text has more than a fifth of its words in no page
  of the crawl with profiles. If that crawl reached its limit, pages that it never came to count
  too.
- **lost in the control**: the same for the control. So much the program changes by itself.

"""
_SAME = "Both crawls fetched the same of these: "
_RULES = """

## Rule by rule

`python -m benchmarks.profiles --rules` takes the pairs of URLs that the crawl without profiles met
and that one certain rule alone makes one, and fetches up to 60 pairs again, each URL twice. Lines
that differ between two fetches of one URL are ignored. Of {rules} rules all {pairs:,} pairs show
the same lines. These are the others ([what differs](profiles.md#certain-and-usual)):

- **differ**: pairs in which one page has a line of text that the other has not.
- **lose a line**: pairs in which the page that the rule drops has a line that none of the kept
  pages has.

"""
_COST = """

## What it costs

All profiles are read at the first page, which takes some 0.1 s. Then up to five pages below each
first directory of a host are looked at, 32 of a host in all, and no other pages: 0.5 ms each, and
1.2 ms when this table was measured (`python -m benchmarks.profiles_cost`).

"""
_ALONE = """

## On real sites

`make bench-suspicions` has archived sites, with URLs and digests but no headers and pages. So it
recognises programs by their URLs alone, applies all rules for them, the usual ones too, and
compares what these merge with what the digests say: first the rules for one and the same page,
then also those for other views of a page, which drop nothing in a crawl. A link to a post counts
as found if the page of its topic was archived too. **Precision** is that of the merges that the
preset does not make by itself.

"""
_PRIOR = """

What knowing programs gains the learner: rules are learned from one half of each site of up to
{most:,} captures, and judged on the other half, with nothing known before, with the odds that the
profiles state, and with odds counted on all sites but this one.

"""
_NONE = """

## What is not recognised

"""


def write(data: dict[str, Any]) -> None:
    """Write the page."""
    PAGE.write_text(text(data), encoding="utf-8")


def text(data: dict[str, Any]) -> str:
    """Return the page."""
    crawled = [found for found in data.values() if "recognised" in found]
    known = [found for found in crawled if found["recognised"]]
    unknown = [found for found in crawled if not found["recognised"]]
    head = ["program", "limit", "fetches", "with profiles", "saved"]
    head += ["different texts", "with profiles", "lost", "lost in the control"]
    same = [found for found in known if found["on"] == found["off"]]
    written = _HEAD + table(head, [_row(found) for found in known if found not in same])
    titles = ", ".join(found["title"] for found in same)
    written += f"\n\n{fill(f'{_SAME}{titles}.', 100)}"
    met = [one for found in data.values() for one in found.get("rules", ())]
    certain = [one for one in met if one["certain"]]
    equal = [one for one in certain if not one["differ"]]
    head = ["program", "merges", "pairs", "compared", "differ", "lose a line"]
    written += _RULES.format(
        rules=len({(one["program"], one["merges"]) for one in equal}),
        pairs=sum(one["compared"] for one in equal),
    )
    written += table(head, [_rule(one) for one in certain if one not in equal])
    cost = RESULTS / "profiles-cost.md"
    if cost.exists():
        written += _COST + cost.read_text(encoding="utf-8").rstrip("\n")
    written += _ALONE + table(
        _ALONE_HEAD, [_alone(one) for one in read("profiles-corpus")["alone"]]
    )
    known_before = read("profiles-prior")
    written += _PRIOR.format(most=known_before["most"])
    written += table(prior.HEAD, prior.rows(known_before["sites"], sizes=(False,)))
    pages = sum(found["off"]["fetches"] for found in unknown)
    titles = ", ".join(found["title"] for found in unknown)
    said = (
        f"None of {pages:,} pages of {len(unknown)} programs that have no profile was taken for one"
    )
    return f"{written}{_NONE}{fill(f'{said} of a program that has: {titles}.', 100)}\n"


_ALONE_HEAD = [
    *("sites", "rules", "recognised", "found", "wrong", "precision"),
    *("recall there", "without", "mean of all sites"),
]


def _alone(found: dict[str, Any]) -> list[str]:
    return [
        found["corpus"],
        "and other views" if found["views"] else "the same page",
        str(found["sites"]),
        f"{found['found']:,} of {found['redundant']:,}",
        f"{found['wrong']:,}",
        f"{found['precision']:.4f}",
        f"{found['recall']:.3f}",
        f"{found['recall without']:.3f}",
        f"{found['macro recall']:.3f} of {found['macro sites']}",
    ]


def _rule(met: dict[str, Any]) -> list[str]:
    counts = [f"{met[name]:,}" for name in ("pairs", "compared", "differ", "lost")]
    return [met["program"], met["merges"], *counts]


def _row(found: dict[str, Any]) -> list[str]:
    off, on = found["off"], found["on"]
    saved = 1 - on["fetches"] / off["fetches"] if off["fetches"] else 0
    control = found["lost of the control"]
    return [
        found["title"],
        f"{found['limit']:,}",
        f"{off['fetches']:,}",
        f"{on['fetches']:,}",
        f"{saved:.0%}",
        f"{off['texts']:,}",
        f"{on['texts']:,}",
        str(found["lost"]),
        "-" if control is None else str(control),
    ]
