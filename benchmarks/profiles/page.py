"""Writes what was measured of profiles into the docs."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.profiles import prior
from benchmarks.results import RESULTS, read, table

PAGE = Path(__file__).parents[2] / "docs" / "profiles-measured.md"
_HEAD = """\
# What profiles save, measured

`make bench-profiles` crawls real programs, installed from packages and filled with made-up content,
breadth first, without [what is known of them](profiles.md) and with it, and writes this page. A
page is *lost* if more than a fifth of the words of its main text stand in no page of the crawl with
profiles. The control is a second crawl without profiles, which asks the program anew: what differs
there is the program's own doing. Where a crawl has reached
its limit, what profiles save is seen in the different texts that it has brought by then,
and pages beyond the limit of one of them count as lost. Programs of which no rule is
[certain](profiles.md#certain-and-usual) have nothing to save here.

"""
_RULES = """

## Rule by rule

`python -m benchmarks.profiles --rules` takes of each rule of a recognised program, certain or
[usual](profiles.md#certain-and-usual), the pairs of URLs that a crawl without profiles met and that
the rule alone would make one, and fetches up to 60 of these anew, each URL twice: lines that differ
between two fetches of one URL are left out. A pair *differs* if one of both has a line of text that
the other has not, and it *loses* a line if none of the pages has it that the rule keeps. Of a rule
for what separates parameters the pairs are URLs of the crawl with the one and the other.

"""
_COST = """

## What it costs

`python -m benchmarks.profiles_cost` crawls pages in memory with `URLCANON_PROFILES` on and off, in
turn, and compares the CPU time. It reads all profiles at the first page, in some 0.1 s, and looks
at up to five pages below each first directory of a host, 32 in all, and at nothing after.

The table is from the state in which each of these pages was parsed once more, and all attributes
of its elements were read. Timed apart, a page that is looked at took 1.2 ms then; in the document
that the spider's selectors use anyway, of which only the elements are read that a sign is about, it
takes 0.5 ms.

"""
_ALONE = """

## On real sites

`make bench-suspicions` tells programs by the URLs alone of two sets of archived sites, of which
there are neither headers nor pages, takes all that is known of these programs for rules, also what
is only usual, and compares the pages: first the rules that say that the page is the same, then
those for other views of the same things too, which are suspicions and drop nothing. A link to a
post counts as found where the page of the topic was archived too. Precision is that of what
profiles merge beyond the preset.

"""
_PRIOR = """

What is known before adds to what is learned: each site of up to {most:,} captures is learned from
one half and judged on the other, without suspicions, with the odds that are stated, and with odds
counted on all sites but this one. The sites with few URLs stand apart too.

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
    head = ["program", "recognised as", "limit", "fetches", "with profiles", "saved"]
    head += ["different texts", "with profiles", "lost", "lost in the control"]
    written = _HEAD + table(head, [_row(found) for found in known])
    rules = [_rule(met) for found in data.values() for met in found.get("rules", ())]
    head = ["program", "merges", "is", "pairs", "compared", "differ", "lose a line"]
    written += _RULES + table(head, rules)
    cost = RESULTS / "profiles-cost.md"
    if cost.exists():
        written += _COST + cost.read_text(encoding="utf-8").rstrip("\n")
    written += _ALONE + table(
        _ALONE_HEAD, [_alone(one) for one in read("profiles-corpus")["alone"]]
    )
    known_before = read("profiles-prior")
    written += _PRIOR.format(most=known_before["most"])
    written += table(prior.HEAD, prior.rows(known_before["sites"]))
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
    kind = "certain" if met["certain"] else "usual"
    counts = [f"{met[name]:,}" for name in ("pairs", "compared", "differ", "lost")]
    return [met["program"], met["merges"], kind, *counts]


def _row(found: dict[str, Any]) -> list[str]:
    off, on = found["off"], found["on"]
    saved = 1 - on["fetches"] / off["fetches"] if off["fetches"] else 0
    control = found["lost of the control"]
    return [
        found["title"],
        ", ".join(found["recognised"]),
        f"{found['limit']:,}",
        f"{off['fetches']:,}",
        f"{on['fetches']:,}",
        f"{saved:.0%}",
        f"{off['texts']:,}",
        f"{on['texts']:,}",
        str(found["lost"]),
        "-" if control is None else str(control),
    ]
