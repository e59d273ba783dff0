"""The links between the pages of a site, as crawls recorded them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from scrapy_urlcanon.learn.classes.coverage import Share

ALL_KEPT = 8
"""Up to this many links to a page are all kept. Of more the recorder keeps a sample: menus link the
same pages from everywhere."""


class Links(NamedTuple):
    """The links of a site, by the rows of its URLs."""

    sources: array[int]
    """By link, in the order of the crawls: the row of the page that has it."""
    targets: array[int]
    """By link: the row of the URL that it leads to."""
    starts: frozenset[int]
    """The rows of the start requests."""
    seen: Share
    """How many of the linked pages were fetched."""


class KnownLinks(Protocol):
    """A source of recorded links."""

    def are_whole(self, domain: str) -> bool:
        """Tell whether all crawls of a domain ended because nothing was left to fetch."""

    def of(self, domain: str, row_of: Callable[[str], int]) -> Links | None:
        """Return the recorded links of a domain; None if there are none.

        :param row_of: returns the row of a URL.
        """
