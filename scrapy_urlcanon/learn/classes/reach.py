"""Which pages a crawl finds if it does not fetch some URLs: told by what its pages linked.

A page that is found elsewhere is lost all the same where nothing but the page itself, under the
URL that is skipped, links the other place. And so are the pages that only it links.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_urlcanon.learn.held.row_index import NO_ROW
from scrapy_urlcanon.learn.links import ALL_KEPT
from scrapy_urlcanon.learn.site import NO_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from scrapy_urlcanon.learn.groups import Groups
    from scrapy_urlcanon.learn.links import Links
    from scrapy_urlcanon.learn.location import Location


class Reach:
    """The forms of the URLs of a site, with what links them.

    Of what many pages link not all that do are known: what one URL of a page links there all of
    them do. What nothing is known to link is found anyway, as is what a crawl begins with.
    """

    def __init__(self, links: Links, groups: Groups, form: Callable[[Location], Location]) -> None:
        """Prepare for the forms that there are, which must not change afterwards.

        :param form: what the accepted rewrite rules make of a URL.
        """
        self.seen = links.seen
        """How many of the pages that are linked were fetched."""
        site = groups.site
        self._forms, self._pages = groups.pages, len(site.sizes)
        form_of = array("i", (self._forms.row_of(form(url)) for url in site.locations))
        counts = Counter(links.targets)
        self._sources, self._targets = array("i"), array("i")
        read: set[int] = set()
        linked: set[int] = set()
        """What was linked before it was read."""
        for row, target in zip(links.sources, links.targets, strict=True):
            source, to = form_of[row], form_of[target]
            if NO_ROW in {source, to}:
                continue
            read.add(source)
            if to not in read:
                linked.add(to)
            is_all = counts[target] < ALL_KEPT
            self._sources.append(self._pages + source if is_all else self._place_of(source))
            self._targets.append(to)
        forms = {*form_of} - {NO_ROW}
        self._rows = max(forms, default=NO_ROW) + 1
        # What redirects shows nothing, but leads to what may.
        self._showing = {form for row, form in enumerate(form_of) if row not in site.redirects}
        self._starts = forms.difference(self._targets)
        self._starts.update(forms.intersection(map(form_of.__getitem__, links.starts)))
        # What links itself in a circle was found in a way that nobody noted: into each circle by
        # what no page had linked when it was read. Of the rest nothing is known.
        for found in (forms - linked, forms):
            shown = self._shown(frozenset())
            self._starts.update(row for row in found if not shown[self._pages + row])

    def missing(self, skipped: Iterable[Location]) -> set[int]:
        """Return the pages that no crawl gets which fetches none of some forms."""
        shown = self._shown({self._forms.row_of(form) for form in skipped})
        return {page for page in range(self._pages) if not shown[page]}

    def linked_by(self, forms: Iterable[Location]) -> int:
        """Return how many others some forms link, or may."""
        rows = [self._forms.row_of(form) for form in forms]
        places = {self._pages + row for row in rows} | {self._place_of(row) for row in rows}
        edges = zip(self._sources, self._targets, strict=True)
        return len({row for place, row in edges if place in places})

    def _shown(self, skipped: Collection[int]) -> bytearray:
        """Return which pages are shown if some rows of forms are not fetched.

        Behind the pages it says which rows are.
        """
        shown = bytearray(self._pages + self._rows)

        def fetch(row: int) -> None:
            shown[self._pages + row] = True
            if row not in self._showing:
                return
            pages = self._forms.pages_at(row)
            for page in (pages,) if isinstance(pages, int) else pages:
                if page != NO_EVIDENCE:
                    shown[page] = True

        for row in self._starts.difference(skipped):
            fetch(row)
        # Links are in the order of the crawl, so that a few rounds suffice.
        is_more = True
        while is_more:
            is_more = False
            for place, row in zip(self._sources, self._targets, strict=True):
                if shown[place] and not shown[self._pages + row] and row not in skipped:
                    fetch(row)
                    is_more = True
        return shown

    def _place_of(self, row: int) -> int:
        """Return the page of a form; a number of its own where it is not known to be of one."""
        pages = self._forms.pages_at(row)
        return pages if isinstance(pages, int) and pages != NO_EVIDENCE else self._pages + row
