"""What share of the URLs of a site a crawl has seen, told by classes with one for each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.classes.coverage import Share, together
from scrapy_urlcanon.learn.held.row_index import NO_ROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_urlcanon.learn.classes.members import SkipClass
    from scrapy_urlcanon.learn.held.locations import Locations


class SharesSeen:
    """Tells what share of the URLs that lead to a page was seen, by pairs of classes.

    Where each page of one has one URL in another, what is missing there was not seen. That is less
    than the share of the URLs that was seen where the other has but some of the pages. Of what a
    rule made of several URLs more was seen than of any that something links.

    :param classes: all classes of a site.
    :param locations: what was seen of it.
    """

    def __init__(self, classes: Iterable[SkipClass], locations: Locations) -> None:
        single = [found for found in classes if found.is_single]
        linked = [(found, _linked(found, locations)) for found in single]
        # Of each class, by the numbers of the others.
        self._shares: list[tuple[SkipClass, dict[int, Share]]] = [
            (
                one,
                {
                    number: Share(len(one.pages.keys() & pages), len(one.pages))
                    for number, (other, pages) in enumerate(linked)
                    if one.members.isdisjoint(other.members)
                },
            )
            for one in single
        ]

    def without(self, found: SkipClass) -> Iterator[Share]:
        """Yield what the other classes tell.

        What the pages of a class itself have elsewhere is the question, and no answer. Several
        classes have several pages, so that together they tell it better.
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
    """Return the pages that were seen under members, and not only under what became one."""
    return {
        page
        for page, showing in found.pages.items()
        if any(locations.find(url) != NO_ROW for url in showing)
    }
