"""Writes the measurements of the order into the docs: the tables, and the curves as a picture."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.novelty.cases import BREADTH, DEPTH, LEARNED, NEWS, SHARES, UNSEEN
from benchmarks.results import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = _DOCS / "order-measured.md"
PICTURE = _DOCS / "images" / "order-curves.svg"
_ALLOWED = {10: 0.85}
"""The least ratio to the better of Scrapy's two orders that is not behind; 0.95 for other
shares."""
_SHOWN = (DEPTH, BREADTH, NEWS, LEARNED)
_HEAD = """\
# What the order brings, measured

`make bench-novelty` crawls real programs that nobody here wrote, and generated sites with traps, in
Scrapy's two orders and [by expected news](order.md), and writes this page. News are the words in
lines of visible text that no page fetched before had, counted on what came over the wire, by code
that the order does not use. All orders see the same pages, four requests are on their way at a
time. The programs come from Debian's and Python's packages and are filled with made-up content;
the manuals are as their packages have them.

## Programs

Thousands of words of news after 10 / 25 / 50 / 100 % of the fetches that a crawl may take. *Unseen*
are programs whose crawls nobody looked at while the order was made.

"""
_TRAPS = """
## Generated traps

Pages of content that were reached, with the seed that reached the fewest and that with the most.
The finder has 349 beside 400 filtered views that link one another; the shop 277, behind four
filters and three orders; the doors 349, each of which links a form to log in, a print view and a
session; the calendar 349 beside months without an end. On the even site each page is news; on the
late one 2,000 empty pages come first; *several* are the first four on one host, *hosts* are 50
hosts with one of these each.

"""
_SHAPES = """
## Generated sites of common shapes

What the order has of what the better of Scrapy's two has after 10 / 25 / 50 / 100 % of the fetches:
the median of the seeds, and the least (`benchmarks/novelty/shapes`). One seed says little: a tenth
of 400 fetches is 40 pages, of which a few are very long. These sites were looked at while the order
was made.

"""


def write(data: dict[str, Any]) -> None:
    """Write the page and its picture."""
    PAGE.write_text(text(data), encoding="utf-8")
    draw(data.get("programs", {}))


def text(data: dict[str, Any]) -> str:
    """Return the page."""
    programs = data.get("programs", {})
    written = _HEAD + table(
        ["program", "fetches", *_SHOWN, "of the better of both"],
        [_row(name, found) for name, found in programs.items()],
    )
    behind = [line for name, found in programs.items() for line in _behind(name, found)]
    written += "\n\n" + (_said(behind) if programs else "")
    if note := data.get("note"):
        written += f"\n{fill(note, 100, break_on_hyphens=False)}\n"
    written += "\n![News over fetches, for each program and order](images/order-curves.svg)\n"
    written += _TRAPS + table(
        ["site", "seeds", "fetches", DEPTH, BREADTH, NEWS],
        list(_trap_rows(data.get("traps", {}).values())),
    )
    written += "\n"
    if shapes := data.get("shapes"):
        heads = ["site", "seeds", "fetches", "median", "least"]
        written += _SHAPES + table(heads, list(_shape_rows(shapes.values()))) + "\n"
    return written


def _by_kind(sites: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for found in sites:
        by_kind.setdefault(found["kind"], []).append(found)
    return iter(by_kind.items())


def _shape_rows(shapes: Iterable[dict[str, Any]]) -> Iterator[list[str]]:
    for kind, all_ in _by_kind(shapes):
        ratios = list(zip(*(_shape_ratios(found["orders"]) for found in all_), strict=True))
        cells = [" / ".join(f"{of(each):.2f}" for each in ratios) for of in (median, min)]
        yield [kind, str(len(all_)), f"{all_[0]['limit']:,}", *cells]


def _shape_ratios(orders: dict[str, list[int]]) -> list[float]:
    rows = zip(orders[NEWS], orders[DEPTH], orders[BREADTH], strict=True)
    return [news / max(depth, breadth, 1) for news, depth, breadth in rows]


def _row(name: str, found: dict[str, Any]) -> list[str]:
    title = f"{found['title']}{' (unseen)' if name in UNSEEN else ''}"
    cells = [_words(found["orders"].get(order)) for order in _SHOWN]
    ratios = " / ".join(f"{ratio:.2f}" for _, ratio in _ratios(found))
    return [title, f"{found['limit']:,}", *cells, ratios]


def _words(runs: list[dict[str, Any]] | None) -> str:
    if not runs:
        return "-"
    return " / ".join(f"{_at(runs, share) / 1000:.1f}" for share in SHARES)


def _at(runs: Iterable[dict[str, Any]], share: int) -> float:
    return mean(run["curve"][share] for run in runs)


def _ratios(found: dict[str, Any]) -> Iterator[tuple[int, float]]:
    """Yield the news over that of the better of Scrapy's orders, at each share."""
    orders = found["orders"]
    if not all(orders.get(order) for order in (DEPTH, BREADTH, NEWS)):
        return
    for share in SHARES:
        best = max(_at(orders[order], share) for order in (DEPTH, BREADTH))
        yield share, _at(orders[NEWS], share) / best if best else 1.0


def _behind(name: str, found: dict[str, Any]) -> Iterator[str]:
    for share, ratio in _ratios(found):
        if ratio < _ALLOWED.get(share, 0.95):
            yield f"{found['title'] if name else ''} at {share} % ({ratio:.2f})"


def _said(behind: list[str]) -> str:
    if not behind:
        return (
            "The order is nowhere behind the better of Scrapy's two by more than 5 %"
            " (15 % at 10 %).\n"
        )
    return f"More than 5 % (15 % at 10 %) behind the better of Scrapy's two: {', '.join(behind)}.\n"


def _trap_rows(traps: Iterable[dict[str, Any]]) -> Iterator[list[str]]:
    for kind, all_ in _by_kind(traps):
        cells = [
            _range(found["orders"][order]["content"] for found in all_ if order in found["orders"])
            for order in (DEPTH, BREADTH, NEWS)
        ]
        yield [kind, str(len(all_)), f"{all_[0]['limit']:,}", *cells]


def _range(counts: Iterable[int]) -> str:
    found = sorted(counts)
    return " to ".join(f"{end:,}" for end in dict.fromkeys(found[:1] + found[-1:])) or "-"


def draw(programs: dict[str, Any]) -> None:
    """Draw a curve for each order and program, one panel a program."""
    import matplotlib as mpl  # noqa: PLC0415 - who measures only does not need it

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "order", "font.size": 8})
    from matplotlib import pyplot as plt  # noqa: PLC0415

    columns = 3
    rows = max(1, -(-len(programs) // columns))
    figure, axes = plt.subplots(rows, columns, figsize=(9, 2.3 * rows), squeeze=False)
    for panel in axes.flat:
        panel.set_visible(False)
    for panel, found in zip(axes.flat, programs.values(), strict=False):
        panel.set_visible(True)
        panel.set_title(found["title"], fontsize=9)
        for order, colour in zip(_SHOWN, ("C7", "C0", "C3", "C2"), strict=True):
            for number, run in enumerate(found["orders"].get(order, ())):
                fetches = [found["limit"] * each / 100 for each in range(0, 101, 2)]
                thousands = [round(words / 1000, 2) for words in run["curve"][::2]]
                label = "" if number else order
                panel.plot(fetches, thousands, color=colour, linewidth=1, label=label)
        panel.set_ylim(bottom=0)
    axes.flat[0].legend(frameon=False)
    figure.supxlabel("fetches")
    figure.supylabel("thousands of words of news")
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)
