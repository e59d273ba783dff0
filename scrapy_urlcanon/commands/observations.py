"""Reads the inputs of an action of ``scrapy urlcanon``: observations of crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.readers import format_of, read
from scrapy_urlcanon.wording import by_count, count_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from scrapy_urlcanon.learn import Observation

_UPDATE_EVERY = 1000
"""Observations between two calls of ``progress``."""


def observations_of(
    inputs: Sequence[Path],
    skipped: Counter[str],
    progress: Callable[[int, int], None] = lambda inputs, observations: None,  # noqa: ARG005
) -> Iterator[Observation]:
    """Yield the observations of all *inputs*.

    :param skipped: counts the rows that are not valid observations, by what is wrong with them.
    :param progress: is called with how many inputs and how many observations were read.
    :raises LearnError: before anything is read if an input is missing or of no known format; later
        if one cannot be read to its end.
    """
    for path in inputs:
        format_of(path)
    count = 0
    for number, path in enumerate(inputs):
        for observation in read(path, skipped):
            count += 1
            if count % _UPDATE_EVERY == 0:
                progress(number, count)
            yield observation
        progress(number + 1, count)


def nothing_of(
    inputs: Sequence[Path], skipped: Counter[str], domains: Sequence[str] | None = None
) -> str:
    """Say that *inputs* have no observation, of *domains* if they are given, and what they have."""
    message = str(inputs[0]) if len(inputs) == 1 else count_of(len(inputs), "input")
    message += ": no observation"
    if domains:
        message += f" of {', '.join(domains)}"
    if skipped:
        message += "; skipped: " + ", ".join(
            f"{count:,} {reason}" for reason, count in by_count(skipped)
        )
    if any(path.is_dir() for path in inputs):
        # Perhaps the directory of a job, or of a project.
        message += "; a directory is read as an HTTP cache of Scrapy"
    return message
