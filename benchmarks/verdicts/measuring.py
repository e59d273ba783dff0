"""Runs the tasks that need a reactor, one at a time, in any process."""

from __future__ import annotations

import asyncio
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path


def start() -> None:
    """Give this process a loop, and Scrapy its reactor on it."""
    if "twisted.internet.reactor" in sys.modules:
        return
    from twisted.internet import asyncioreactor  # noqa: PLC0415

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    asyncioreactor.install(loop)


def finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run *coroutine* on the loop of the reactor, and return what it returns."""
    return asyncio.get_event_loop_policy().get_event_loop().run_until_complete(coroutine)


def measure(task: Any) -> list[Any]:
    """Do one crawl, or validate one set of rules."""
    from benchmarks.verdicts import cases, declaring, skipping, validating  # noqa: PLC0415

    if isinstance(task, cases.Case):
        return [finish(cases.crawl(task))]
    if isinstance(task, validating.Validation):
        return list(finish(validating.validate(task)))
    if isinstance(task, skipping.Skipping):
        return [finish(skipping.crawl(task))]
    return [finish(declaring.crawl(task))]


def learn_the_shop(directory: Path) -> tuple[str, dict[str, Any]]:
    """Learn the shop three times; return the table and the data."""
    start()
    from benchmarks.verdicts import shop  # noqa: PLC0415
    from benchmarks.verdicts.tables import shop_table  # noqa: PLC0415

    rounds = finish(shop.learned(directory))
    differences = [shop.difference(*pair) for pair in pairwise(rounds)]
    for number, lines in enumerate(differences, start=1):
        print(f"Rules learned {number} times and {number + 1} times: {lines or 'the same'}")
    data = {"rounds": [each.as_data() for each in rounds], "differences": differences}
    return shop_table(rounds, differences), data
