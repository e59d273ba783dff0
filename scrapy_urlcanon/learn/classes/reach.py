"""Finds which pages a crawl would miss if it skipped some URLs, by the links that it has seen.

Even if a page has another URL, it is lost if only the skipped URL links to that, and so are the
pages that only it links to.
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
    """The link graph of a site: forms of URLs, after the accepted rewrites, and who links them.

    Of a URL that many pages link, only some of the links were kept. So if one URL of a page links
    it, all URLs of that page are taken to. A URL that no known link leads to counts as found, and
    so do the start URLs.
    """

    def __init__(self, links: Links, groups: Groups, form: Callable[[Location], Location]) -> None:
        """Build the graph of the present forms, which must not change afterwards.

        :param form: returns what the accepted rewrite rules make of a URL.
        """
        self.seen = links.seen
        """How many of the linked URLs were fetched."""
        site = groups.site
        self._forms, self._pages = groups.pages, len(site.sizes)
        form_of = array("i", (self._forms.row_of(form(url)) for url in site.locations))
        counts = Counter(links.targets)
        self._sources, self._targets = array("i"), array("i")
        read: set[int] = set()
        linked: set[int] = set()
        """Forms that were linked before their own page was read."""
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
        # A URL that redirects shows no page itself.
        self._showing = {form for row, form in enumerate(form_of) if row not in site.redirects}
        self._starts = forms.difference(self._targets)
        self._starts.update(forms.intersection(map(form_of.__getitem__, links.starts)))
        # If URLs can only be reached from one another, some link to them was not recorded: probably
        # to those that no page had linked when they were read. The rest are taken for found, too.
        for found in (forms - linked, forms):
            shown = self._shown(frozenset())
            self._starts.update(row for row in found if not shown[self._pages + row])

    def missing(self, skipped: Iterable[Location]) -> set[int]:
        """Return the pages that a crawl misses if it fetches none of the *skipped* forms."""
        shown = self._shown({self._forms.row_of(form) for form in skipped})
        return {page for page in range(self._pages) if not shown[page]}

    def linked_by(self, forms: Iterable[Location]) -> int:
        """Return how many forms the given forms link, or may link."""
        rows = [self._forms.row_of(form) for form in forms]
        places = {self._pages + row for row in rows} | {self._place_of(row) for row in rows}
        edges = zip(self._sources, self._targets, strict=True)
        return len({row for place, row in edges if place in places})

    def _shown(self, skipped: Collection[int]) -> bytearray:
        """Return which pages are shown if the rows *skipped* are not fetched.

        There is a byte for each page, and behind these one for each row of the forms that is
        fetched.
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
        """Return the page of a form, or a number of its own if its page is not known."""
        pages = self._forms.pages_at(row)
        return pages if isinstance(pages, int) and pages != NO_EVIDENCE else self._pages + row
