"""Measures verdicts on rules on sites that change: ``python -m benchmarks.verdicts``."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

from benchmarks.verdicts.measuring import learn_the_shop, measure, start

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

PARTS = ("off", "movements", "hard", "validate", "declared", "skipped", "shop")
_SHARE_OF_OTHERS = 5
"""How many times fewer seeds the other parts have than the kinds of movement."""
_EACH = 50


def tasks_of(options: Namespace) -> Iterator[Any]:
    """Yield the tasks."""
    from benchmarks.verdicts import cases, declaring, skipping, validating  # noqa: PLC0415

    seeds = range(options.first, options.first + options.seeds)
    fewer = seeds[: max(1, len(seeds) // _SHARE_OF_OTHERS)]
    parts = {
        "off": cases.without_the_plugin(seeds),
        "movements": cases.of_movements(seeds),
        "hard": cases.of_hard_sites(fewer),
        "validate": validating.of_validations(fewer),
        "declared": declaring.of_declarations(fewer),
        "skipped": skipping.of_skips(seeds),
    }
    for name, tasks in parts.items():
        if name in options.parts:
            yield from (task for task in tasks if options.only in repr(task))


def done(tasks: list[Any], processes: int) -> Iterator[list[Any]]:
    """Yield the outcomes of *tasks*, in their order."""
    if processes == 1:
        start()
        yield from map(measure, tasks)
        return
    with get_context("spawn").Pool(processes, start, maxtasksperchild=500) as pool:
        yield from pool.imap(measure, tasks)


def run(tasks: list[Any], options: Namespace) -> list[Any]:
    """Run all tasks, or until Ctrl-C, and print the progress."""
    outcomes: list[Any] = []
    try:
        _run(tasks, options, outcomes)
    except KeyboardInterrupt:
        print("Stopped: what follows is of what was measured so far.", flush=True)
    return outcomes


def _run(tasks: list[Any], options: Namespace, outcomes: list[Any]) -> None:
    begun = monotonic()
    failed = 0
    for number, found in enumerate(done(tasks, options.processes), start=1):
        outcomes += found
        for each in found:
            if each.problems:
                failed += 1
                if options.verbose:
                    print(f"  {each.case}: {'; '.join(each.problems)}")
        if number % _EACH == 0 or number == len(tasks):
            print(
                f"{number:,} of {len(tasks):,}, {failed:,} not as they should be,"
                f" {monotonic() - begun:.0f} s",
                flush=True,
            )


def problems_of(outcomes: Iterable[Any]) -> list[dict[str, str]]:
    """Return the failures, each with the command that reproduces it."""
    return [
        {"case": str(each.case), "problem": problem}
        for each in outcomes
        for problem in each.problems
    ]


def main() -> int:
    parser = ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="of each kind of movement (100)")
    parser.add_argument("--first", type=int, default=0, help="the first one (0)")
    parser.add_argument("--processes", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--only", default="", help="cases that have this in what is printed of them"
    )
    parser.add_argument("--verbose", action="store_true", help="print what is not as it should be")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--page", action="store_true", help="write the tables into the docs")
    options = parser.parse_args()
    # By seed: where it is stopped, there is as much of each kind.
    tasks = sorted(tasks_of(options), key=lambda task: getattr(task, "case", task).seed)
    print(f"{len(tasks):,} sites to crawl or to validate rules on")
    texts: dict[str, str] = {}
    data: dict[str, Any] = {"seeds": options.seeds}
    with TemporaryDirectory() as directory:
        if "shop" in options.parts and not options.only:
            print("Learning the shop three times ...", flush=True)
            texts["shop"], data["shop"] = learn_the_shop(Path(directory))
    outcomes = run(tasks, options)
    from benchmarks.verdicts.tables import AIMS, tables, write_page  # noqa: PLC0415

    texts |= tables(outcomes)
    for name, text in texts.items():
        if text:
            print(f"\n{name}\n\n{text}")
    problems = problems_of(outcomes)
    problems += [
        {"case": "shop", "problem": f"learned again: {line}"}
        for lines in data.get("shop", {}).get("differences", ())
        for line in lines
    ]
    print(f"\n{AIMS}\n")
    for problem, count in Counter(_kind(each["problem"]) for each in problems).most_common():
        print(f"{count:6,}  {problem}")
    data |= {"tables": texts, "problems": problems}
    if options.json:
        options.json.write_text(json.dumps(data, indent=1, default=str) + "\n", encoding="utf-8")
    if options.page:
        write_page(texts)
    return bool(problems)


def _kind(problem: str) -> str:
    """Return a problem without its figures."""
    return " ".join("N" if word.isdigit() else word for word in problem.split())


if __name__ == "__main__":
    sys.exit(main())
