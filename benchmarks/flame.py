"""Draws a flame graph of the CPU of a crawl with all parts, and sums it up by package.

    python -m benchmarks.flame --help

The crawl is that of ``benchmarks/safety.py``. Every few milliseconds of CPU the stack of the
thread with the event loop is sampled, but not while the benchmark makes a page. A sample is
attributed to the innermost function that is neither in a C library nor in Python's own. Writes
``docs/images/crawl-profile.svg`` and ``benchmarks/results/profile.json``; Unix only.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import safety
from benchmarks.results import conditions, say, table, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from typing_extensions import Self

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "crawl-profile.svg"
OURS = "scrapy_urlcanon"
COLOURS = {
    OURS: "#d95f02",
    "scrapy": "#7570b3",
    "parsel": "#1b9e77",
    "w3lib": "#66a61e",
    "twisted": "#999999",
}
_INTERVAL = 0.004  # seconds of CPU
_WIDTH, _ROW, _CHARACTER = 1200, 18, 6.4  # pixels
_NARROWEST = 1.5
_LEAST = 0.001


class Function(NamedTuple):
    """A function of one of the packages in :data:`COLOURS`."""

    package: str
    name: str
    """Its module, from the package on, and its name there."""


class Sampler:
    """Counts the stacks of the main thread while it is used as a context manager."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[Function, ...]] = Counter()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        return self

    def __exit__(self, *args: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _note(self, _number: int, frame: FrameType | None) -> None:
        stack: list[Function] = []
        while frame is not None:
            if frame.f_code is safety.page_of.__code__:
                return
            function = function_of(frame)
            if function:
                stack.append(function)
            frame = frame.f_back
        self.counts[tuple(reversed(stack))] += 1


def function_of(frame: FrameType) -> Function | None:
    """Return the function that *frame* runs, if it is one of the packages."""
    parts = Path(frame.f_code.co_filename).with_suffix("").parts
    for at in range(len(parts) - 1, -1, -1):
        if parts[at] in COLOURS:
            module = "/".join(parts[at + 1 :])
            return Function(parts[at], f"{module}: {frame.f_code.co_name}")
    return None


def shares(counts: Counter[tuple[Function, ...]]) -> dict[str, float]:
    """Return the share of each package in the samples, ours by room, from a thousandth on."""
    found: Counter[str] = Counter()
    for stack, number in counts.items():
        package, name = stack[-1] if stack else Function("Python", "")
        room = name.partition(":")[0].partition("/")[0]
        found[f"{OURS}/{room}" if package == OURS else package] += number
    of_each = {name: number / found.total() for name, number in found.most_common()}
    return {name: share for name, share in of_each.items() if share >= _LEAST}


class Box(NamedTuple):
    """A function under one stack, as it is drawn."""

    function: Function
    depth: int
    start: float
    """The left edge, as a share of the whole, like :attr:`share`."""
    share: float


def boxes(counts: Counter[tuple[Function, ...]]) -> Iterator[Box]:
    """Yield the boxes, from the outermost functions inwards."""
    total = counts.total()
    level: list[tuple[float, Counter[tuple[Function, ...]]]] = [(0.0, counts)]
    depth = 0
    while level:
        deeper = []
        for start, stacks in level:
            by_first: dict[Function, Counter[tuple[Function, ...]]] = {}
            for (first, *rest), number in ((s, n) for s, n in stacks.items() if s):
                by_first.setdefault(first, Counter())[tuple(rest)] += number
            at = start
            for function in sorted(by_first):
                share = by_first[function].total() / total
                if share * _WIDTH >= _NARROWEST:
                    yield Box(function, depth, at, share)
                    deeper.append((at, by_first[function]))
                at += share
        level, depth = deeper, depth + 1


def picture(counts: Counter[tuple[Function, ...]]) -> str:
    """Return the flame graph as SVG; the outermost functions are at the top."""
    drawn = list(boxes(counts))
    height = _ROW * (max(box.depth for box in drawn) + 3)
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
    lines = [
        f'<svg {head} font-family="monospace" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, (package, colour) in enumerate(COLOURS.items()):
        lines.append(
            f'<rect x="{150 * number}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{150 * number + 18}" y="11">{package}</text>'
        )
    for (package, name), depth, start, share in drawn:
        x, y, width = start * _WIDTH, (depth + 1.5) * _ROW, share * _WIDTH
        shown = escape(name[: int(width / _CHARACTER)]) if width > 5 * _CHARACTER else ""
        lines.append(
            f"<g><title>{escape(package)}/{escape(name)}: {share:.1%}</title>"
            f'<rect x="{x:.1f}" y="{y:.0f}" width="{width - 0.5:.1f}" height="{_ROW - 1}" '
            f'fill="{COLOURS[package]}"/>'
            + (
                f'<text x="{x + 2:.1f}" y="{y + 13:.0f}" fill="white">{shown}</text>'
                if shown
                else ""
            )
            + "</g>"
        )
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=3_000, help="pages of the crawl")
    parser.add_argument("--size", type=int, default=30_000, help="bytes of a page")
    options = parser.parse_args()
    say(f"a crawl of {options.pages:,} pages with all parts")
    started = conditions()
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with Sampler() as sampler:
            safety.crawl(safety.EVERYTHING, options.pages, options.size)
        os.chdir(here)
    PICTURE.write_text(picture(sampler.counts), encoding="utf-8")
    found = shares(sampler.counts)
    data = {"conditions": started, "samples": sampler.counts.total(), "shares": found}
    rows = [[name, f"{share:.1%}"] for name, share in found.items()]
    write("profile", data, [table(["whose code", "of the CPU"], rows)])


if __name__ == "__main__":
    main()
