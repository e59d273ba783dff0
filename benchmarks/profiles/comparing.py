"""Compares the pages of two crawls of a program by their visible text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.novelty.crawling import Responses
from benchmarks.novelty.news import lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_COMMON = 0.3
"""A line on more than this share of the pages belongs to the site, not to a page."""
_MISSED = 0.2
"""A page is missing if more than this share of its words is on no page of the other crawl."""
_SHORT = 5
"""A page with fewer words than this is ignored."""


@dataclass(frozen=True)
class Texts:
    """The lines of visible text of each page that a crawl fetched."""

    pages: dict[str, frozenset[str]]
    """By URL, without lines that most pages have."""
    lines: frozenset[str]
    """The lines of all pages, with those that most have: they may be content in another crawl."""

    @property
    def distinct(self) -> int:
        """The number of distinct texts."""
        return len({each for each in self.pages.values() if each})


def texts(file: str, urls: Iterable[str]) -> Texts:
    """Read the pages of a crawl from the file with the responses."""
    responses = Responses(file)
    pages = {}
    for url in dict.fromkeys(urls):
        response = responses.at(url)
        if response is not None and response.status == 200:  # noqa: PLR2004
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
            pages[url] = frozenset(lines(response.body, kind))
    counts = Counter(line for page in pages.values() for line in page)
    most = max(5.0, _COMMON * len(pages))
    common = {line for line, count in counts.items() if count > most}
    return Texts({url: page - common for url, page in pages.items()}, frozenset(counts))


def missing(from_crawl: Texts, in_crawl: Texts, noise: Collection[str] = ()) -> list[str]:
    """Return the URLs of pages whose main text no page of another crawl has.

    :param noise: lines that differ between two crawls of the same kind.
    """
    there = in_crawl.lines
    found = []
    for url, page in from_crawl.pages.items():
        own = [line for line in page if line not in noise]
        words = sum(len(line.split()) for line in own)
        missed = sum(len(line.split()) for line in own if line not in there)
        if words >= _SHORT and missed > _MISSED * words:
            found.append(url)
    return found
