"""Holds the captures of a site in any order, and sorts them by URL."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect
from contextlib import suppress
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.held.contents import Contents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_urlcanon.learn.held.contents import Shown

MAX_RUN = 250_000
"""How many captures are sorted at once."""

# How many URLs of each run are sampled to choose the borders between runs.
_SAMPLES = 50


class Runs:
    """Captures in any order, in runs that are short enough to be sorted."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs = [Run()]

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, url: bytes, shown: Shown, canonical: str, redirect: str) -> None:
        """Add a capture."""
        if len(self._runs[-1]) >= MAX_RUN:
            self._runs.append(Run())
        self._runs[-1].add(url, shown, canonical, redirect)

    def extend(self, other: Runs) -> None:
        """Add the captures of another."""
        for run in other._runs:
            if len(self._runs[-1]) + len(run) <= MAX_RUN:
                self._runs[-1].extend(run)
            else:
                self._runs.append(run)

    def with_semicolons(self) -> Iterator[str]:
        """Yield the URLs of the runs where any URL has a semicolon."""
        for run in self._runs:
            if b";" in run.urls:
                for url in run.each_url():
                    yield url.decode("utf-8", "surrogatepass")

    def in_order(self) -> Iterator[tuple[bytes, Run, int]]:
        """Yield each capture as URL, run and number, sorted by URL; free the runs on the way.

        The captures are first split into runs by ranges of URLs, and each run is sorted by itself.
        Sorting ten million at once would take more memory than all else that is known of them, and
        miss the processor's cache nearly every time.
        """
        count = len(self)
        runs = _apart(self._runs) if len(self._runs) > 1 else self._runs
        runs.reverse()
        while runs:
            run = runs.pop()
            urls = run.each_url()
            # UTF-8 bytes sort as the text does. The numbers are in an array, since as objects they
            # would take 32 bytes each.
            for number in array("l", sorted(range(len(run)), key=urls.__getitem__)):
                yield urls[number], run, number
            if runs:
                del run, urls
                give_back(count)


class Run:
    """Some captures, in any order."""

    __slots__ = ("_ends", "canonical", "contents", "redirect", "urls")

    def __init__(self) -> None:
        self.urls = bytearray()
        """The URLs, joined without separators."""
        self._ends = array("Q")
        self.contents = Contents()
        self.canonical: dict[int, str] = {}
        """The canonical URL that a capture declares, by number, unless it is its own URL."""
        self.redirect: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ends)

    def each_url(self) -> list[bytes]:
        """Return the URLs of all captures: faster than one by one."""
        urls = bytes(self.urls)
        return [urls[start:end] for start, end in pairwise(chain((0,), self._ends))]

    def add(self, url: bytes, shown: Shown, canonical: str, redirect: str) -> None:
        """Add a capture."""
        if canonical:
            self.canonical[len(self)] = canonical
        if redirect:
            self.redirect[len(self)] = redirect
        self.urls += url
        self._ends.append(len(self.urls))
        self.contents.append(shown)

    def extend(self, other: Run) -> None:
        """Add the captures of another."""
        start, length = len(self), len(self.urls)
        self.urls += other.urls
        self._ends.extend(length + end for end in other._ends)
        self.contents.extend(other.contents)
        self.canonical.update((start + number, url) for number, url in other.canonical.items())
        self.redirect.update((start + number, url) for number, url in other.redirect.items())


def _apart(runs: list[Run]) -> list[Run]:
    """Return the captures in new runs, each of one range of URLs, in ascending order."""
    sample = sorted(chain.from_iterable(run.each_url()[:: MAX_RUN // _SAMPLES] for run in runs))
    borders = sample[_SAMPLES::_SAMPLES]
    parts = [Run() for _ in range(len(borders) + 1)]
    runs.reverse()
    while runs:
        run = runs.pop()
        for number, (url, shown) in enumerate(zip(run.each_url(), run.contents, strict=True)):
            canonical, redirect = run.canonical.get(number, ""), run.redirect.get(number, "")
            parts[bisect(borders, url)].add(url, shown, canonical, redirect)
    return parts


def give_back(count: int) -> None:
    """Return what *count* captures have freed to the operating system, if the C library does not.

    glibc keeps freed blocks of up to 32 MB, such as those of runs, for blocks of the same size,
    which are not asked for again: it kept 0.9 GB of ten million captures.
    """
    if count > MAX_RUN and sys.platform == "linux":
        from ctypes import CDLL  # noqa: PLC0415 - for large domains only

        with suppress(AttributeError):  # as with musl
            CDLL(None).malloc_trim(0)
