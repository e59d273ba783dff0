"""Estimates what share of a site's URLs a crawl has seen, by classes with one URL for each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.coverage import Share, together
from scrapy_urlcanon.learn.held.row_index import NO_ROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.held.locations import Locations


class SharesSeen:
    """Estimates the share by pairs of classes.

    If each page of one class also has a URL in the other class, the URLs that are missing there
    were not seen. If the other class has only some of the pages, the estimate is too low, never too
    high. Only URLs count as they were linked: of a URL that a rule makes of several, more are seen.

    :param classes: all classes of a site.
    :param locations: the URLs that were seen.
    """

    def __init__(self, classes: Iterable[SkipClass], locations: Locations) -> None:
        single = [found for found in classes if found.is_single]
        linked = [(found, _linked(found, locations)) for found in single]
        with_page: dict[int, list[int]] = {}
        for number, (_, pages) in enumerate(linked):
            for page in pages:
                with_page.setdefault(page, []).append(number)

        def shares_of(one: SkipClass) -> Iterator[tuple[int, Share]]:
            # Classes without a common page say nothing.
            for number in sorted({n for page in one.pages for n in with_page.get(page, ())}):
                other, pages = linked[number]
                if one.members.isdisjoint(other.members):
                    yield number, Share(len(one.pages.keys() & pages), len(one.pages))

        # For each class, its shares by the number of the other class.
        self._shares = [(one, dict(shares_of(one))) for one in single]

    def without(self, found: SkipClass) -> Iterator[Share]:
        """Yield the shares by pairs without the class *found*, and their sums by the second class.

        How many pages of the class itself have another URL is what is to be found out. Sums are
        more precise, since several classes have more pages.
        """
        by_other: dict[int, list[Share]] = {}
        for one, shares in self._shares:
            if one.members.isdisjoint(found.members):
                for number, share in shares.items():
                    by_other.setdefault(number, []).append(share)
        for shares_there in by_other.values():
            yield from shares_there
            yield together(shares_there)


def _linked(found: SkipClass, locations: Locations) -> set[int]:
    """Return the pages that were seen under members as linked, not only after a rewrite."""
    return {
        page
        for page, showing in found.pages.items()
        if any(locations.find(url) != NO_ROW for url in showing)
    }
