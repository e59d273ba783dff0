"""Crawls random sites off and on: ``python -m differential --seeds 1000``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from twisted.internet import asyncioreactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from differential.case import Case
    from differential.law import Verdict


def main() -> None:
    """Crawl the cases of as many seeds as are asked for; exit with 1 if anything is lost."""
    parser = argparse.ArgumentParser(prog="python -m differential", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many (1,000)")
    parser.add_argument("--first", type=int, default=0, help="the first one (0)")
    parser.add_argument("--keep-going", action="store_true", help="do not shrink, only count")
    parser.add_argument(
        "--always", action="append", default=[], help="a feature of the generator that all have"
    )
    parser.add_argument(
        "--fair", action="store_true", help="crawl without the plugin only, in several orders"
    )
    parser.add_argument("--shrink", type=int, default=10, help="how many failures (10)")
    arguments = parser.parse_args()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    asyncioreactor.install(loop)
    sys.exit(loop.run_until_complete(_run(arguments)))


async def _run(arguments: argparse.Namespace) -> int:
    from differential.features import features  # noqa: PLC0415
    from differential.generator import generate  # noqa: PLC0415
    from differential.law import judge  # noqa: PLC0415

    say = sys.stdout.write
    if arguments.fair:
        return await _check_fairness(arguments)
    begun = monotonic()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    say(f"Crawling {len(seeds):,} random sites, each with the plugin off and on ...\n")
    counts: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    failures: list[int] = []
    for number, seed in enumerate(seeds, start=1):
        case = generate(seed, *arguments.always)
        verdict = await judge(case)
        names = features(case)
        counts.update(names)
        totals.update(
            promised=verdict.promised,
            lost=len(verdict.lost),
            gained=verdict.gained,
            off=len(verdict.hits[0]),
            on=len(verdict.hits[1]),
        )
        if verdict.failed:
            failed.update(names)
            failures.append(seed)
            say(f"  seed {seed}: {_problem(verdict)}\n")
        if number % 100 == 0:
            say(f"{number:,} sites, {len(failures):,} failed, {monotonic() - begun:.0f} s\n")
            sys.stdout.flush()
    if not arguments.keep_going:
        cases_of = [(seed, generate(seed, *arguments.always)) for seed in failures]
        await _show(cases_of[: arguments.shrink], say)
    say("\nsites  failed  with\n")
    for name, count in sorted(counts.items()):
        say(f"{count:5,}  {failed[name]:6,}  {name}\n")
    say(
        f"\n{len(seeds):,} sites in {monotonic() - begun:.0f} s; requests: {totals['off']:,} off,"
        f" {totals['on']:,} on. Pages and files promised: {totals['promised']:,},"
        f" lost: {totals['lost']:,}; got only with the plugin: {totals['gained']:,}."
        f" Sites where something is lost or broken: {len(failures):,}.\n"
    )
    return bool(failures)


async def _check_fairness(arguments: argparse.Namespace) -> int:
    from differential.generator import generate  # noqa: PLC0415
    from differential.law import chance  # noqa: PLC0415

    unfair = 0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        lost = await chance(generate(seed, *arguments.always))
        if lost:
            unfair += 1
            sys.stdout.write(f"  seed {seed}: Scrapy alone may lose {lost[:4]}\n")
    sys.stdout.write(f"{arguments.seeds:,} sites, {unfair:,} that are not fair\n")
    return bool(unfair)


def _problem(verdict: Verdict) -> str:
    # A crawl that was stopped, because it did not end in time, has lost what it had yet to fetch.
    problems = [error.strip().splitlines()[-1] for error in verdict.errors[:1]]
    if verdict.lost:
        lost = ", ".join(f"{pair[1]} for {pair[0]}" for _, pair, _ in verdict.lost[:4])
        problems.append(f"lost {lost}")
    return "; ".join(problems)


async def _show(failed: list[tuple[int, Case]], say: Callable[[str], object]) -> None:
    from differential.shrinking import explained  # noqa: PLC0415

    for seed, case in failed:
        say(f"\nSeed {seed}, as small as it goes:\n{await explained(case)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
