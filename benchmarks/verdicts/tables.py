"""Makes the tables of the results, and writes them into the docs."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.results import table
from benchmarks.verdicts.cases import (
    AUDIT,
    HARD,
    MORE,
    MORE_PER_WRONG,
    SOMETIMES,
    TWO_DOMAINS,
    Outcome,
)
from benchmarks.verdicts.declaring import HONEST, WITNESSES, Declared
from benchmarks.verdicts.movements import MOVEMENTS
from benchmarks.verdicts.skipping import KINDS, MORE_FETCHES, Skipped
from benchmarks.verdicts.validating import Validated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.verdicts.shop import Round

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
Rows = Literal["all", "problems"]
_BEGIN = "<!-- {name} -->\n"
_END = "<!-- end -->\n"
_COLUMNS = ("crawls", "pages lost", "fetches more than pages", "at most")
"""Of crawls under rules that are right, or of which one is wrong; the numbers of pages differ."""


def tables(outcomes: Sequence[Any]) -> dict[str, str]:
    """Return the tables in Markdown, by the names of their places on the page."""
    crawls = [each for each in outcomes if isinstance(each, Outcome)]
    on = [each for each in crawls if each.case.is_on]
    moving = [each for each in on if each.case.kind in MOVEMENTS]
    validated = [each for each in outcomes if isinstance(each, Validated)]
    declared = [each for each in outcomes if isinstance(each, Declared)]
    hard = (*HARD, *SOMETIMES, TWO_DOMAINS)
    return {
        "off": _off([each for each in crawls if not each.case.is_on]),
        "right": _right("what moves", moving, MOVEMENTS, of="problems"),
        "wrong": _wrong("what moves", moving, MOVEMENTS, of="problems"),
        "hard right": _right("what the site does", on, hard),
        "hard wrong": _wrong("what the site does", on, hard),
        "validate": _validated("what moves", validated, MOVEMENTS),
        "declared": _declared(declared),
        "skipped": _skipped([each for each in outcomes if isinstance(each, Skipped)]),
    }


def shop_table(rounds: Sequence[Round], differences: Sequence[Sequence[str]]) -> str:
    """Return the table of the rules learned of the shop."""
    head = ["", "fetches", "pages", "suspended", "rules that are others than before"]
    names = ("without rules", "under what was learned", "under what was learned again")
    return table(
        head,
        [
            (
                name,
                f"{each.fetches:,}",
                each.pages,
                ", ".join(each.suspended) or "none",
                "" if number == 0 else len(differences[number - 1]) or "none",
            )
            for number, (name, each) in enumerate(zip(names, rounds, strict=False))
        ],
    )


def write_page(texts: dict[str, str], page: Path = PAGE) -> None:
    """Write each table to its place on the page."""
    text = page.read_text(encoding="utf-8")
    for name, content in texts.items():
        before, begin, rest = text.partition(_BEGIN.format(name=name))
        _, end, after = rest.partition(_END)
        if begin and end and content:
            text = f"{before}{begin}\n{content}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def by_kind(
    outcomes: Iterable[Any], order: Iterable[str], of: Rows = "all"
) -> list[tuple[str, list[Any]]]:
    """Return the outcomes by the kind of the case, in this *order*, with all of them last.

    :param of: which kinds have a row of their own: all, or those of which one has problems.
    """
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for each in outcomes:
        groups[each.case.kind].append(each)
    found = [(name, groups[name]) for name in order if groups[name]]
    shown = [each for each in found if of == "all" or any(one.problems for one in each[1])]
    return [*shown, ("all", [each for _, group in found for each in group])] if found else []


def _more(outcomes: Iterable[Outcome | Skipped]) -> tuple[str, str]:
    shares = [each.share - 1 for each in outcomes]
    return f"{mean(shares):+.1%}", f"{max(shares):+.1%}"


def _off(outcomes: Sequence[Outcome]) -> str:
    return table(
        ["sites", "pages", "reached", "fetches", "crawls without end"],
        [
            (
                f"{len(outcomes)}",
                f"{sum(each.pages for each in outcomes):,}",
                f"{sum(each.reached for each in outcomes):,}",
                f"{sum(each.fetches for each in outcomes):,}",
                sum(each.is_endless for each in outcomes),
            )
        ]
        if outcomes
        else [],
    )


def _right(head: str, outcomes: Iterable[Outcome], order: Iterable[str], of: Rows = "all") -> str:
    rows = []
    for name, group in by_kind((o for o in outcomes if not o.case.has_wrong), order, of):
        rows.append(
            (
                name,
                len(group),
                *_figures(group),
                sum(bool(each.right_suspended) for each in group),
            )
        )
    return table([head, *_COLUMNS, "crawls with a right entry suspended"], rows)


def _wrong(head: str, outcomes: Iterable[Outcome], order: Iterable[str], of: Rows = "all") -> str:
    rows = []
    for name, group in by_kind((o for o in outcomes if o.case.has_wrong), order, of):
        after = [each.found_after for each in group if each.found_after is not None]
        rows.append(
            (
                name,
                len(group),
                *_figures(group),
                len(after),
                f"{median(after):.0f}" if after else "never",
                sum(bool(each.right_suspended) for each in group),
            )
        )
    more = ["wrong ones found", "after fetches (median)", "crawls with a right entry suspended"]
    return table([head, *_COLUMNS, *more], rows)


def _figures(group: Sequence[Outcome]) -> tuple[str, ...]:
    return f"{sum(each.pages - each.reached for each in group):,}", *_more(group)


def _validated(head: str, outcomes: Iterable[Validated], order: Iterable[str]) -> str:
    rows = []
    for name, group in by_kind(outcomes, order, "problems"):
        right = [each for each in group if not each.is_wrong]
        wrong = [each for each in group if each.is_wrong]
        rows.append(
            (
                name,
                len(right),
                *(
                    sum(each.outcome == outcome for each in right)
                    for outcome in ("holds", "open", "fails")
                ),
                _fetches(right),
                len(wrong),
                sum(each.outcome == "fails" for each in wrong),
                _fetches(wrong),
            )
        )
    columns = ["right entries", "hold", "open", "fail", "fetches each"]
    return table([head, *columns, "wrong entries", "fail", "fetches each"], rows)


def _fetches(group: Sequence[Validated]) -> str:
    return f"{mean(each.fetches for each in group):.0f}" if group else ""


def _declared(outcomes: Sequence[Declared]) -> str:
    rows = []
    for lies, witness in dict.fromkeys((o.case.lies, o.case.witness) for o in outcomes):
        group = [o for o in outcomes if (o.case.lies, o.case.witness) == (lies, witness)]
        ways = [[o for o in group if o.case.is_audited is audited] for audited in (False, True)]
        rows.append(
            (
                lies if lies == HONEST else f"{lies}; {WITNESSES[witness]}",
                f"{max(sum(o.pages for o in way) for way in ways):,}",
                " / ".join(str(sum(o.pages - o.reached for o in way)) for way in ways),
                " / ".join(f"{sum(o.saved for o in way):,}" for way in ways),
            )
        )
    return table(["the site", "pages", "lost", "fetches saved"], rows)


def _skipped(outcomes: Sequence[Skipped]) -> str:
    rows = []
    for kind, is_audited in product(KINDS, (False, True)):
        group = [each for each in outcomes if each.case.kind == kind]
        group = [each for each in group if each.case.is_audited == is_audited]
        if group:
            lost = [each.pages - each.reached for each in group]
            rows.append(
                (
                    kind,
                    f"{AUDIT:.0%}" if is_audited else "off",
                    len(group),
                    f"{sum(each.pages for each in group):,}",
                    f"{sum(lost):,}",
                    sum(map(bool, lost)),
                    *_more(group),
                    sum(each.is_suspended for each in group),
                )
            )
    columns = ["audit", "crawls", "pages", "lost", "crawls that lost any", "more than pages"]
    return table(["short links", *columns, "at most", "template suspended"], rows)


AIMS = (
    f"No page lost, no right entry suspended, every wrong one found; at most {MORE:.0%} more"
    f" fetches than pages where all entries are right, and {MORE_PER_WRONG:.0%} per wrong one;"
    f" {MORE_FETCHES} for a template that skips."
)
