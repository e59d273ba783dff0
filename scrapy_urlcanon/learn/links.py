"""What crawls found where: the links between the pages of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from scrapy_urlcanon.learn.classes.coverage import Share

ALL_KEPT = 8
"""Of fewer links to a page none is left out. Of more the recorder keeps some: menus link the same
from everywhere."""


class Links(NamedTuple):
    """The links of a site, by the rows of its URLs."""

    sources: array[int]
    """By link, in the order of the crawls, the URL of the page that has it."""
    targets: array[int]
    """By link, the URL that it leads to."""
    starts: frozenset[int]
    """What a crawl began with."""
    seen: Share
    """How many of the pages that are linked were fetched."""


class KnownLinks(Protocol):
    """What is known of the links of sites."""

    def are_whole(self, domain: str) -> bool:
        """Tell whether all crawls of a domain ended since nothing was left to fetch."""

    def of(self, domain: str, row_of: Callable[[str], int]) -> Links | None:
        """Return what is known of the links of a domain; None where that is nothing.

        :param row_of: the row of a URL.
        """
